"""Captured sessions, and the graph of subagents and forks among them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.store.engine import Engine, Row


_ADD = """
insert into captures (session_id, started_at, last_at, exchanged) values (:session_id, :started_at, :started_at, 1)
on conflict (session_id) do update set session_id = excluded.session_id returning *
"""

_GROW = """
update captures set
  parent = coalesce(cast(:parent as text), parent), relation = coalesce(cast(:relation as text), relation),
  title = coalesce(cast(:title as text), title), version = coalesce(cast(:version as text), version),
  entrypoint = coalesce(cast(:entrypoint as text), entrypoint),
  started_at = coalesce(started_at, :started_at),
  last_at = case when last_at is null or last_at < :last_at then :last_at else last_at end,
  events = events + :events, read_bytes = read_bytes + :read_bytes, batches = :batch,
  root = coalesce(root, :root)
 where num = :num returning *
"""

_BY_NATIVE_ID = """
select c.* from captures c join sessions s on s.id = c.session_id where s.flavor = :flavor and s.native_id = :native_id
"""

_OF_SESSION = "select * from captures where session_id = :session_id"

# A fork without a pointer back begins with its parent's first event; the one that began first is the parent.
_SAME_ROOT = """
select s.native_id, c.num, c.relation from captures c join sessions s on s.id = c.session_id
 where c.root = :root and s.flavor = :flavor and coalesce(c.relation, 'fork') = 'fork'
 order by c.started_at, c.num
"""

_LISTED = """
select s.*, c.num, c.parent, c.relation,
       (select p.id from sessions p where p.flavor = s.flavor and p.native_id = c.parent) as parent_session,
       c.title, c.version, coalesce(c.started_at, s.started_at) as began,
       coalesce(c.last_at, s.last_heartbeat) as last_at, coalesce(c.events, 0) as events,
       coalesce(c.read_bytes, 0) as read_bytes, d.outcome, d.confidence, d.corrected
  from sessions s left join captures c on c.session_id = s.id left join digests d on d.capture = c.num
 where (c.num is not null or exists (select 1 from exchanges x where x.session_id = s.id)) {conditions}
 order by coalesce(c.last_at, s.last_heartbeat) desc, s.id desc limit :limit offset :after
"""

# The last few of a project without a look at the rest: what was finished, and what is still open.
_LAST_WORK = """
select s.*, c.last_at, coalesce(d.corrected, d.outcome) as outcome
  from (select * from (select * from sessions where project = :project and completed_at is not null
                        order by completed_at desc limit :many) done
        union all
        select * from (select * from sessions where project = :project and status = 'active'
                        order by last_heartbeat desc limit :many) here) s
  join captures c on c.session_id = s.id left join digests d on d.capture = c.num
 where coalesce(c.relation, '') <> 'subagent' and s.id <> :session_id
 order by coalesce(c.last_at, s.last_heartbeat) desc limit :limit
"""


def last_work(engine: Engine, project: str, session_id: str, limit: int) -> list[Row]:
    """Return the last captured sessions of a project but one, newest first."""
    return engine.run(_LAST_WORK, project=project, session_id=session_id, limit=limit, many=limit * 5)


def add(engine: Engine, session_id: str, started_at: int) -> Row:
    """Return the capture of a session, made if it is the first time."""
    return engine.run(_ADD, session_id=session_id, started_at=started_at)[0]


def of_session(engine: Engine, session_id: str) -> Row | None:
    """Return the capture of a session."""
    rows = engine.run(_OF_SESSION, session_id=session_id)
    return rows[0] if rows else None


def by_native_id(engine: Engine, flavor: str, native_id: str) -> Row | None:
    """Return the capture of a session an agent knows under its own id."""
    rows = engine.run(_BY_NATIVE_ID, flavor=flavor, native_id=native_id)
    return rows[0] if rows else None


def get(engine: Engine, num: int) -> Row:
    """Return a capture by its number."""
    return engine.run("select * from captures where num = :num", num=num)[0]


def grow(engine: Engine, num: int, **facts: Any) -> Row:
    """Add a batch to a capture and what it says of the session."""
    return engine.run(_GROW, num=num, **facts)[0]


def same_root(engine: Engine, root: int, flavor: str) -> list[Row]:
    """Return the sessions that begin with the same event, the one that began first in front."""
    return engine.run(_SAME_ROOT, root=root, flavor=flavor)


def relate(engine: Engine, num: int, parent: str, relation: str) -> None:
    """Say which session a session came from."""
    engine.run(
        "update captures set parent = :parent, relation = :relation where num = :num",
        num=num, parent=parent, relation=relation,
    )  # fmt: skip


def mark_due(engine: Engine, num: int, due: bool) -> None:
    """Say whether the digest of a session must be made anew from its events."""
    engine.run("update captures set digest_due = :due where num = :num", num=num, due=int(due))


def due(engine: Engine) -> list[Row]:
    """Return the captures whose digest must be made anew."""
    return engine.run("select * from captures where digest_due = 1 order by num")


def unexchanged(engine: Engine) -> list[Row]:
    """Return the captures whose messages are no exchanges yet: of a time before there were any."""
    return engine.run("select * from captures where exchanged = 0 order by num")


def mark_exchanged(engine: Engine, num: int) -> None:
    """Say that the messages of a session are exchanges."""
    engine.run("update captures set exchanged = 1 where num = :num", num=num)


def listed(engine: Engine, limit: int, after: int = 0, **filters: Any) -> list[Row]:
    """Return sessions that were captured or remember something, the last active first; filters are columns."""
    conditions = {
        "flavor": "and s.flavor = :flavor", "project": "and s.project = :project",
        "domain": "and s.domain = :domain",
        "since": "and coalesce(c.last_at, s.last_heartbeat) >= :since",
        "until": "and coalesce(c.started_at, s.started_at) < :until",
        "outcome": "and coalesce(d.corrected, d.outcome) = :outcome",
        "session": "and s.id = :session", "parent": "and c.parent = :parent",
        "relation": "and coalesce(c.relation, '') <> 'subagent'",
    }  # fmt: skip
    given = {name: each for name, each in filters.items() if each is not None}
    sql = _LISTED.format(conditions=" ".join(conditions[name] for name in given))
    given.pop("relation", None)
    return engine.run(sql, limit=limit, after=after, **given)
