"""Exchanges: one stored message each."""

from __future__ import annotations

from engram.store import dream_inbox, injected_texts, recall_log, rot, utc_offsets
from engram.store.engine import run_for_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from engram.store.engine import Engine, Row

_ADD = """
insert into exchanges (session_id, role, content, at, stored_at, origin, key, event)
values (:session_id, :role, :content, :at, :stored_at, :origin, :key, :event) on conflict do nothing returning id
"""

_QUEUE_EVENTS = """
insert into unindexed (kind, source) select 'exchange', id from exchanges where event >= :first and event <= :last
"""

_RESAY = """
update exchanges set role = :role, content = :content, at = :at, gist = null where event = :event returning id
"""

_OF_SESSION = "select * from exchanges where session_id = :session_id order by at {way}, id {way} limit :limit"

_PROMPTS = """
select event, at, substr(content, 1, :length) as content from exchanges
 where session_id = :session_id and role = 'user' and event is not null order by at, id
"""

_AROUND = """
select * from (select * from exchanges where session_id = :session_id and (at, id) < (:at, :id)
                order by at desc, id desc limit :before) as earlier
union all
select * from (select * from exchanges where session_id = :session_id and (at, id) >= (:at, :id)
                order by at, id limit :after) as later
"""

_TURN = "select count(*) as n from exchanges where session_id = :session_id and (at, id) < (:at, :id)"

# The last prompt by a person at or before an exchange: the question it answers.
_ASKED = """
select id from exchanges where session_id = :session_id and (at, id) <= (:at, :id) and role = 'user'
 order by at desc, id desc limit 1
"""

# The same for many exchanges.
_TURNS = """
select e.id, (select q.id from exchanges q where q.session_id = e.session_id and (q.at, q.id) <= (e.at, e.id)
                 and q.role = 'user' order by q.at desc, q.id desc limit 1) as turn
  from exchanges e where e.id in ({slots})
"""

_BETWEEN = """
select role, substr(content, 1, :length) as content from exchanges
 where session_id = :session_id and at >= :since and at < :until and role in ('user', 'assistant') order by at, id
"""

_ACTIVE = """
select e.session_id, min(e.at) as first_at, max(e.at) as last_at, count(*) as messages, min(e.id) as first_id
  from exchanges e where e.at >= :since and e.at < :until and e.role in ('user', 'assistant') group by e.session_id
"""

_LENGTHS = """
select session_id, max(at) as last_at,
       sum(case when length(content) > :longest then :longest else length(content) end) as chars
  from exchanges where at >= :since group by session_id
"""

_BY_DAY = """
select {day} as day, count(*) as said{sessions}
  from exchanges e {filtered} where e.role = :role and e.at >= :since and e.at < :until group by 1
"""
_FILTERED = "join sessions s on s.id = e.session_id and {conditions}"

_COVER = """
update exchanges set gist = :version where session_id = :session_id and (at, id) <= (:at, :id)
   and (gist is null or gist <> :version)
"""

# Reads only sessions with uncovered exchanges, by a partial index.
_UNCOVERED = """
select e.session_id, e.open, e.last, e.last_at,
       case when exists (select 1 from documents d where d.kind = 'gist' and d.key = e.session_id)
            then 1 else 0 end as known
  from (select session_id, count(*) as open, max(id) as last, max(at) as last_at
          from exchanges where gist is null
         group by session_id) as e
"""

_BACKLOG = """
select session_id, count(*) as total, sum(case when gist is null then 1 else 0 end) as open, max(id) as last
  from exchanges group by session_id
"""

_SPAN = """
select count(*) as total, min(at) as first_at, max(at) as last_at, max(id) as last,
       sum(case when gist is null then 1 else 0 end) as open from exchanges where session_id = :session_id
"""


def add(engine: Engine, **facts: object) -> int | None:
    """Insert one exchange and queue it for the index; return None if it exists."""
    rows = engine.run(_ADD, **facts)
    if not rows:
        return None
    queue_for_index(engine, [rows[0]["id"]])
    _queue_for_dream(engine, {str(facts["session_id"])}, int(str(facts["stored_at"])))
    return int(rows[0]["id"])


