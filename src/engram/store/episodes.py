"""Episodes of sessions, and the decisions, causes and open items in them."""

from __future__ import annotations

from engram.store import captures
from engram.store.engine import run_for_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from engram.store.engine import Engine, Row

_SESSIONS_AT_ONCE = 50

_PUT = """
insert into episodes (capture, number, started_at, ended_at, title, result, facts)
values (:capture, :number, :started_at, :ended_at, :title, :result, :facts)
on conflict (capture, number) do update set
  started_at = excluded.started_at, ended_at = excluded.ended_at, title = excluded.title, result = excluded.result,
  facts = excluded.facts
"""

_PUT_ITEM = """
insert into evidence_items (id, capture, episode, kind, at, text, words, facts)
values (:id, :capture, :episode, :kind, :at, :text, :words, :facts)
on conflict (id) do update set episode = excluded.episode, at = excluded.at, facts = excluded.facts
"""

_OF_CAPTURE = "select * from episodes where capture = :capture order by number"

_ITEMS = """
select i.*, c.session_id, s.project, s.flavor, e.title, e.result
  from evidence_items i join captures c on c.num = i.capture join sessions s on s.id = c.session_id
  join episodes e on e.capture = i.capture and e.number = i.episode
 where i.kind = :kind{conditions}
 order by i.at desc, i.id limit :limit
"""

# Of the last episode of its session: what an earlier one left open was mostly done in the next.
_AT_END = " and i.episode = (select max(m.number) from episodes m where m.capture = i.capture)"

# A bound, because it runs in a hook.
_COUNT_RECENT = """
select count(distinct i.text) as n
  from (select capture, text from evidence_items where kind = :kind and superseded_by is null
         order by at desc limit 1000) i
  join captures c on c.num = i.capture join sessions s on s.id = c.session_id
 where s.project = :project
"""

_OLDER = """
select i.id, i.capture, i.episode, i.words, i.text
  from evidence_items i join captures c on c.num = i.capture join sessions s on s.id = c.session_id
 where i.kind = 'decision' and i.superseded_by is null and i.at < :at and s.project = :project
   and not (i.capture = :capture and i.episode = :episode)
 order by i.at desc limit :limit
"""


# The episodes of some sessions.
_RECENT = """
select e.*, s.id as session_id, s.branch, s.flavor
  from episodes e join captures c on c.num = e.capture join sessions s on s.id = c.session_id
 where e.capture in ({slots})
"""

# The episodes that began in a span of time, without those of subagents, oldest first.
_BETWEEN = """
select e.*, s.id as session_id, s.project, s.branch, s.flavor
  from episodes e join captures c on c.num = e.capture join sessions s on s.id = c.session_id
 where e.started_at >= :since and e.started_at < :until and coalesce(c.relation, '') <> 'subagent'
 order by e.started_at, e.capture, e.number
"""

# The last episodes of all projects, without those of subagents.
_LAST = """
select e.*, s.id as session_id, s.flavor, s.project
  from episodes e join captures c on c.num = e.capture join sessions s on s.id = c.session_id
 where coalesce(c.relation, '') <> 'subagent'
 order by e.ended_at desc limit :limit
"""

# Of one session: an expression, so that the index by time, which has the items of all sessions, is not used.
_KIND, _KIND_IN_SESSION = "where i.kind = :kind", "where coalesce(i.kind, '') = :kind"

# Decisions that say that they change an earlier one, made after a time.
_AMENDING = """
select i.id, i.capture, i.episode, i.words, i.text, i.at, e.title, e.facts
  from evidence_items i join captures c on c.num = i.capture join sessions s on s.id = c.session_id
  join episodes e on e.capture = i.capture and e.number = i.episode
 where i.kind = 'decision' and i.at > :at and s.project = :project and i.facts like :amends
 order by i.at limit :limit
"""

_PLACED = """
select e.capture, e.number, e.started_at, e.ended_at, e.title, e.result{facts}, k.id as case_id, c.session_id,
       c.relation, s.project, s.flavor, s.summary
  from episodes e join captures c on c.num = e.capture join sessions s on s.id = c.session_id
  join cases k on k.capture = e.capture and k.number = e.number
 where {column} in ({{slots}}) order by c.session_id, e.number
"""


def save(engine: Engine, rows: Sequence[Row]) -> None:
    """Save episodes, replacing the ones with the same number."""
    engine.run_many(_PUT, rows)


def list_by_capture(engine: Engine, capture: int) -> list[Row]:
    """Return the episodes of a session in order."""
    return engine.run(_OF_CAPTURE, capture=capture)


def list_recent(engine: Engine, project: str, exclude: str, limit: int) -> list[Row]:
    """Return the last episodes of a project except those of one session, newest first."""
    numbers = captures.list_last_numbers(engine, project, limit, exclude=exclude)
    rows: list[Row] = []
    while numbers and len(rows) < limit:
        rows += run_for_ids(engine, _RECENT, numbers[:_SESSIONS_AT_ONCE])
        numbers = numbers[_SESSIONS_AT_ONCE:]
    return sorted(rows, key=lambda row: -(row["ended_at"] or 0))[:limit]


