"""Exchanges: one remembered message each."""

from __future__ import annotations

from engram.store import news, recalled, rot, told
from engram.store.engine import among

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

# The exchange of a person at or before another one: what it answers to.
_ASKED = """
select id from exchanges where session_id = :session_id and (at, id) <= (:at, :id) and role = 'user'
 order by at desc, id desc limit 1
"""

# The same for many at once.
_TURNS = """
select e.id, (select q.id from exchanges q where q.session_id = e.session_id and (q.at, q.id) <= (e.at, e.id)
                 and q.role = 'user' order by q.at desc, q.id desc limit 1) as turn
  from exchanges e where e.id in ({slots})
"""

_BY_DAY = """
select (e.at + {offset}) / 86400000000 as day, count(*) as said{sessions}
  from exchanges e {filtered} where e.role = :role and e.at >= :since and e.at < :until group by 1
"""
_FILTERED = "join sessions s on s.id = e.session_id and {conditions}"

_COVER = """
update exchanges set gist = :version where session_id = :session_id and (at, id) <= (:at, :id)
   and (gist is null or gist <> :version)
"""

# Only of those that have any, by an index of what is open: most of a store is not looked at.
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
    """Write one exchange and queue it for the index; None when it is already here."""
    rows = engine.run(_ADD, **facts)
    if not rows:
        return None
    queue(engine, [rows[0]["id"]])
    _note(engine, {str(facts["session_id"])}, int(str(facts["stored_at"])))
    return int(rows[0]["id"])


def add_events(engine: Engine, rows: Sequence[Row]) -> None:
    """Write exchanges of captured events, given in rising order of the events."""
    if rows:
        engine.run_many(_ADD.replace(" returning id", ""), rows)
        engine.run(_QUEUE_EVENTS, first=rows[0]["event"], last=rows[-1]["event"])
        _note(engine, {row["session_id"] for row in rows}, rows[0]["stored_at"])


def _note(engine: Engine, sessions: set[str], now: int) -> None:
    """Say that sessions go on; those that were told something may say it again."""
    news.note(engine, news.FLUSH, sessions, now)
    news.note(engine, news.ROT, [f"session\t{each}" for each in told.those_told(engine, sorted(sessions))], now)


def resay(engine: Engine, event: int, role: str, content: str, at: int) -> None:
    """Write an exchange anew whose event says something else now."""
    ids = [row["id"] for row in engine.run(_RESAY, event=event, role=role, content=content, at=at)]
    queue(engine, ids)
    rot.drop_loops(engine, ids)


def queue(engine: Engine, ids: Sequence[int]) -> None:
    """Let the index know of exchanges that are new, changed or gone."""
    sql = "insert into unindexed (kind, source) values ('exchange', :source)"
    engine.run_many(sql, [{"source": each} for each in ids])


def of_session(engine: Engine, session_id: str, limit: int = -1, newest: bool = False) -> list[Row]:
    """Return a session's exchanges in the order they were said."""
    sql = _OF_SESSION.format(way="desc" if newest else "asc")
    rows = engine.run(sql.replace("limit :limit", "") if limit < 0 else sql, session_id=session_id, limit=limit)
    return rows[::-1] if newest else rows


def newest(engine: Engine, limit: int) -> list[Row]:
    """Return the messages of any session that were stored last, the last first."""
    return engine.run("select * from exchanges order by id desc limit :limit", limit=limit)


def prompts(engine: Engine, session_id: str, length: int) -> list[Row]:
    """Return what people asked in a captured session, in order, no more of each than a length."""
    return engine.run(_PROMPTS, session_id=session_id, length=length)


def by_id(engine: Engine, ids: Sequence[int]) -> dict[int, Row]:
    """Return exchanges by id, with what is known of their sessions."""
    sql = (
        "select e.*, s.flavor, s.project, s.summary, s.native_id from exchanges e"
        " join sessions s on s.id = e.session_id where e.id in ({slots})"
    )
    return {row["id"]: row for row in among(engine, sql, ids)}


def texts(engine: Engine, ids: Sequence[int]) -> dict[int, str]:
    """Return what exchanges say, by id."""
    names = {f"i{n}": each for n, each in enumerate(ids)}
    slots = ", ".join(f":{name}" for name in names)
    rows = engine.run(f"select id, content from exchanges where id in ({slots})", **names) if ids else []
    return {row["id"]: row["content"] for row in rows}


