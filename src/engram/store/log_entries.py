"""Entries of daily logs, and how far each session was flushed into them."""

from __future__ import annotations

from engram.store import dream_inbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.store.engine import Engine, Row

# Sessions with new exchanges since their last flush, except failed ones that must wait.
_DUE = """
select n.key as session_id, n.changes, coalesce(f.through, 0) as through, s.status, s.last_heartbeat,
       (select max(id) from exchanges e where e.session_id = n.key) as last
  from news n join sessions s on s.id = n.key left join flushes f on f.session_id = n.key
 where n.step = 'flush' and coalesce(f.next_at, 0) <= :now
   and (cast(:session_id as text) is null or n.key = :session_id)
 order by 6, n.key
"""

_NEW = "select * from exchanges where session_id = :session_id and id > :through order by id"

# Compare and swap: of two concurrent flushes, the second finds nothing to do.
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

_OF_SESSION = """
select e.id, e.session_id, e.day, e.at, s.flavor, s.project
  from entries e join sessions s on s.id = e.session_id where e.session_id = :session_id order by e.at, e.id
"""

_SELECT = "select e.*, s.flavor, s.project, s.summary from entries e join sessions s on s.id = e.session_id"


def list_due_sessions(engine: Engine, now: int, session_id: str | None = None) -> list[Row]:
    """Return the sessions with exchanges not yet in an entry, last active last."""
    return engine.run(_DUE, now=now, session_id=session_id)


def mark_flushed(engine: Engine, due: Row) -> None:
    """Record that everything a session had when it was listed as due is in its entries."""
    dream_inbox.mark_done(engine, dream_inbox.FLUSH, {"key": due["session_id"], "changes": due["changes"]})


def list_new_exchanges(engine: Engine, session_id: str, through: int) -> list[Row]:
    """Return the exchanges of a session after a mark, in order."""
    return engine.run(_NEW, session_id=session_id, through=through)


def advance_mark(engine: Engine, session_id: str, expected: int, through: int) -> bool:
    """Move a session's mark, unless another process moved it."""
    return bool(engine.run(_MOVE, session_id=session_id, seen=expected, through=through))


def record_failure(engine: Engine, session_id: str, next_at: int, problem: str) -> int:
    """Record a failed flush of a session; return the number of failures."""
    return int(engine.run(_FAIL, session_id=session_id, next_at=next_at, problem=problem)[0]["tries"])


def set_next_try(engine: Engine, session_id: str, next_at: int) -> None:
    """Set when a session is tried again."""
    sql = "update flushes set next_at = :next_at where session_id = :session_id"
    engine.run(sql, session_id=session_id, next_at=next_at)


def count_tries(engine: Engine, session_id: str) -> int:
    """Return the number of failed attempts to flush a session."""
    rows = engine.run("select tries from flushes where session_id = :session_id", session_id=session_id)
    return int(rows[0]["tries"]) if rows else 0


def find_last_event(engine: Engine, session_id: str, through: int) -> int:
    """Return the event of the last exchange up to a mark, or 0 if there is none."""
    sql = "select max(event) as event from exchanges where session_id = :session_id and id <= :through"
    return int(engine.run(sql, session_id=session_id, through=through)[0]["event"] or 0)


def list_failed(engine: Engine) -> list[Row]:
    """Return the sessions whose last flush failed and that still wait for one."""
    return engine.run(_FAILED)


def insert(engine: Engine, **facts: Any) -> None:
    """Insert an entry, before it is written to a file."""
    engine.run(_ADD, **facts)


def list_unwritten(engine: Engine) -> list[Row]:
    """Return the entries not yet written to a file, oldest first."""
    return engine.run(f"{_SELECT} where e.written_at is null order by e.at, e.id")


def mark_written(engine: Engine, entry_id: str, now: int) -> None:
    """Record that an entry was written to its log."""
    engine.run("update entries set written_at = :now where id = :id", id=entry_id, now=now)


def list_by_day(engine: Engine, day: str) -> list[Row]:
    """Return a day's entries in order."""
    return engine.run(f"{_SELECT} where e.day = :day order by e.at, e.id", day=day)


def list_by_session(engine: Engine, session_id: str) -> list[Row]:
    """Return the entries of a session without their content, oldest first."""
    return engine.run(_OF_SESSION, session_id=session_id)


def list_days(engine: Engine, session_id: str) -> list[str]:
    """Return the days whose logs contain entries of a session."""
    rows = engine.run("select distinct day from entries where session_id = :session_id", session_id=session_id)
    return [row["day"] for row in rows]


def get(engine: Engine, entry_id: str) -> Row | None:
    """Return one entry."""
    rows = engine.run(f"{_SELECT} where e.id = :id", id=entry_id)
    return rows[0] if rows else None
