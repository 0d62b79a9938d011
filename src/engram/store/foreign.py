"""Another program's SQLite file, read as it is at one moment and never written.

The other program may be at work in it. A database with a write-ahead log has a `-shm` beside it while anybody is
connected, and readers share it. Where it is missing nobody is there: then we read the log without making one, even in
a directory that is closed to us. Nothing is ever checkpointed.
"""

from __future__ import annotations

import os
import time

import apsw

from engram.errors import Error, StoreBusy, StoreDamaged, StoreUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Any, Self

MAGIC = b"SQLite format 3\0"
BUSY_SECONDS = 5

_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
UNLOCKED = "win32-none" if os.name == "nt" else "unix-none"
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
    if os.path.exists(path + "-shm") or not _keeps_log(path):
        return _connect(path, busy_seconds, "mode=ro")
    log = path + "-wal"
    if os.path.exists(log) and os.path.getsize(log):
        return _connect(path, busy_seconds, f"mode=ro&vfs={UNLOCKED}", alone=True)
    return _connect(path, busy_seconds, "mode=ro&immutable=1")


def _keeps_log(path: str) -> bool:
    with open(path, "rb") as file:
        head = file.read(20)
    if not head:
        return False  # to SQLite an empty file is a database without tables
    if not head.startswith(MAGIC) or len(head) < 20:
        raise apsw.NotADBError("it does not start as one")
    return head[19] == _KEEPS_LOG


def _connect(path: str, busy_seconds: float, how: str, alone: bool = False) -> apsw.Connection:
    db = apsw.Connection(f"{address(path)}?{how}", flags=_FLAGS)
    db.set_busy_timeout(int(busy_seconds * 1000))
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    if alone:  # the index of the log then lies in our memory instead of beside the file
        db.pragma("locking_mode", "exclusive")
    # The first look inside the transaction is what fixes the moment.
    db.execute("pragma trusted_schema = off; begin; select * from sqlite_master limit 1").fetchall()
    return db


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


def address(path: str) -> str:
    """Return a file as a URI that SQLite reads; by hand, for a hook must not load a module for it."""
    given = os.fsencode(os.path.abspath(path).replace(os.sep, "/"))
    full = "".join(f"%{byte:02X}" if byte > 126 or byte < 33 or byte in b"%?#" else chr(byte) for byte in given)
    return f"file://{full if full.startswith('/') else '/' + full}"