def around(engine: Engine, row: Row, before: int, after: int) -> list[Row]:
    """Return an exchange with what was said before and after it."""
    facts = {"session_id": row["session_id"], "at": row["at"], "id": row["id"]}
    rows = engine.run(_AROUND, **facts, before=before, after=after + 1)
    return sorted(rows, key=lambda each: (each["at"], each["id"]))


def turn(engine: Engine, row: Row) -> int:
    """Return how many exchanges of its session were said before it."""
    found = engine.run(_TURN, session_id=row["session_id"], at=row["at"], id=row["id"])
    return int(found[0]["n"])


def asked(engine: Engine, row: Row) -> int:
    """Return the id of the person's exchange an exchange belongs to; its own where there is none."""
    found = engine.run(_ASKED, session_id=row["session_id"], at=row["at"], id=row["id"])
    return int(found[0]["id"]) if found else int(row["id"])


def turns(engine: Engine, ids: Sequence[int]) -> dict[int, int]:
    """Return the ids of the persons' exchanges that exchanges belong to; their own where there is none."""
    found: dict[int, int] = {}
    for first in range(0, len(ids), 500):
        names = {f"i{n}": each for n, each in enumerate(ids[first : first + 500])}
        rows = engine.run(_TURNS.format(slots=", ".join(f":{name}" for name in names)), **names)
        found |= {row["id"]: row["turn"] or row["id"] for row in rows}
    return found


def cover(engine: Engine, row: Row, version: int) -> None:
    """Note that a session's exchanges up to one are covered by a version of its gist."""
    engine.run(_COVER, session_id=row["session_id"], at=row["at"], id=row["id"], version=version)


def uncover(engine: Engine, session_id: str) -> None:
    """Note that no gist covers a session."""
    engine.run("update exchanges set gist = null where session_id = :session_id", session_id=session_id)


def backlog(engine: Engine) -> list[Row]:
    """Return for each session how many exchanges it has and how many no gist covers."""
    return engine.run(_BACKLOG)


def uncovered(engine: Engine) -> list[Row]:
    """Return the sessions with exchanges no gist covers: how many, the last of them, and whether there is a gist."""
    return engine.run(_UNCOVERED)


def span(engine: Engine, session_id: str) -> Row:
    """Return how many exchanges a session has, from when to when, and how many no gist covers."""
    return engine.run(_SPAN, session_id=session_id)[0]


def delete(engine: Engine, session_id: str) -> list[int]:
    """Remove a session's exchanges, from the index as well, and return their ids."""
    rows = engine.run("delete from exchanges where session_id = :session_id returning id", session_id=session_id)
    ids = [row["id"] for row in rows]
    queue(engine, ids)
    rot.drop_loops(engine, ids)
    recalled.drop(engine, "exchange", map(str, ids))
    return ids


def count(engine: Engine) -> int:
    """Count all exchanges."""
    return int(engine.run("select count(*) as n from exchanges")[0]["n"])


def by_day(engine: Engine, role: str, offsets: Sequence[tuple[int, int]], *, sessions: bool, **given: Any) -> list[Row]:
    """Count what a role said per day since 1970, and if asked in how many sessions.

    `offsets` says by how much clocks were ahead of UTC, each up to a moment; `given` has since and until, and may have
    flavor and project.
    """
    wanted = {name: each for name, each in given.items() if each is not None}
    conditions = [f"s.{name} = :{name}" for name in ("flavor", "project") if name in wanted]
    sql = _BY_DAY.format(
        offset=_stepped([ahead for _, ahead in offsets]),
        sessions=", count(distinct e.session_id) as sessions" if sessions else "",
        filtered=_FILTERED.format(conditions=" and ".join(conditions)) if conditions else "",
    )
    moments = {f"turn{n}": until for n, (until, _) in enumerate(offsets[:-1])}
    return engine.run(sql, role=role, **moments, **wanted)


def _stepped(offsets: Sequence[int]) -> str:
    """Return an offset as SQL: clocks are changed twice a year in many places."""
    *earlier, last = offsets
    steps = " ".join(f"when e.at < :turn{n} then {int(ahead)}" for n, ahead in enumerate(earlier))
    return f"case {steps} else {int(last)} end" if earlier else str(int(last))
