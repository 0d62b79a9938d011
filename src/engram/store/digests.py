"""Digests: the computed facts of each session."""

from __future__ import annotations

from typing import Any

from engram.store import dream_inbox
from engram.store.engine import run_for_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Engine, Row


_PUT = """
insert into digests (capture, version, made_at, through, facts, state, outcome, confidence)
values (:capture, :version, :now, :through, :facts, :state, :outcome, :confidence)
on conflict (capture) do update set
  version = excluded.version, made_at = excluded.made_at, through = excluded.through, facts = excluded.facts,
  state = excluded.state, outcome = excluded.outcome, confidence = excluded.confidence
"""

_CORRECT = """
update digests set corrected = :outcome, corrected_by = :who, corrected_at = :now where capture = :capture returning *
"""

_OF_SESSIONS = """
select d.facts, coalesce(d.corrected, d.outcome) as outcome, d.confidence, c.session_id, c.last_at, c.relation,
       c.started_at, s.project, s.flavor, s.branch
  from digests d join captures c on c.num = d.capture join sessions s on s.id = c.session_id
 where c.session_id in ({slots})
"""

_OF_PROJECT = """
select d.state, s.cwd from sessions s join captures c on c.session_id = s.id join digests d on d.capture = c.num
 where s.project = :project and d.state is not null order by c.last_at desc limit :limit
"""

# A digest made by older rules is rebuilt while all of its bodies are still stored; the latest sessions come first.
_OUTDATED = """
select d.capture, c.read_bytes from digests d join captures c on c.num = d.capture where d.version < :version
   and not exists (select 1 from blobs b where b.capture = d.capture and b.evicting_at is not null)
 order by c.last_at desc, d.capture desc
"""


_SESSION = """
select c.session_id, s.project from captures c join sessions s on s.id = c.session_id where c.num = :capture
"""


def save(engine: Engine, **facts: Any) -> None:
    """Save the digest of a session, replacing the old one; a person's correction stays."""
    engine.run(_PUT, **facts)
    session = engine.run(_SESSION, capture=facts["capture"])[0]
    if session["project"]:
        dream_inbox.mark_new(engine, dream_inbox.COMPILE, [session["project"]], facts["now"])
    for step in (dream_inbox.FIND, dream_inbox.DETECT, dream_inbox.REFLECT):
        dream_inbox.mark_new(engine, step, [session["session_id"]], facts["now"])


def find_by_capture(engine: Engine, capture: int) -> Row | None:
    """Return the digest of a session."""
    rows = engine.run("select * from digests where capture = :capture", capture=capture)
    return rows[0] if rows else None


def list_by_sessions(engine: Engine, session_ids: Sequence[str]) -> list[Row]:
    """Return the digests of sessions with facts about them, last active first."""
    rows = run_for_ids(engine, _OF_SESSIONS, session_ids)
    return sorted(rows, key=lambda row: (-(row["last_at"] or 0), row["session_id"]))


def list_states_by_project(engine: Engine, project: str, limit: int) -> list[Row]:
    """Return what is known of a project's last sessions, with their directories."""
    return engine.run(_OF_PROJECT, project=project, limit=limit)


def set_outcome(engine: Engine, capture: int, outcome: str | None, who: str | None, now: int) -> Row | None:
    """Set or remove a person's correction of the outcome."""
    rows = engine.run(_CORRECT, capture=capture, outcome=outcome, who=who, now=now)
    return rows[0] if rows else None


def list_outdated(engine: Engine, version: int) -> list[Row]:
    """Return the sessions whose digest was made by older rules and can be rebuilt, with their size."""
    return engine.run(_OUTDATED, version=version)


def sum_bytes(engine: Engine) -> int:
    """Return the total size of all digests in bytes."""
    row = engine.run("select coalesce(sum(length(facts) + coalesce(length(state), 0)), 0) as total from digests")[0]
    return int(row["total"])
