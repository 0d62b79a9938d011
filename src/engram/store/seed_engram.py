"""The database of an older Engram, read and never written.

Its Python and its Elixir version shared one SQLite file, and either may still be writing to it.
"""

from __future__ import annotations

import os

import apsw

from engram.errors import ImportRefused
from engram.store import read_only
from engram.store.foreign import open_unchanged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Any, Self

    from engram.store.engine import Row

# Columns every older version had, then those we can do without.
_TABLES = {
    "sessions": (
        ("id", "session_type", "summary", "status", "started_at", "last_heartbeat"),
        ("completed_at", "completion_summary", "metadata"),
    ),
    "session_logs": (("id", "session_id", "timestamp", "entry"), ()),
    "resource_locks": (("resource", "session_id", "locked_at"), ("note",)),
    "world_state": (("content", "updated_at"), ("updated_by",)),
}


class Seed:
    """An older database as it is at one moment, whatever others write to it meanwhile."""

    def __init__(self, path: str, busy_seconds: float = 10) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        try:
            self._db = self._open()
            self._encoding = self._db.pragma("encoding")
            self._columns = {table: self._columns_of(table) for table in _TABLES if table in self._tables()}
        except (apsw.Error, OSError) as problem:
            raise self._explain(problem) from problem
        self._refuse_others()

    def sessions(self) -> Iterator[Row]:
        """Yield the sessions."""
        return self._rows("sessions")

    def logs(self) -> Iterator[Row]:
        """Yield the log entries in the order they were written."""
        return self._rows("session_logs", order="id")

    def log_times(self) -> Iterator[Row]:
        """Yield only whose the log entries are and when they were written."""
        return self._rows("session_logs", only=("session_id", "timestamp"))

    def locks(self) -> Iterator[Row]:
        """Yield the locks."""
        return self._rows("resource_locks")

    def world_states(self) -> Iterator[Row]:
        """Yield the world state, if there is one."""
        return self._rows("world_state")

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> apsw.Connection:
        try:
            return open_unchanged(self.path, self._busy_seconds)
        except (apsw.ReadOnlyError, apsw.CantOpenError):
            # Without a write-ahead log, a file in a directory closed to us can still be read as it is.
            if self._has_log():
                raise
            return read_only.connect_unshared(self.path)

    def _has_log(self) -> bool:
        """Tell whether changes lie beside the file that a look at it alone would miss."""
        beside = (self.path + "-wal", self.path + "-journal")
        return any(os.path.exists(log) and os.path.getsize(log) > 0 for log in beside)

    def _tables(self) -> set[str]:
        return {name for (name,) in self._db.execute("select name from sqlite_master where type = 'table'")}

    def _columns_of(self, table: str) -> set[str]:
        return {row[1] for row in self._db.execute(f"pragma table_info({table})")}

    def _refuse_others(self) -> None:
        if "schema_migrations" in self._tables():
            self._refuse("it is a store of this Engram already; open it with ENGRAM_STORE instead.")
        if not self._columns:
            missing = ", ".join(_TABLES)
            self._refuse(f"it has none of the tables {missing}. If it is a copy, its -wal file must lie beside it.")
        for table, found in self._columns.items():
            missing = ", ".join(name for name in _TABLES[table][0] if name not in found)
            if missing:
                self._refuse(f"its table {table} lacks {missing}, so no older Engram wrote it.")

    def _rows(self, table: str, only: tuple[str, ...] = (), order: str = "") -> Iterator[Row]:
        if table not in self._columns:
            return
        needed, optional = _TABLES[table]
        names = only or needed + optional
        sql = f"select {', '.join(self._expression(table, name) for name in names)} from {table}"
        try:
            for found in self._db.execute(f"{sql} order by {order}" if order else sql):
                yield {name: self._decoded(found[2 * n], found[2 * n + 1]) for n, name in enumerate(names)}
        except apsw.Error as problem:
            raise self._explain(problem) from problem

    def _expression(self, table: str, name: str) -> str:
        """Ask for a value and its type; text comes as bytes, because Elixir stored whatever bytes it was given."""
        if name not in self._columns[table]:
            return "'null', null"
        return f"typeof({name}), case typeof({name}) when 'text' then cast({name} as blob) else {name} end"

    def _decoded(self, kind: str, found: Any) -> Any:
        if kind != "text":
            return found
        try:
            return found.decode(self._encoding)
        except UnicodeDecodeError:
            return found

    def _refuse(self, reason: str) -> None:
        raise ImportRefused(path=self.path, reason=reason)

    def _explain(self, problem: Exception) -> ImportRefused:
        if isinstance(problem, apsw.NotADBError):
            reason = "it is not a SQLite database."
        elif isinstance(problem, apsw.CorruptError):
            reason = f"it is damaged ({problem}). Rescue a copy with `sqlite3 engram.db .recover` and import that."
        elif isinstance(problem, (apsw.BusyError, apsw.LockedError)):
            reason = f"others kept it busy for {self._busy_seconds} s. Try again."
        elif isinstance(problem, (apsw.ReadOnlyError, apsw.CantOpenError)) and self._has_log():
            reason = (
                "its newest changes lie in its -wal or -journal, which needs a directory we can write to. Copy both."
            )
        else:
            reason = f"it cannot be read ({problem}). Check its permissions."
        return ImportRefused(path=self.path, reason=reason)
