"""The database of an older Engram, read and never written.

Its Python and its Elixir version shared one SQLite file, and either may still be writing to it.
"""

from __future__ import annotations

import os

import apsw

from engram.errors import ImportRefused
from engram.store import read_only
from engram.store.foreign_database import open_snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Any, Self

    from engram.store.engine import Row

# Columns every older version had, then optional ones.
_TABLES = {
    "sessions": (
        ("id", "session_type", "summary", "status", "started_at", "last_heartbeat"),
        ("completed_at", "completion_summary", "metadata"),
    ),
    "session_logs": (("id", "session_id", "timestamp", "entry"), ()),
    "resource_locks": (("resource", "session_id", "locked_at"), ("note",)),
    "world_state": (("content", "updated_at"), ("updated_by",)),
}


class OlderEngramDatabase:
    """A snapshot of an older database."""

    def __init__(self, path: str, busy_seconds: float = 10) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        try:
            self._db = self._open_database()
            self._encoding = self._db.pragma("encoding")
            self._columns = {table: self._list_columns(table) for table in _TABLES if table in self._list_tables()}
        except (apsw.Error, OSError) as problem:
            raise self._translate_error(problem) from problem
        self._refuse_other_databases()

    def read_sessions(self) -> Iterator[Row]:
        """Yield the sessions."""
        return self._read_rows("sessions")

    def read_logs(self) -> Iterator[Row]:
        """Yield the log entries in the order they were written."""
        return self._read_rows("session_logs", order="id")

    def read_log_times(self) -> Iterator[Row]:
        """Yield only the session and time of log entries."""
        return self._read_rows("session_logs", only=("session_id", "timestamp"))

    def read_locks(self) -> Iterator[Row]:
        """Yield the locks."""
        return self._read_rows("resource_locks")

    def read_world_states(self) -> Iterator[Row]:
        """Yield the world state, if there is one."""
        return self._read_rows("world_state")

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open_database(self) -> apsw.Connection:
        try:
            return open_snapshot(self.path, self._busy_seconds)
        except (apsw.ReadOnlyError, apsw.CantOpenError):
            # Without a write-ahead log, a file in an unwritable directory can still be read.
            if self._has_pending_changes():
                raise
            return read_only.connect_unshared(self.path)

    def _has_pending_changes(self) -> bool:
        """Return whether files beside the database contain changes it does not have yet."""
        paths = (self.path + "-wal", self.path + "-journal")
        return any(os.path.exists(log_path) and os.path.getsize(log_path) > 0 for log_path in paths)

    def _list_tables(self) -> set[str]:
        return {name for (name,) in self._db.execute("select name from sqlite_master where type = 'table'")}

    def _list_columns(self, table: str) -> set[str]:
        return {row[1] for row in self._db.execute(f"pragma table_info({table})")}

    def _refuse_other_databases(self) -> None:
        if "schema_migrations" in self._list_tables():
            self._raise_refusal("it is a store of this Engram already; open it with ENGRAM_STORE instead.")
        if not self._columns:
            missing = ", ".join(_TABLES)
            self._raise_refusal(
                f"it has none of the tables {missing}. If it is a copy, its -wal file must be beside it."
            )
        for table, columns in self._columns.items():
            missing = ", ".join(name for name in _TABLES[table][0] if name not in columns)
            if missing:
                self._raise_refusal(f"its table {table} lacks {missing}, so no older Engram wrote it.")

    def _read_rows(self, table: str, only: tuple[str, ...] = (), order: str = "") -> Iterator[Row]:
        if table not in self._columns:
            return
        needed, optional = _TABLES[table]
        names = only or needed + optional
        sql = f"select {', '.join(self._build_column_sql(table, name) for name in names)} from {table}"
        try:
            for values in self._db.execute(f"{sql} order by {order}" if order else sql):
                yield {name: self._decode_value(values[2 * n], values[2 * n + 1]) for n, name in enumerate(names)}
        except apsw.Error as problem:
            raise self._translate_error(problem) from problem

    def _build_column_sql(self, table: str, name: str) -> str:
        """Select a value and its type; text is read as bytes, because Elixir stored arbitrary bytes."""
        if name not in self._columns[table]:
            return "'null', null"
        return f"typeof({name}), case typeof({name}) when 'text' then cast({name} as blob) else {name} end"

    def _decode_value(self, kind: str, content: Any) -> Any:
        if kind != "text":
            return content
        try:
            return content.decode(self._encoding)
        except UnicodeDecodeError:
            return content

    def _raise_refusal(self, reason: str) -> None:
        raise ImportRefused(path=self.path, reason=reason)

    def _translate_error(self, problem: Exception) -> ImportRefused:
        if isinstance(problem, apsw.NotADBError):
            reason = "it is not a SQLite database."
        elif isinstance(problem, apsw.CorruptError):
            reason = f"it is damaged ({problem}). Rescue a copy with `sqlite3 engram.db .recover` and import that."
        elif isinstance(problem, (apsw.BusyError, apsw.LockedError)):
            reason = f"other programs kept it busy for {self._busy_seconds} s. Try again."
        elif isinstance(problem, (apsw.ReadOnlyError, apsw.CantOpenError)) and self._has_pending_changes():
            reason = "its newest changes are in its -wal or -journal file, which needs a writable directory. Copy both."
        else:
            reason = f"it cannot be read ({problem}). Check its permissions."
        return ImportRefused(path=self.path, reason=reason)
