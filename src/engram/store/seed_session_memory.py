"""The store of Helix Forge's session_memory, read and never written.

Its exact columns are not promised anywhere, so each fact is looked for under the names it may have, in a column or
inside a column of JSON.
"""

from __future__ import annotations

import os

from engram.errors import ImportRefused
from engram.store.foreign import BUSY_SECONDS, MAGIC, Foreign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Self

    from engram.store.engine import Row

_TABLES = {"sessions": ("sessions", "session"), "digests": ("digests", "digest"), "patterns": ("patterns", "pattern")}
_NAMES = {
    "id": ("session_uid", "session_id", "uid", "id", "native_id"),
    "flavor": ("flavor", "agent", "source", "tool"),
    "project": ("repo", "project", "repo_path", "cwd", "workspace"),
    "cwd": ("cwd", "workdir", "repo_path", "repo"),
    "started": ("started_at", "start_time", "started", "created_at", "first_ts", "timestamp"),
    "ended": ("ended_at", "end_time", "last_at", "updated_at", "last_ts", "started_at", "created_at"),
    "outcome": ("outcome", "status", "result"),
    "confidence": ("outcome_confidence", "confidence"),
    "goal": ("goal", "task", "intent", "first_prompt", "title", "summary"),
    "summary": ("summary", "title", "goal", "task"),
    "kind": ("kind", "type", "category", "polarity", "signal"),
    "title": ("title", "name", "description", "label", "signature", "key", "pattern"),
    "fix": ("fix", "remedy", "resolution", "recommendation"),
    "sessions": ("sessions", "session_ids", "session_uids", "evidence", "evidence_refs", "examples"),
    "times": ("frequency", "count", "occurrences", "times"),
}


class SessionMemory:
    """A store of session_memory as it is at one moment."""

    def __init__(self, path: str, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = _file(path)
        self._file = Foreign(self.path, busy_seconds)
        here = self._file.tables()
        self._tables = {
            what: next((name for name in names if name in here), None) for what, names in _TABLES.items()
        }  # fmt: skip
        if self._tables["sessions"] is None or not (self._tables["digests"] or self._tables["patterns"]):
            self.close()
            raise ImportRefused(path=path, reason="it has no tables of sessions, digests and patterns.")

    def rows(self, what: str) -> list[Row]:
        """Return the rows of sessions, digests or patterns, each with what its JSON says; none if there is no table."""
        table = self._tables[what]
        return [_opened(row) for row in self._file.rows(f'select * from "{table}"')] if table else []

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def fact(row: Row, name: str) -> Any:
    """Return a fact of a row under whichever name it has; None if it has none."""
    return next((row[each] for each in _NAMES[name] if row.get(each) not in (None, "", [], {})), None)


def _file(path: str) -> str:
    """Return the database file: the path itself, or the one in the directory, or in its `.store`."""
    if not os.path.isdir(path):
        return path
    for folder in (path, os.path.join(path, ".store"), os.path.join(path, "session_memory", ".store")):
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            place = os.path.join(folder, name)
            if os.path.isfile(place) and _is_database(place):
                return place
    raise ImportRefused(path=path, reason="there is no SQLite file in it.")


def _is_database(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _opened(row: Row) -> Row:
    """Return a row with its JSON read; what an object in it says stands beside the columns, which come first."""
    import json

    found: Row = {}
    inside: Row = {}
    for name, each in row.items():
        if isinstance(each, bytes):
            each = each.decode("utf-8", "replace")
        if isinstance(each, str) and each[:1] in ("{", "["):
            try:
                each = json.loads(each)
            except (ValueError, RecursionError):
                pass
        found[name] = each
        if isinstance(each, dict):
            inside |= each
    return inside | {name: each for name, each in found.items() if not (isinstance(each, dict) and name in inside)}
