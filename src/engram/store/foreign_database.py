"""Another program's SQLite file, read as a snapshot and never written.

The other program may be using it. Nothing is ever checkpointed.
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

_SETTLED_SECONDS = 2  # file times can only tell changes apart that are at least this many seconds old
_WAL_VERSION = 2  # the version bytes in the header of a WAL database


class ForeignDatabase:
    """Another program's database, open for reading."""

    def __init__(self, path: str, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        try:
            self._db = open_snapshot(path, busy_seconds)
        except (apsw.Error, OSError) as problem:
            raise self._translate_error(problem) from problem

    def fetch_rows(self, sql: str, *params: Any) -> list[dict[str, Any]]:
        """Return the rows of a query as dicts."""
        return list(self.iterate_rows(sql, *params))

    def iterate_rows(self, sql: str, *params: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of a query as dicts."""
        try:
            cursor = self._db.execute(sql, params)
            for row in cursor:
                yield _row_to_dict(cursor, row)
        except (apsw.Error, UnicodeDecodeError) as problem:
            raise self._translate_error(problem) from problem

    def list_tables(self) -> set[str]:
        """Return the names of the tables."""
        return {row["name"] for row in self.fetch_rows("select name from sqlite_master where type = 'table'")}

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _translate_error(self, problem: Exception) -> Error:
        if isinstance(problem, apsw.BusyError | apsw.LockedError):
            return StoreBusy(store=self.path, seconds=self._busy_seconds)
        if isinstance(problem, apsw.CantOpenError | apsw.ReadOnlyError | apsw.PermissionsError | OSError):
            hint = "Check its permissions, and those of the -wal or -journal beside it."
            return StoreUnavailable(store=self.path, reason=f"it cannot be opened ({problem}).", hint=hint)
        return StoreDamaged(store=self.path, reason=f"{problem}.")


def open_snapshot(path: str, busy_seconds: float) -> apsw.Connection:
    """Open a database as a snapshot, without changing it or any file beside it."""
    db = read_only.connect(path) if _uses_wal(path) else read_only.connect_shared(path)
    db.set_busy_timeout(int(busy_seconds * 1000))
    # The first read inside the transaction fixes the snapshot.
    db.execute("pragma trusted_schema = off; begin; select * from sqlite_master limit 1").fetchall()
    return db


def _uses_wal(path: str) -> bool:
    with open(path, "rb") as file:
        head = file.read(20)
    if not head:
        return False  # SQLite accepts an empty file as a database without tables
    if not head.startswith(MAGIC) or len(head) < 20:
        raise apsw.NotADBError("it does not start as one")
    return head[19] == _WAL_VERSION


def fetch_rows(path: str, sql: str, *params: Any) -> list[dict[str, Any]]:
    """Return the rows of a query on another program's database."""
    with ForeignDatabase(path) as foreign:
        return foreign.fetch_rows(sql, *params)


def list_tables(path: str) -> set[str]:
    """Return the names of the tables in another program's database, or none if it cannot be read."""
    try:
        with ForeignDatabase(path) as foreign:
            return foreign.list_tables()
    except Error:
        return set()


def read_stamp(path: str) -> list[int] | None:
    """Return sizes and times that identify this state of a database, or None if it just changed."""
    stamp: list[int] = []
    for file_path in (path, path + "-wal"):
        try:
            stat = os.stat(file_path)
        except OSError:
            stamp += [0, 0]
            continue
        if abs(time.time() - stat.st_mtime) < _SETTLED_SECONDS:
            return None
        stamp += [stat.st_size, stat.st_mtime_ns]
    return stamp


def _row_to_dict(cursor: apsw.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return {column[0]: value for column, value in zip(cursor.get_description(), row, strict=True)}
