"""Captured sessions, and the relations of subagents and forks among them."""

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

# Forks that do not name their parent start with its first event; the earliest session is the parent.
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
 where {conditions}
 order by coalesce(c.last_at, s.last_heartbeat) desc, s.id desc limit :limit offset :after
"""

_REMEMBERS = "(c.num is not null or exists (select 1 from exchanges x where x.session_id = s.id))"
_COUNT = """
select count(*) as n from sessions s left join captures c on c.session_id = s.id
 where coalesce(c.relation, '') <> 'subagent'
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


# The last sessions of a project, read along two indexes.
_LAST_NUMBERS = """
select c.num
  from (select * from (select id, completed_at as at from sessions where project = :project and completed_at is not null
                        order by completed_at desc limit :many) done
        union all
        select * from (select id, last_heartbeat as at from sessions where project = :project and status = 'active'
                        order by last_heartbeat desc limit :many) here) s
  join captures c on c.session_id = s.id
 where s.id <> :exclude and (coalesce(c.relation, '') <> 'subagent' or cast(:subagents as integer) = 1)
 order by s.at desc limit :limit
"""

_FLAVORS = """
select s.flavor, count(*) as sessions, max(coalesce(c.last_at, s.last_heartbeat)) as last_at
  from sessions s join captures c on c.session_id = s.id
 where s.project = :project and coalesce(c.relation, '') <> 'subagent'
 group by s.flavor order by sessions desc, s.flavor
"""


# `union` drops duplicates, so a cycle ends.
_SUBAGENTS = """
with recursive family (id) as (
     select id from sessions where id = :session_id
     union
     select child.id from family join sessions sender on sender.id = family.id
       join captures sent on sent.parent = sender.native_id and sent.relation = 'subagent'
       join sessions child on child.id = sent.session_id and child.flavor = sender.flavor
   )
select c.* from captures c join family on family.id = c.session_id
 where c.session_id <> :session_id order by c.started_at, c.num
"""

# The capture of a session, those of its subagents and forks, and that of the session it comes from.
_RELATED = """
select k.num from captures k join sessions s on s.id = k.session_id
 where s.id = :session_id or (k.parent = :native_id and :native_id <> '')
    or s.native_id = (select o.parent from captures o where o.session_id = :session_id)
    or k.root = (select o.root from captures o where o.session_id = :session_id)
"""


def list_related(engine: Engine, session_id: str, native_id: str) -> list[int]:
    """Return the numbers of a session, of its subagents and forks, and of the session it comes from."""
    return [row["num"] for row in engine.run(_RELATED, session_id=session_id, native_id=native_id)]


def list_recent_work(engine: Engine, project: str, session_id: str, limit: int) -> list[Row]:
    """Return the last captured sessions of a project except one, newest first."""
    return engine.run(_LAST_WORK, project=project, session_id=session_id, limit=limit, many=limit * 5)


def list_last_numbers(
    engine: Engine, project: str, limit: int, *, exclude: str = "", subagents: bool = False
) -> list[int]:  # fmt: skip
    """Return the numbers of the last captured sessions of a project except one, newest first."""
    many = limit if subagents else limit * 5
    rows = engine.run(
        _LAST_NUMBERS, project=project, exclude=exclude, limit=limit, many=many, subagents=int(subagents)
    )  # fmt: skip
    return [row["num"] for row in rows]


def count_by_flavor(engine: Engine, project: str) -> list[Row]:
    """Return for each agent how many sessions it had in a project, and when it was last active."""
    return engine.run(_FLAVORS, project=project)


def get_or_add(engine: Engine, session_id: str, started_at: int) -> Row:
    """Return the capture of a session, created if missing."""
    return engine.run(_ADD, session_id=session_id, started_at=started_at)[0]


def find_by_session(engine: Engine, session_id: str) -> Row | None:
    """Return the capture of a session."""
    rows = engine.run(_OF_SESSION, session_id=session_id)
    return rows[0] if rows else None


