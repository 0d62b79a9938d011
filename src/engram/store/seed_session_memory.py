"""The store of Helix Forge's session_memory, read and never written.

Its columns are not documented, so each fact is looked up under several possible names, in a column or
inside a JSON column.
"""

from __future__ import annotations

import os

from engram.errors import ImportRefused
from engram.store.foreign_database import BUSY_SECONDS, MAGIC, ForeignDatabase

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
_SESSION_COLUMNS = ("session_uid", "session_id", "session", "session_key", "sid", "uid")  # what a row belongs to
_FACT_COLUMNS = (
    "payload",
    "data",
    "json",
    "event",
    "meta",
    "metadata",
    "extra",
    "facts",
)  # columns with an event's own facts
_LONGEST_JSON = 1 << 20  # characters of a column that may be JSON
_NAMES = {
    "id": ("session_uid", "session_id", "uid", "id", "native_id"),
    "of": _SESSION_COLUMNS,
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


class SessionMemoryDatabase:
    """A snapshot of a session_memory store."""

    def __init__(self, path: str, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = _find_database(path)
        self._is_store = os.path.dirname(self.path) == os.path.abspath(path)  # path is the directory, not the file
        self._database = ForeignDatabase(self.path, busy_seconds)
        tables = self._database.list_tables()
        self._tables = {
            table_kind: next((name for name in names if name in tables), None) for table_kind, names in _TABLES.items()
        }  # fmt: skip
        if self._tables["sessions"] is None or not any(
            self._tables[kind] for kind in ("digests", "patterns", "events")
        ):
            self.close()
            raise ImportRefused(path=path, reason="it has no tables of sessions, digests and patterns.")

    def read_rows(self, table_kind: str) -> list[Row]:
        """Return the rows of sessions, digests or patterns, with their JSON parsed; none if there is no table."""
        table = self._tables[table_kind]
        return (
            [_parse_json_columns(row) for row in self._database.fetch_rows(f'select * from "{table}"')] if table else []
        )

    def count_rows(self, table_kind: str) -> int:
        """Count the rows of something."""
        table = self._tables[table_kind]
        return self._count_table(table) if table else 0

    def read_events(self) -> Iterator[tuple[str, list[Row]]]:
        """Yield the rows of events by session, so that only one session is in memory at a time."""
        from itertools import groupby

        table, column = self._tables["events"], self._event_session_column
        if table and column:
            rows = self._database.iterate_rows(f'select * from "{table}" order by "{column}"')
            for session, group in groupby(rows, lambda row: str(row[column] or "")):
                yield session, [_parse_json_columns(row, _FACT_COLUMNS) for row in group]

    @property
    def _event_session_column(self) -> str | None:
        """Return the column with the session of an event."""
        names = self._list_columns(self._tables["events"] or "")
        return next((name for name in _SESSION_COLUMNS if name in names), None)

    def count_unused_rows(self) -> dict[str, int]:
        """Count the rows of tables that are not imported."""
        used = {table for table in self._tables.values() if table}
        if self._event_session_column is None:
            used.discard(self._tables["events"])
        others = sorted(name for name in self._database.list_tables() - used if not name.startswith("sqlite_"))
        return {name: count for name in others if (count := self._count_table(name))}

    def _list_columns(self, table: str) -> set[str]:
        return {row["name"] for row in self._database.fetch_rows("select name from pragma_table_info(?)", table)}

    def _count_table(self, table: str) -> int:
        quoted = table.replace('"', '""')
        return int(self._database.fetch_rows(f'select count(*) as n from "{quoted}"')[0]["n"])

    @property
    def body_directory(self) -> tuple[str, bool]:
        """Return where bodies may be: the whole directory of a store, or certain directories beside a lone database."""
        folder = os.path.dirname(self.path)
        return folder, self._is_store or os.path.basename(folder) == ".store"

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def find_fact(row: Row, name: str) -> Any:
    """Return a fact of a row under any of its possible names, or None."""
    return next((row[column] for column in _NAMES[name] if row.get(column) not in (None, "", [], {})), None)


def _find_database(path: str) -> str:
    """Return the database file: the path itself, or the one in the directory or its `.store`."""
    if not os.path.isdir(path):
        return path
    for folder in (path, os.path.join(path, ".store"), os.path.join(path, "session_memory", ".store")):
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            file_path = os.path.join(folder, name)
            if os.path.isfile(file_path) and _is_database(file_path):
                return file_path
    raise ImportRefused(path=path, reason="there is no SQLite file in it.")


def _is_database(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _parse_json_columns(row: Row, object_columns: tuple[str, ...] = ()) -> Row:
    """Return a row with its JSON parsed; fields of JSON objects are added beside the columns, which win.

    With `spread`, only objects in columns of these names are added.
    """
    import json

    columns: Row = {}
    nested: Row = {}
    for name, value in row.items():
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if isinstance(value, str) and value[:1] in ("{", "[") and len(value) <= _LONGEST_JSON:
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                pass
        columns[name] = value
        if isinstance(value, dict) and (not object_columns or name in object_columns):
            nested |= value
    return nested | {name: value for name, value in columns.items() if not (isinstance(value, dict) and name in nested)}
