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
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Any, Self

    from engram.store.engine import Row

_TABLES = {
    "sessions": ("sessions", "session"), "digests": ("digests", "digest"), "patterns": ("patterns", "pattern"),
    "events": ("session_events", "events", "event", "session_event"),
    "costs": ("costs", "cost", "session_costs", "usage"),
}  # fmt: skip
_OF = ("session_uid", "session_id", "session", "session_key", "sid", "uid")  # what a row belongs to
_SPREAD = ("payload", "data", "json", "event", "meta", "metadata", "extra", "facts")  # columns of an event's own facts
_OPENED = 1 << 20  # characters of a column that may be JSON
_NAMES = {
    "id": ("session_uid", "session_id", "uid", "id", "native_id"),
    "of": _OF,
    "domain": ("domain", "repo_domain"),
    "branch": ("branch", "git_branch"),
    "model": ("model", "model_name"),
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
        self._is_store = os.path.dirname(self.path) == os.path.abspath(path)  # the directory was named, not the file
        self._file = Foreign(self.path, busy_seconds)
        here = self._file.tables()
        self._tables = {
            what: next((name for name in names if name in here), None) for what, names in _TABLES.items()
        }  # fmt: skip
        if self._tables["sessions"] is None or not any(
            self._tables[each] for each in ("digests", "patterns", "events")
        ):
            self.close()
            raise ImportRefused(path=path, reason="it has no tables of sessions, digests and patterns.")

    def rows(self, what: str) -> list[Row]:
        """Return the rows of sessions, digests or patterns, each with what its JSON says; none if there is no table."""
        table = self._tables[what]
        return [_opened(row) for row in self._file.rows(f'select * from "{table}"')] if table else []

    def count(self, what: str) -> int:
        """Count the rows of something."""
        table = self._tables[what]
        return self._count(table) if table else 0

    def events(self) -> Iterator[tuple[str, list[Row]]]:
        """Yield the rows of events by session, so that no more than one session is held in memory."""
        from itertools import groupby

        table, column = self._tables["events"], self._events_of
        if table and column:
            rows = self._file.each(f'select * from "{table}" order by "{column}"')
            for session, group in groupby(rows, lambda row: str(row[column] or "")):
                yield session, [_opened(row, _SPREAD) for row in group]

    @property
    def _events_of(self) -> str | None:
        """Return the column that says which session an event belongs to."""
        names = self._columns(self._tables["events"] or "")
        return next((name for name in _OF if name in names), None)

    def left(self) -> dict[str, int]:
        """Count the rows of the tables that nothing is made of here."""
        taken = {table for table in self._tables.values() if table}
        if self._events_of is None:
            taken.discard(self._tables["events"])
        others = sorted(name for name in self._file.tables() - taken if not name.startswith("sqlite_"))
        return {name: count for name in others if (count := self._count(name))}

    def _columns(self, table: str) -> set[str]:
        return {row["name"] for row in self._file.rows("select name from pragma_table_info(?)", table)}

    def _count(self, table: str) -> int:
        quoted = table.replace('"', '""')
        return int(self._file.rows(f'select count(*) as n from "{quoted}"')[0]["n"])

    @property
    def directory(self) -> tuple[str, bool]:
        """Return where bodies may lie: the whole directory of a store, or certain ones beside a lone database."""
        folder = os.path.dirname(self.path)
        return folder, self._is_store or os.path.basename(folder) == ".store"

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


def _opened(row: Row, spread: tuple[str, ...] = ()) -> Row:
    """Return a row with its JSON read; what an object in it says stands beside the columns, which come first.

    With `spread`, only objects in columns of these names stand there.
    """
    import json

    found: Row = {}
    inside: Row = {}
    for name, each in row.items():
        if isinstance(each, bytes):
            each = each.decode("utf-8", "replace")
        if isinstance(each, str) and each[:1] in ("{", "[") and len(each) <= _OPENED:
            try:
                each = json.loads(each)
            except (ValueError, RecursionError):
                pass
        found[name] = each
        if isinstance(each, dict) and (not spread or name in spread):
            inside |= each
    return inside | {name: each for name, each in found.items() if not (isinstance(each, dict) and name in inside)}
