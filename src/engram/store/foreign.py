"""Another program's SQLite file, read as it is at one moment and never written.

The other program may be at work in it. Nothing is ever checkpointed.
"""

from __future__ import annotations

import os
import time

import apsw

from engram.errors import Error, StoreBusy, StoreDamaged, StoreUnavailable
from engram.store import read_only

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Any, Self

MAGIC = b"SQLite format 3\0"
BUSY_SECONDS = 5

_SETTLED = 2  # seconds after which a file's time of change tells one change from the next
_KEEPS_LOG = 2  # what a database with a write-ahead log says where its format's version stands


class Foreign:
    """Somebody else's database, open for reading."""

    def __init__(self, path: str, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        try:
            self._db = open_unchanged(path, busy_seconds)
        except (apsw.Error, OSError) as problem:
            raise self._explained(problem) from problem

    def rows(self, sql: str, *params: Any) -> list[dict[str, Any]]:
        """Return what a query finds, each row by the names of its columns."""
        return list(self.each(sql, *params))

    def each(self, sql: str, *params: Any) -> Iterator[dict[str, Any]]:
        """Yield what a query finds, row by row."""
        try:
            cursor = self._db.execute(sql, params)
            for row in cursor:
                yield _by_name(cursor, row)
        except (apsw.Error, UnicodeDecodeError) as problem:
            raise self._explained(problem) from problem

    def tables(self) -> set[str]:
        """Return the names of the tables."""
        return {row["name"] for row in self.rows("select name from sqlite_master where type = 'table'")}

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _explained(self, problem: Exception) -> Error:
        if isinstance(problem, apsw.BusyError | apsw.LockedError):
            return StoreBusy(store=self.path, seconds=self._busy_seconds)
        if isinstance(problem, apsw.CantOpenError | apsw.ReadOnlyError | apsw.PermissionsError | OSError):
            hint = "Check its permissions, and those of the -wal or -journal beside it."
            return StoreUnavailable(store=self.path, reason=f"it cannot be opened ({problem}).", hint=hint)
        return StoreDamaged(store=self.path, reason=f"{problem}.")


def open_unchanged(path: str, busy_seconds: float) -> apsw.Connection:
    """Open a database at one moment, without a change to it or to what lies beside it."""
    db = read_only.connect(path) if _keeps_log(path) else read_only.connect_shared(path)
    db.set_busy_timeout(int(busy_seconds * 1000))
    # The first look inside the transaction is what fixes the moment.
    db.execute("pragma trusted_schema = off; begin; select * from sqlite_master limit 1").fetchall()
    return db


def _keeps_log(path: str) -> bool:
    with open(path, "rb") as file:
        head = file.read(20)
    if not head:
        return False  # to SQLite an empty file is a database without tables
    if not head.startswith(MAGIC) or len(head) < 20:
        raise apsw.NotADBError("it does not start as one")
    return head[19] == _KEEPS_LOG


def rows(path: str, sql: str, *params: Any) -> list[dict[str, Any]]:
    """Return what a query finds in another program's database."""
    with Foreign(path) as foreign:
        return foreign.rows(sql, *params)


def tables(path: str) -> set[str]:
    """Return the names of the tables in another program's database; none if it cannot be read."""
    try:
        with Foreign(path) as foreign:
            return foreign.tables()
    except Error:
        return set()


def stamped(path: str) -> list[int] | None:
    """Return what tells this state of a database from any other, unless it changed a moment ago."""
    found: list[int] = []
    for each in (path, path + "-wal"):
        try:
            stat = os.stat(each)
        except OSError:
            found += [0, 0]
            continue
        if abs(time.time() - stat.st_mtime) < _SETTLED:
            return None
        found += [stat.st_size, stat.st_mtime_ns]
    return found


def _by_name(cursor: apsw.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return {column[0]: each for column, each in zip(cursor.get_description(), row, strict=True)}
