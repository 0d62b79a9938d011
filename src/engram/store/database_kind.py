"""Identify whose database a file is before it is opened as a store, without leaving files beside it.

The file is read through SQLite only: if this process has it open as a store, closing another descriptor
would drop its locks.
"""

from __future__ import annotations

import os

import apsw

from engram.errors import NotAStore
from engram.store import read_only

_OUR_TABLE = "schema_migrations"
_INTERNAL = "sqlite_"
_NO_DATABASE = "If it was your store, restore it from a copy; otherwise point ENGRAM_HOME or ENGRAM_STORE elsewhere."

# Description, import command, tables that must all exist, and tables of which one must exist.
_KNOWN_PROGRAMS = (
    ("a database of the older Engram", "engram", {"sessions"}, {"session_logs", "resource_locks", "world_state"}),
    ("a database of Lyra", "lyra", {"exchanges"}, {"sessions", "summaries", "eras", "self_state"}),
    ("a store of Helix Forge's session_memory", "session-memory", {"sessions"}, {"digests", "patterns"}),
    ("a store of Helix Forge's session_memory", "session-memory", {"session"}, {"digest", "pattern"}),
)


def refuse_other_files(path: str) -> None:
    """Raise `NotAStore` if the file exists and is not a store of this Engram."""
    if not os.path.isfile(path) or not os.path.getsize(path):
        return
    try:
        tables = _list_tables(path)
    except apsw.NotADBError:
        raise NotAStore(path=path, what="is not a SQLite database", hint=_NO_DATABASE) from None
    except apsw.Error:
        return  # damaged, locked or unreadable: opening it reports the problem
    if tables and _OUR_TABLE not in tables:
        what, command = _identify_program(tables)
        _raise_not_a_store(path, f"is {what}, not a store of this Engram", command)


def _identify_program(tables: set[str]) -> tuple[str, str]:
    for what, command, all_of, one_of in _KNOWN_PROGRAMS:
        if all_of <= tables and one_of & tables:
            return what, command
    return "a SQLite database of another program", ""


def _raise_not_a_store(path: str, what: str, command: str) -> None:
    from shlex import quote

    advice = f", then run `engram import {command} {quote(path)}`." if command else "."
    raise NotAStore(path=path, what=what, hint=f"Point ENGRAM_HOME or ENGRAM_STORE elsewhere{advice}")


def _list_tables(path: str) -> set[str]:
    """Return the names of the tables, including those still only in the write-ahead log."""
    names = _read_table_names(read_only.connect_unshared(path))
    wal_path = path + "-wal"
    is_in_wal = not names and os.path.exists(wal_path) and os.path.getsize(wal_path)
    return _read_table_names(read_only.connect(path)) if is_in_wal else names


def _read_table_names(db: apsw.Connection) -> set[str]:
    try:
        rows = db.execute("select name from sqlite_master where type = 'table'").fetchall()
        return {str(name) for (name,) in rows if not str(name).startswith(_INTERNAL)}
    finally:
        db.close()
