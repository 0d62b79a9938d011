"""SQLite through apsw: the engine for one machine.

The live database file is never opened, copied or locked by any means but this library: POSIX drops
all locks of a process on a file when any descriptor on it is closed, and acknowledged commits vanish.
"""

from __future__ import annotations

import os
import time

import apsw

from engram.errors import (
    InvalidInput,
    NetworkFilesystem,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from engram.store import filesystem, read_only
from engram.store.connections import ThreadConnections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Any

    from engram.store.engine import Row

# Before these versions, a commit during a second checkpoint can corrupt a WAL database.
_SAFE_VERSIONS = ((3, 51, 3), (3, 50, 7), (3, 44, 6))


class SqliteEngine:
    """One SQLite file, one connection per thread and process."""

    dialect = "sqlite"

    def __init__(self, path: str, *, busy_seconds: float = 10, allow_network: bool = False) -> None:
        self.store = path
        self._connections = ThreadConnections(lambda: _SqliteConnection(path, busy_seconds))
        _refuse_unsafe_library(path)
        _prepare_directory(path, allow_network)
        self.read_only = self._get_connection().read_only

    def run(self, sql: str, **params: Any) -> list[Row]:
        """Run one statement and return its rows."""
        return self._get_connection().run(sql, params)

    def run_many(self, sql: str, rows: Sequence[Row]) -> None:
        """Run one statement for each row of parameters."""
        self._get_connection().run_many(sql, rows)

    def script(self, sql: str) -> None:
        """Run several statements without parameters."""
        self._get_connection().run(sql, {})

    def transaction(self, *, durable: bool = False, wait: bool = True) -> _SqliteTransaction:
        """Run a block in one transaction; with `durable`, it survives a power cut once committed."""
        return _SqliteTransaction(self._get_connection(), durable, wait)

    def copy_to(self, path: str) -> None:
        """Write a consistent copy of the store to a new file, also during this thread's write transaction."""
        try:
            _copy_database(self.store, path)
        except (apsw.Error, OSError) as problem:
            raise self._get_connection().translate_error(problem) from problem

    def close(self) -> None:
        """Close every connection."""
        self._connections.close()

    def _get_connection(self) -> _SqliteConnection:
        connection: _SqliteConnection = self._connections.get()
        return connection


def _copy_database(store: str, path: str) -> None:
    # A separate connection: SQLite refuses to copy through one that is writing.
    source, target = apsw.Connection(store, flags=apsw.SQLITE_OPEN_READONLY), apsw.Connection(path)
    try:
        os.chmod(path, 0o600)
        with target.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(1000)
    finally:
        target.close()
        source.close()


class _SqliteConnection:
    """An apsw connection with our pragmas, busy handling and errors."""

    closed = False
    patient = True
    read_only = False

    def __init__(self, path: str, busy_seconds: float) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._waiting_since = 0.0
        self._durable: bool | None = None
        try:
            self.db = self._open_database()
        except (apsw.Error, OSError) as problem:
            raise self.translate_error(problem) from problem

    def run(self, sql: str, params: dict[str, Any]) -> list[Row]:
        try:
            cursor = self.db.execute(sql, params)
            first = cursor.fetchone()
            if first is None:
                return []
            names = [column[0] for column in cursor.get_description()]
            return [dict(zip(names, row, strict=True)) for row in (first, *cursor)]
        except apsw.Error as problem:
            raise self.translate_error(problem) from problem
        except OverflowError as problem:
            raise InvalidInput(field="number", reason="Too large to store.") from problem

    def run_many(self, sql: str, rows: Sequence[Row]) -> None:
        try:
            self.db.executemany(sql, rows)
        except apsw.Error as problem:
            raise self.translate_error(problem) from problem
        except OverflowError as problem:
            raise InvalidInput(field="number", reason="Too large to store.") from problem

    def close(self) -> None:
        try:
            self.db.close()
        except apsw.ThreadingViolationError:
            pass  # its thread is running a statement and closes it later

    def _open_database(self) -> apsw.Connection:
        db = self._open_for_writing()
        if db is None:
            db, self.read_only = read_only.connect(self.path), True
            db.set_busy_handler(self._wait_if_busy)
        db.execute("pragma foreign_keys = on; pragma trusted_schema = off; pragma secure_delete = on")
        return db

    def _open_for_writing(self) -> apsw.Connection | None:
        """Open the store, or return None if it exists but is not writable, as in an agent's sandbox."""
        is_new = not os.path.exists(self.path)
        try:
            db = apsw.Connection(self.path)
            db.set_busy_handler(self._wait_if_busy)
            if is_new:
                os.chmod(self.path, 0o600)
            if db.readonly("main"):
                return None
            if db.pragma("journal_mode") != "wal":
                self._retry_while_busy(lambda: db.pragma("journal_mode", "wal"))
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            if is_new or _is_full(self.path) or not os.access(self.path, os.R_OK):
                raise
            return None
        db.execute("pragma wal_autocheckpoint = 4000")  # pages: an ingest uses the same ones repeatedly
        return db

    def _retry_while_busy(self, action: Any) -> None:
        """Retry a step that SQLite refuses immediately instead of calling the busy handler."""
        tries = 0
        while True:
            try:
                action()
                return
            except apsw.BusyError:
                if not self._wait_if_busy(tries):
                    raise
                tries += 1

    def _wait_if_busy(self, tries: int) -> bool:
        """Sleep a jittered time before the next try, until the time limit.

        Long sleeps beat short ones here: measured with eight writers on two cores, polling slowed the lock holder
        more than it helped the waiter.
        """
        now = time.monotonic()
        if tries == 0:
            self._waiting_since = now
        if not self.patient or now - self._waiting_since > self._busy_seconds:
            return False
        longest_pause = min(0.03, 0.003 * (tries + 1))
        time.sleep(0.0002 + longest_pause * os.urandom(1)[0] / 255)
        return True

    def set_durability(self, durable: bool) -> None:
        if durable != self._durable:
            self.db.execute(f"pragma synchronous = {'full' if durable else 'normal'}")
            self._durable = durable

    def translate_error(self, problem: Exception) -> Exception:
        if isinstance(problem, (apsw.BusyError, apsw.LockedError)):
            return StoreBusy(store=self.path, seconds=self._busy_seconds)
        if isinstance(problem, apsw.FullError) or (isinstance(problem, _MAYBE_FULL) and _is_full(self.path)):
            return StoreFull(store=self.path)
        if isinstance(problem, (apsw.CorruptError, apsw.NotADBError)):
            return StoreDamaged(store=self.path, reason=f"{problem}.")
        if isinstance(problem, apsw.ReadOnlyError):
            return StoreReadOnly(store=self.path, home=os.path.dirname(self.path))
        if isinstance(problem, (apsw.CantOpenError, apsw.IOError, OSError)):
            return StoreUnavailable(store=self.path, reason=f"{problem}.", hint=_HINT)
        return problem


_MAYBE_FULL = (apsw.IOError, apsw.CantOpenError)  # SQLite's error if a file beside the store finds no space


def _is_full(path: str) -> bool:
    """Return whether the disk of a store is full."""
    try:
        stats = os.statvfs(os.path.dirname(path))
    except (OSError, AttributeError):
        return False
    return stats.f_bavail * stats.f_frsize < 64 << 10


_HINT = "Check its permissions and disk, or set ENGRAM_HOME to a directory you can write to."


class _SqliteTransaction:
    """A write transaction; a nested block joins the outer one."""

    def __init__(self, connection: _SqliteConnection, durable: bool, wait: bool) -> None:
        self._connection = connection
        self._durable, self._wait = durable, wait
        self._joined = connection.db.in_transaction

    def __enter__(self) -> None:
        if self._joined:
            return
        self._connection.set_durability(self._durable)
        self._connection.patient = self._wait
        try:
            self._connection.run("begin immediate", {})
        finally:
            self._connection.patient = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._joined:
            return
        if kind is None:
            try:
                self._connection.run("commit", {})
                return
            except BaseException:
                self._roll_back()
                raise
        self._roll_back()

    def _roll_back(self) -> None:
        if self._connection.db.in_transaction:  # a full disk may have rolled back already
            self._connection.db.execute("rollback")


def _refuse_unsafe_library(path: str) -> None:
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    is_safe = version >= _SAFE_VERSIONS[0] or any(
        minimum[:2] == version[:2] and version >= minimum for minimum in _SAFE_VERSIONS[1:]
    )
    if not is_safe:
        raise StoreUnavailable(
            store=path,
            reason=f"SQLite {apsw.sqlite_lib_version()} can corrupt a database that several processes write.",
            hint="Upgrade the package apsw.",
        )


def _prepare_directory(path: str, allow_network: bool) -> None:
    directory = os.path.dirname(path)
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
    except OSError as problem:
        raise StoreUnavailable(store=path, reason=f"{problem}.", hint=_HINT) from problem
    kind = filesystem.find_network_filesystem(directory)
    if kind and not allow_network:
        raise NetworkFilesystem(path=directory, filesystem=kind)