def find_by_native_id(engine: Engine, flavor: str, native_id: str) -> Row | None:
    """Return the capture of a session by the agent's own id."""
    rows = engine.run(_BY_NATIVE_ID, flavor=flavor, native_id=native_id)
    return rows[0] if rows else None


def get(engine: Engine, num: int) -> Row:
    """Return a capture by its number."""
    return engine.run("select * from captures where num = :num", num=num)[0]


def add_batch(engine: Engine, num: int, **facts: Any) -> Row:
    """Add a batch to a capture and update the facts about the session."""
    return engine.run(_GROW, num=num, **facts)[0]


def list_by_root(engine: Engine, root: int, flavor: str) -> list[Row]:
    """Return the sessions that start with the same event, earliest first."""
    return engine.run(_SAME_ROOT, root=root, flavor=flavor)


def list_subagents(engine: Engine, session_id: str) -> list[Row]:
    """Return the captures of the subagents of a session and theirs, in order."""
    return engine.run(_SUBAGENTS, session_id=session_id)


def set_parent(engine: Engine, num: int, parent: str, relation: str) -> None:
    """Set the parent of a session."""
    engine.run(
        "update captures set parent = :parent, relation = :relation where num = :num",
        num=num, parent=parent, relation=relation,
    )  # fmt: skip


def mark_digest_due(engine: Engine, num: int, due: bool) -> None:
    """Set whether the digest of a session must be rebuilt from its events."""
    engine.run("update captures set digest_due = :due where num = :num", num=num, due=int(due))


def list_digest_due(engine: Engine) -> list[Row]:
    """Return the captures whose digest must be rebuilt."""
    return engine.run("select * from captures where digest_due = 1 order by num")


def list_without_exchanges(engine: Engine) -> list[Row]:
    """Return the captures without exchanges, made by versions that had none."""
    return engine.run("select * from captures where exchanged = 0 order by num")


def mark_exchanged(engine: Engine, num: int) -> None:
    """Record that the messages of a session were turned into exchanges."""
    engine.run("update captures set exchanged = 1 where num = :num", num=num)


def count_sessions(engine: Engine) -> int:
    """Count all sessions but subagents."""
    return int(engine.run(_COUNT)[0]["n"])


def list_captured(engine: Engine, limit: int, after: int = 0, *, everything: bool = False, **filters: Any) -> list[Row]:
    """Return sessions with a transcript or messages, or everything, the last active first; filters are columns."""
    conditions = {
        "flavor": "and s.flavor = :flavor", "project": "and s.project = :project",
        "domain": "and s.domain = :domain",
        "since": "and coalesce(c.last_at, s.last_heartbeat) >= :since",
        "until": "and coalesce(c.started_at, s.started_at) < :until",
        "outcome": "and coalesce(d.corrected, d.outcome) = :outcome",
        "session": "and s.id = :session", "parent": "and c.parent = :parent",
        "relation": "and coalesce(c.relation, '') <> 'subagent'",
    }  # fmt: skip
    chosen = {name: value for name, value in filters.items() if value is not None}
    base = "1 = 1" if everything else _REMEMBERS
    sql = _LISTED.format(conditions=" ".join([base, *(conditions[name] for name in chosen)]))
    chosen.pop("relation", None)
    return engine.run(sql, limit=limit, after=after, **chosen)


def list_earlier_forks(engine: Engine, parent: str, capture: int, started_at: int) -> list[int]:
    """Return the other forks of a session that began before one of them."""
    sql = """
select num from captures
 where parent = :parent and relation = 'fork' and num <> :capture
   and (coalesce(started_at, 0) < :started_at or (coalesce(started_at, 0) = :started_at and num < :capture))
 order by num
"""
    return [row["num"] for row in engine.run(sql, parent=parent, capture=capture, started_at=started_at)]
