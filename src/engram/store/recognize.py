"""Whose database a file is, told before it is opened as a store, and without leaving a trace beside it.

The file is read through SQLite only: were it a store that this process has open, closing a descriptor of our own
would drop its locks.
"""

from __future__ import annotations

import os

import apsw

from engram.errors import NotAStore
from engram.store import read_only

_OURS = "schema_migrations"
_INTERNAL = "sqlite_"
_NO_DATABASE = "If it was your store, restore a copy of it; else point ENGRAM_HOME or ENGRAM_STORE at another place."

# What a file is, the command that takes it over, and the tables that tell: each of the first, one of the second.
_KNOWN = (
    ("a database of the older Engram", "engram", {"sessions"}, {"session_logs", "resource_locks", "world_state"}),
    ("a database of Lyra", "lyra", {"exchanges"}, {"sessions", "summaries", "eras", "self_state"}),
    ("a store of Helix Forge's session_memory", "session-memory", {"sessions"}, {"digests", "patterns"}),
    ("a store of Helix Forge's session_memory", "session-memory", {"session"}, {"digest", "pattern"}),
)


def refuse_other_files(path: str) -> None:
    """Raise `NotAStore` if a file is there that is no store of this Engram."""
    if not os.path.isfile(path) or not os.path.getsize(path):
        return
    try:
        tables = _tables(path)
    except apsw.NotADBError:
        raise NotAStore(path=path, what="is not a SQLite database", hint=_NO_DATABASE) from None
    except apsw.Error:
        return  # damaged, locked or closed to us: opening it says so
    if tables and _OURS not in tables:
        what, command = _identify(tables)
        _refuse(path, f"is {what}, not a store of this Engram", command)


def _identify(tables: set[str]) -> tuple[str, str]:
    for what, command, all_of, one_of in _KNOWN:
        if all_of <= tables and one_of & tables:
            return what, command
    return "a SQLite database of another program", ""


def _refuse(path: str, what: str, command: str) -> None:
    from shlex import quote

    advice = f", then run `engram import {command} {quote(path)}`." if command else "."
    raise NotAStore(path=path, what=what, hint=f"Point ENGRAM_HOME or ENGRAM_STORE at another place{advice}")


def _tables(path: str) -> set[str]:
    """Return the names of the tables, also of those that only the write-ahead log holds yet."""
    found = _look(read_only.connect_unshared(path))
    log = path + "-wal"
    in_log = not found and os.path.exists(log) and os.path.getsize(log)
    return _look(read_only.connect(path)) if in_log else found


def _look(db: apsw.Connection) -> set[str]:
    try:
        names = db.execute("select name from sqlite_master where type = 'table'").fetchall()
        return {str(name) for (name,) in names if not str(name).startswith(_INTERNAL)}
    finally:
        db.close()