def list_between(engine: Engine, since: int, until: int) -> list[Row]:
    """Return the episodes that began in a span of time, oldest first."""
    return engine.run(_BETWEEN, since=since, until=until)


def list_last(engine: Engine, limit: int) -> list[Row]:
    """Return the last episodes of all projects, newest first."""
    return engine.run(_LAST, limit=limit)


def get(engine: Engine, capture: int, number: int) -> Row | None:
    """Return one episode of a session."""
    rows = engine.run(
        "select * from episodes where capture = :capture and number = :number", capture=capture, number=number
    )
    return rows[0] if rows else None


def list_by_sessions(engine: Engine, session_ids: Sequence[str]) -> list[Row]:
    """Return the episodes of sessions in order, without their facts, with the number of their case."""
    return run_for_ids(engine, _PLACED.format(facts="", column="c.session_id"), session_ids)


def list_by_cases(engine: Engine, case_ids: Sequence[int]) -> list[Row]:
    """Return the episodes of cases, with their facts."""
    return run_for_ids(engine, _PLACED.format(facts=", e.facts", column="k.id"), case_ids)


def list_superseded_texts(engine: Engine, capture: int, number: int) -> set[str]:
    """Return the decisions of an episode that newer ones replaced."""
    sql = "select text from evidence_items where capture = :capture and episode = :number and superseded_by is not null"
    return {row["text"] for row in engine.run(sql, capture=capture, number=number)}


def save_items(engine: Engine, capture: int, episode: int, rows: Sequence[Row]) -> None:
    """Save the items of one episode; those it no longer has are removed."""
    kept = {row["id"] for row in rows}
    current = engine.run(
        "select id from evidence_items where capture = :capture and episode = :episode",
        capture=capture,
        episode=episode,
    )
    delete_items(engine, [row["id"] for row in current if row["id"] not in kept])
    engine.run_many(_PUT_ITEM, rows)


def delete_items(engine: Engine, ids: Sequence[str]) -> None:
    """Remove items."""
    run_for_ids(engine, "delete from evidence_items where id in ({slots})", ids)


def delete_after(engine: Engine, capture: int, number: int) -> None:
    """Remove the episodes of a session after one, and their items."""
    for table, column in (("evidence_items", "episode"), ("episodes", "number")):
        engine.run(
            f"delete from {table} where capture = :capture and {column} > :number", capture=capture, number=number
        )


def list_items(engine: Engine, kind: str, limit: int, **filters: Any) -> list[Row]:
    """Return items of one kind, newest first; filters are `project`, `session_id`, `since`, `in_force` and `at_end`."""
    conditions = {
        "project": " and s.project = :project", "session_id": " and c.session_id = :session_id",
        "since": " and i.at >= :since", "in_force": " and i.superseded_by is null", "at_end": _AT_END,
    }  # fmt: skip
    chosen = {name: setting for name, setting in filters.items() if setting not in (None, False)}
    sql = _ITEMS.format(conditions="".join(conditions[name] for name in chosen))
    sql = sql.replace(_KIND, _KIND_IN_SESSION) if "session_id" in chosen else sql
    for name in ("in_force", "at_end"):
        chosen.pop(name, None)
    return engine.run(sql, kind=kind, limit=limit, **chosen)


def count_recent_items(engine: Engine, project: str, kind: str) -> int:
    """Return how many of the last decisions in force or open items of all projects belong to one."""
    return int(engine.run(_COUNT_RECENT, project=project, kind=kind.partition(" ")[0])[0]["n"])


def list_older_decisions(
    engine: Engine, project: str, at: int, capture: int, episode: int, limit: int
) -> list[Row]:  # fmt: skip
    """Return the decisions in force that a project had before a time, newest first."""
    return engine.run(_OLDER, project=project, at=at, capture=capture, episode=episode, limit=limit)


def list_amending_decisions(engine: Engine, project: str, at: int, limit: int) -> list[Row]:
    """Return the decisions of a project after a time that say that they change an earlier one, oldest first."""
    return engine.run(_AMENDING, project=project, at=at, limit=limit, amends='%"amends":true%')


def mark_superseded_each(engine: Engine, replaced: dict[str, str]) -> None:
    """Mark each item as superseded by the one given for it, if that is stored."""
    sql = (
        "update evidence_items set superseded_by = :by where id = :id"
        " and exists (select 1 from evidence_items n where n.id = :by)"
    )
    engine.run_many(sql, [{"id": item, "by": by} for item, by in replaced.items()])


def mark_superseded(engine: Engine, ids: Sequence[str], by: str) -> None:
    """Mark decisions as superseded by a newer one."""
    run_for_ids(engine, "update evidence_items set superseded_by = :by where id in ({slots})", ids, by=by)
