"""Open a SQLite file for reading only, even where no file can be created beside it.

A WAL database has a `-shm` file beside it while anyone is connected, and readers share it. If it is
missing, no one is connected: then the log is read without creating one, or only the file if there is no log.
"""

from __future__ import annotations

import os

import apsw

_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
_UNLOCKED_VFS = "win32-none" if os.name == "nt" else "unix-none"


def connect(path: str) -> apsw.Connection:
    """Open a WAL database without changing it or any file beside it."""
    if os.path.exists(path + "-shm"):
        return connect_shared(path)
    log = path + "-wal"
    return _connect_alone(path) if os.path.exists(log) and os.path.getsize(log) else connect_unshared(path)


def connect_shared(path: str) -> apsw.Connection:
    """Open a database as one reader among other processes."""
    return _open_connection(path, "mode=ro")


def connect_unshared(path: str) -> apsw.Connection:
    """Open a database that no one writes to; its log, if any, is not read."""
    return _open_connection(path, "mode=ro&immutable=1")


def _connect_alone(path: str) -> apsw.Connection:
    """Open a WAL database that no one else uses, with the log's index in our memory."""
    db = _open_connection(path, f"mode=ro&vfs={_UNLOCKED_VFS}")
    db.pragma("locking_mode", "exclusive")
    return db


def _open_connection(path: str, how: str) -> apsw.Connection:
    db = apsw.Connection(f"{_to_uri(path)}?{how}", flags=_FLAGS)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return db


def _to_uri(path: str) -> str:
    """Return a path as a SQLite URI; built by hand, because a hook must not load a module for it."""
    encoded = os.fsencode(os.path.abspath(path).replace(os.sep, "/"))
    escaped = "".join(f"%{byte:02X}" if byte > 126 or byte < 33 or byte in b"%?#" else chr(byte) for byte in encoded)
    return f"file://{escaped if escaped.startswith('/') else '/' + escaped}"
