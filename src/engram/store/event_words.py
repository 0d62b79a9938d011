"""The full-text index of events: FTS5, or tsvector on PostgreSQL. Derived; it can be rebuilt at any time."""

from __future__ import annotations

import re
from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine, Row


_ADD = {
    "sqlite": "insert into event_words (rowid, words) values (:id, :words)",
    "postgres": "insert into event_words (id, words) values (:id, to_tsvector('simple', :words))",
}
_DROP = {
    "sqlite": "delete from event_words where rowid = :id",
    "postgres": "delete from event_words where id = :id",
}
_FIND = {
    "sqlite": "select rowid as id, -rank as score from event_words where event_words match :query"
    " order by rank limit :limit",
    "postgres": "select id, ts_rank(words, to_tsquery('simple', :query)) as score from event_words"
    " where words @@ to_tsquery('simple', :query) order by 2 desc, id desc limit :limit",
}
_CALLED = {
    "sqlite": "select distinct e.capture from event_words w join events e on e.id = w.rowid"
    " where event_words match :query and e.kind = 'call'",
    "postgres": "select distinct e.capture from event_words w join events e on e.id = w.id"
    " where w.words @@ to_tsquery('simple', :query) and e.kind = 'call'",
}
_WORD = re.compile(r"\w+")


def index_events(engine: Engine, rows: Sequence[Row]) -> None:
    """Index events, given as rows of id and words."""
    if engine.dialect == "postgres":  # PostgreSQL's parser reads ORA-00942 as a negative number and app.py as a host
        rows = [row | {"words": " ".join(_WORD.findall(row["words"]))} for row in rows]
    engine.run_many(_ADD[engine.dialect], rows)


def unindex_events(engine: Engine, ids: Sequence[int]) -> None:
    """Remove events from the index."""
    engine.run_many(_DROP[engine.dialect], [{"id": event_id} for event_id in ids])


def find_events(engine: Engine, query: str, limit: int) -> list[Row]:
    """Return ids of events that contain all words of a query, best first; any text is a valid query."""
    match = _build_query(engine, query)
    return engine.run(_FIND[engine.dialect], query=match, limit=limit) if match else []


def find_calling_captures(engine: Engine, query: str) -> set[int]:
    """Return the captures in which a tool was called with all words of a query."""
    match = _build_query(engine, query)
    return {row["capture"] for row in engine.run(_CALLED[engine.dialect], query=match)} if match else set()


def _build_query(engine: Engine, query: str) -> str:
    words = _WORD.findall(query)[:32]
    return " ".join(f'"{word}"' for word in words) if engine.dialect == "sqlite" else " & ".join(words)


def clear_index(engine: Engine) -> None:
    """Empty the index."""
    if engine.dialect == "sqlite":
        engine.run("insert into event_words (event_words) values ('delete-all')")
    else:
        engine.run("delete from event_words")