def add_events(engine: Engine, rows: Sequence[Row]) -> None:
    """Insert exchanges of captured events, sorted by event."""
    if rows:
        engine.run_many(_ADD.replace(" returning id", ""), rows)
        engine.run(_QUEUE_EVENTS, first=rows[0]["event"], last=rows[-1]["event"])
        _queue_for_dream(engine, {row["session_id"] for row in rows}, rows[0]["stored_at"])


def _queue_for_dream(engine: Engine, sessions: set[str], now: int) -> None:
    """Queue sessions for the dream; injected texts may be repeated in sessions that received any."""
    dream_inbox.mark_new(engine, dream_inbox.FLUSH, sessions, now)
    dream_inbox.mark_new(
        engine,
        dream_inbox.ROT,
        [f"session\t{session_id}" for session_id in injected_texts.filter_sessions(engine, sorted(sessions))],
        now,
    )


def update_by_event(engine: Engine, event: int, role: str, content: str, at: int) -> None:
    """Update an exchange whose event changed."""
    ids = [row["id"] for row in engine.run(_RESAY, event=event, role=role, content=content, at=at)]
    queue_for_index(engine, ids)
    rot.delete_loops(engine, ids)


def queue_for_index(engine: Engine, ids: Sequence[int]) -> None:
    """Queue exchanges that are new, changed or deleted for the index."""
    sql = "insert into unindexed (kind, source) values ('exchange', :source)"
    engine.run_many(sql, [{"source": exchange_id} for exchange_id in ids])


def list_by_session(engine: Engine, session_id: str, limit: int = -1, newest: bool = False) -> list[Row]:
    """Return a session's exchanges in the order they were written."""
    sql = _OF_SESSION.format(way="desc" if newest else "asc")
    rows = engine.run(sql.replace("limit :limit", "") if limit < 0 else sql, session_id=session_id, limit=limit)
    return rows[::-1] if newest else rows


def list_newest(engine: Engine, limit: int) -> list[Row]:
    """Return the last stored messages of any session, newest first."""
    return engine.run("select * from exchanges order by id desc limit :limit", limit=limit)


def list_prompts(engine: Engine, session_id: str, length: int) -> list[Row]:
    """Return the prompts by people in a captured session, in order, cut to a length."""
    return engine.run(_PROMPTS, session_id=session_id, length=length)


def list_between(engine: Engine, session_id: str, since: int, until: int, length: int) -> list[Row]:
    """Return what was said in a session in a span of time, each message cut to a length."""
    return engine.run(_BETWEEN, session_id=session_id, since=since, until=until, length=length)


def list_in_span(engine: Engine, session_id: str, since: int, until: int) -> list[Row]:
    """Return the messages of a session in a span of time, in order."""
    sql = "select * from exchanges where session_id = :session_id and at >= :since and at <= :until order by at, id"
    return engine.run(sql, session_id=session_id, since=since, until=until)


def list_active_sessions(engine: Engine, since: int, until: int) -> list[Row]:
    """Return the sessions with messages in a span of time, with the first and the last of them."""
    return engine.run(_ACTIVE, since=since, until=until)


def measure_sessions(engine: Engine, since: int, longest: int) -> list[Row]:
    """Return how long the messages of each session are since a time, each counted up to a length."""
    return engine.run(_LENGTHS, since=since, longest=longest)


def fetch_by_ids(engine: Engine, ids: Sequence[int]) -> dict[int, Row]:
    """Return exchanges by id, with facts about their sessions."""
    sql = (
        "select e.*, s.flavor, s.project, s.summary, s.native_id from exchanges e"
        " join sessions s on s.id = e.session_id where e.id in ({slots})"
    )
    return {row["id"]: row for row in run_for_ids(engine, sql, ids)}


def fetch_texts(engine: Engine, ids: Sequence[int]) -> dict[int, str]:
    """Return the texts of exchanges, by id."""
    names = {f"i{n}": exchange_id for n, exchange_id in enumerate(ids)}
    slots = ", ".join(f":{name}" for name in names)
    rows = engine.run(f"select id, content from exchanges where id in ({slots})", **names) if ids else []
    return {row["id"]: row["content"] for row in rows}


