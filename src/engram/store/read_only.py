"""A SQLite file opened for reading only, also where nothing can be created beside it.

A database with a write-ahead log has a `-shm` beside it while anybody is connected, and readers share it. Where it is
missing nobody is there: then the log is read without making one, or the file alone if there is no log.
"""

from __future__ import annotations

import os

import apsw

_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
_UNLOCKED = "win32-none" if os.name == "nt" else "unix-none"


def connect(path: str) -> apsw.Connection:
    """Open a database that keeps a write-ahead log, without a change to it or to what lies beside it."""
    if os.path.exists(path + "-shm"):
        return connect_shared(path)
    log = path + "-wal"
    return _connect_alone(path) if os.path.exists(log) and os.path.getsize(log) else connect_unshared(path)


def connect_shared(path: str) -> apsw.Connection:
    """Open a database as one reader among other processes."""
    return _connect(path, "mode=ro")


def connect_unshared(path: str) -> apsw.Connection:
    """Open a database that nobody writes to; its log, if there is one, is not read."""
    return _connect(path, "mode=ro&immutable=1")


def _connect_alone(path: str) -> apsw.Connection:
    """Open a database with a log that nobody else reads: its index then lies in our memory."""
    db = _connect(path, f"mode=ro&vfs={_UNLOCKED}")
    db.pragma("locking_mode", "exclusive")
    return db


def _connect(path: str, how: str) -> apsw.Connection:
    db = apsw.Connection(f"{_address(path)}?{how}", flags=_FLAGS)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return db


def _address(path: str) -> str:
    """Return a file as a URI that SQLite reads; by hand, for a hook must not load a module for it."""
    given = os.fsencode(os.path.abspath(path).replace(os.sep, "/"))
    full = "".join(f"%{byte:02X}" if byte > 126 or byte < 33 or byte in b"%?#" else chr(byte) for byte in given)
    return f"file://{full if full.startswith('/') else '/' + full}"
