"""Entries of daily logs, and how far each session was taken into them."""

from __future__ import annotations

from engram.store import news

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.store.engine import Engine, Row

# Sessions that said something since they were flushed, except those that failed and must wait.
_DUE = """
select n.key as session_id, n.changes, coalesce(f.through, 0) as through, s.status, s.last_heartbeat,
       (select max(id) from exchanges e where e.session_id = n.key) as last
  from news n join sessions s on s.id = n.key left join flushes f on f.session_id = n.key
 where n.step = 'flush' and coalesce(f.next_at, 0) <= :now
   and (cast(:session_id as text) is null or n.key = :session_id)
 order by 6, n.key
"""

_NEW = "select * from exchanges where session_id = :session_id and id > :through order by id"

# Only who still sees the mark that was seen before may move it: of two flushes at once one finds nothing to do.
_MOVE = """
insert into flushes (session_id, through) values (:session_id, :through)
on conflict (session_id) do update set through = excluded.through, tries = 0, next_at = 0, problem = null
 where flushes.through = :seen
returning session_id
"""

_FAIL = """
insert into flushes (session_id, tries, next_at, problem) values (:session_id, 1, :next_at, :problem)
on conflict (session_id) do update set tries = flushes.tries + 1, next_at = excluded.next_at, problem = excluded.problem
returning tries
"""

_ADD = """
insert into entries (id, session_id, day, at, first, last, content, made_by)
values (:id, :session_id, :day, :at, :first, :last, :content, :made_by) on conflict do nothing
"""

_FAILED = """
select f.session_id, f.tries, f.next_at, f.problem, s.flavor, s.project, s.summary
  from flushes f join sessions s on s.id = f.session_id join news n on n.step = 'flush' and n.key = f.session_id
 where f.tries > 0 order by f.next_at, f.session_id
"""

_SELECT = "select e.*, s.flavor, s.project, s.summary from entries e join sessions s on s.id = e.session_id"


def due(engine: Engine, now: int, session_id: str | None = None) -> list[Row]:
    """Return the sessions that said something no entry holds, the one that spoke last at the end."""
    return engine.run(_DUE, now=now, session_id=session_id)


def settle(engine: Engine, due: Row) -> None:
    """Say that all a session had said when it was found due is in its entries."""
    news.settle(engine, news.FLUSH, {"key": due["session_id"], "changes": due["changes"]})


def new(engine: Engine, session_id: str, through: int) -> list[Row]:
    """Return the exchanges of a session after a mark, in the order they came, which is that of marks."""
    return engine.run(_NEW, session_id=session_id, through=through)


def move(engine: Engine, session_id: str, seen: int, through: int) -> bool:
    """Move a session's mark, if it is still where it was seen."""
    return bool(engine.run(_MOVE, session_id=session_id, seen=seen, through=through))


def fail(engine: Engine, session_id: str, next_at: int, problem: str) -> int:
    """Note that a session could not be flushed; return how often that was."""
    return int(engine.run(_FAIL, session_id=session_id, next_at=next_at, problem=problem)[0]["tries"])


def put_off(engine: Engine, session_id: str, next_at: int) -> None:
    """Say when a session is to be tried again."""
    sql = "update flushes set next_at = :next_at where session_id = :session_id"
    engine.run(sql, session_id=session_id, next_at=next_at)


def tries(engine: Engine, session_id: str) -> int:
    """Return how often what comes next of a session was tried in vain."""
    rows = engine.run("select tries from flushes where session_id = :session_id", session_id=session_id)
    return int(rows[0]["tries"]) if rows else 0


def event_of(engine: Engine, session_id: str, through: int) -> int:
    """Return the event of the last exchange up to a mark; 0 if it came from none."""
    sql = "select max(event) as event from exchanges where session_id = :session_id and id <= :through"
    return int(engine.run(sql, session_id=session_id, through=through)[0]["event"] or 0)


def failed(engine: Engine) -> list[Row]:
    """Return the sessions whose last flush failed, and that still wait for one."""
    return engine.run(_FAILED)


def add(engine: Engine, **facts: Any) -> None:
    """Keep an entry before any file holds it."""
    engine.run(_ADD, **facts)


def unwritten(engine: Engine) -> list[Row]:
    """Return the entries no file holds yet, oldest first."""
    return engine.run(f"{_SELECT} where e.written_at is null order by e.at, e.id")


def mark_written(engine: Engine, entry_id: str, now: int) -> None:
    """Say that the log holds an entry."""
    engine.run("update entries set written_at = :now where id = :id", id=entry_id, now=now)


def of_day(engine: Engine, day: str) -> list[Row]:
    """Return a day's entries in order."""
    return engine.run(f"{_SELECT} where e.day = :day order by e.at, e.id", day=day)


def days_of(engine: Engine, session_id: str) -> list[str]:
    """Return the days whose logs hold something of a session."""
    rows = engine.run("select distinct day from entries where session_id = :session_id", session_id=session_id)
    return [row["day"] for row in rows]


def by_id(engine: Engine, entry_id: str) -> Row | None:
    """Return one entry."""
    rows = engine.run(f"{_SELECT} where e.id = :id", id=entry_id)
    return rows[0] if rows else None