def list_around(engine: Engine, row: Row, before: int, after: int) -> list[Row]:
    """Return an exchange with those before and after it."""
    facts = {"session_id": row["session_id"], "at": row["at"], "id": row["id"]}
    rows = engine.run(_AROUND, **facts, before=before, after=after + 1)
    return sorted(rows, key=lambda row: (row["at"], row["id"]))


def count_before(engine: Engine, row: Row) -> int:
    """Return how many exchanges of its session come before it."""
    rows = engine.run(_TURN, session_id=row["session_id"], at=row["at"], id=row["id"])
    return int(rows[0]["n"])


def find_prompt_id(engine: Engine, row: Row) -> int:
    """Return the id of the prompt an exchange belongs to, or its own if there is none."""
    rows = engine.run(_ASKED, session_id=row["session_id"], at=row["at"], id=row["id"])
    return int(rows[0]["id"]) if rows else int(row["id"])


def find_prompt_ids(engine: Engine, ids: Sequence[int]) -> dict[int, int]:
    """Return the ids of the prompts that exchanges belong to, or their own if there is none."""
    prompt_ids: dict[int, int] = {}
    for first in range(0, len(ids), 500):
        names = {f"i{n}": exchange_id for n, exchange_id in enumerate(ids[first : first + 500])}
        rows = engine.run(_TURNS.format(slots=", ".join(f":{name}" for name in names)), **names)
        prompt_ids |= {row["id"]: row["turn"] or row["id"] for row in rows}
    return prompt_ids


def mark_covered(engine: Engine, row: Row, version: int) -> None:
    """Record that a session's exchanges up to one are covered by a version of its gist."""
    engine.run(_COVER, session_id=row["session_id"], at=row["at"], id=row["id"], version=version)


def mark_uncovered(engine: Engine, session_id: str) -> None:
    """Record that no gist covers a session."""
    engine.run("update exchanges set gist = null where session_id = :session_id", session_id=session_id)


def count_by_session(engine: Engine) -> list[Row]:
    """Return for each session its number of exchanges, and of those no gist covers."""
    return engine.run(_BACKLOG)


def list_uncovered(engine: Engine) -> list[Row]:
    """Return the sessions with exchanges no gist covers: how many, the last one, and whether a gist exists."""
    return engine.run(_UNCOVERED)


def get_session_span(engine: Engine, session_id: str) -> Row:
    """Return a session's number of exchanges, their first and last time, and how many no gist covers."""
    return engine.run(_SPAN, session_id=session_id)[0]


def delete_by_session(engine: Engine, session_id: str) -> list[int]:
    """Delete a session's exchanges, also from the index, and return their ids."""
    rows = engine.run("delete from exchanges where session_id = :session_id returning id", session_id=session_id)
    ids = [row["id"] for row in rows]
    queue_for_index(engine, ids)
    rot.delete_loops(engine, ids)
    recall_log.delete(engine, "exchange", map(str, ids))
    return ids


def count(engine: Engine) -> int:
    """Count all exchanges."""
    return int(engine.run("select count(*) as n from exchanges")[0]["n"])


def count_by_day(
    engine: Engine, role: str, offsets: Sequence[tuple[int, int]], *, sessions: bool, **filters: Any
) -> list[Row]:
    """Count the messages of a role per day since 1970, and optionally their sessions.

    `offsets` are UTC offsets, each with the time it applies until; `filters` has since and until, and may have
    flavor and project.
    """
    chosen = {name: value for name, value in filters.items() if value is not None}
    conditions = [f"s.{name} = :{name}" for name in ("flavor", "project") if name in chosen]
    sql = _BY_DAY.format(
        day=utc_offsets.build_day_sql("e.at", offsets),
        sessions=", count(distinct e.session_id) as sessions" if sessions else "",
        filtered=_FILTERED.format(conditions=" and ".join(conditions)) if conditions else "",
    )
    return engine.run(sql, role=role, **chosen)
