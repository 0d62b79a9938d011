"""Texts that hooks gave to agents unasked, with their sources, and what people say of them."""

from __future__ import annotations

from engram.store.engine import run_for_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Engine, Row

USEFUL, WRONG, NEVER = "useful", "wrong", "never"
VERDICTS = (USEFUL, WRONG, NEVER)

_ADD = """
insert into pushes (at, session_id, project, moment, reason, content, tokens, shown)
values (:at, :session_id, :project, :moment, :reason, :content, :tokens, :shown) returning id
"""

_TOLD = """
select distinct s.source from push_sources s join pushes p on p.id = s.push
 where p.session_id = :session_id and p.shown = 1
"""

_UNWANTED = """
select s.source, max(case when p.verdict = 'never' then :forever else p.judged_at end) as until
  from push_sources s join pushes p on p.id = s.push
 where p.project = :project and p.verdict in ('wrong', 'never')
 group by s.source
"""
_FOREVER = 2**62

_LIST = """
select p.*, s.flavor, s.summary from pushes p join sessions s on s.id = p.session_id
 where p.at >= :since{conditions} order by p.at desc, p.id desc limit :limit
"""


def add(engine: Engine, sources: Sequence[str], **facts: object) -> int:
    """Save a push with its sources and return its number."""
    push = int(engine.run(_ADD, **facts)[0]["id"])
    engine.run_many(
        "insert into push_sources (push, source) values (:push, :source) on conflict do nothing",
        [{"push": push, "source": source} for source in sources],
    )
    return push


def list_told_sources(engine: Engine, session_id: str) -> set[str]:
    """Return what a session was given already."""
    return {row["source"] for row in engine.run(_TOLD, session_id=session_id)}


def list_unwanted_sources(engine: Engine, project: str) -> dict[str, int]:
    """Return what a person does not want to be given in a project, with the time up to which that holds.

    What was called wrong may come again when something newer is known, what is never wanted may not.
    """
    return {row["source"]: row["until"] for row in engine.run(_UNWANTED, project=project, forever=_FOREVER)}


def list_recent(engine: Engine, since: int, limit: int, **filters: str) -> list[Row]:
    """Return pushes, newest first; filters are `project`, `session_id` and `moment`."""
    conditions = "".join(f" and p.{name} = :{name}" for name in filters)
    return engine.run(_LIST.format(conditions=conditions), since=since, limit=limit, **filters)


def list_by_ids(engine: Engine, ids: Sequence[int]) -> list[Row]:
    """Return pushes by their numbers."""
    sql = "select p.*, s.flavor, s.summary from pushes p join sessions s on s.id = p.session_id where p.id in ({slots})"
    return run_for_ids(engine, sql, ids)


def list_sources(engine: Engine, ids: Sequence[int]) -> dict[int, list[str]]:
    """Return the sources of pushes."""
    sources: dict[int, list[str]] = {}
    for row in run_for_ids(engine, "select * from push_sources where push in ({slots}) order by source", ids):
        sources.setdefault(row["push"], []).append(row["source"])
    return sources


def set_verdict(engine: Engine, push: int, verdict: str | None, now: int) -> Row | None:
    """Save what a person says of a push; None takes it back."""
    sql = "update pushes set verdict = :verdict, judged_at = :now where id = :push returning *"
    rows = engine.run(sql, push=push, verdict=verdict, now=now)
    return rows[0] if rows else None


def delete_before(engine: Engine, before: int) -> None:
    """Delete old pushes on which nobody gave a verdict."""
    engine.run("delete from pushes where at < :before and verdict is null", before=before)
