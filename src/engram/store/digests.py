"""Digests: the computed facts of each session."""

from __future__ import annotations

from typing import Any

from engram.store import news
from engram.store.engine import among

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

# A digest by older rules is made anew while all of its bodies are still here.
_OUTDATED = """
select d.capture from digests d where d.version < :version
   and not exists (select 1 from blobs b where b.capture = d.capture and b.evicting_at is not null)
 order by d.capture
"""


def put(engine: Engine, **facts: Any) -> None:
    """Write the digest of a session, in place of the one before; a person's word on it stays."""
    engine.run(_PUT, **facts)
    session = engine.run("select session_id from captures where num = :capture", capture=facts["capture"])[0]
    for step in (news.FIND, news.DETECT, news.REFLECT):
        news.note(engine, step, [session["session_id"]], facts["now"])


def of_capture(engine: Engine, capture: int) -> Row | None:
    """Return the digest of a session."""
    rows = engine.run("select * from digests where capture = :capture", capture=capture)
    return rows[0] if rows else None


def of_sessions(engine: Engine, session_ids: Sequence[str]) -> list[Row]:
    """Return the digests of sessions, with what is known of these, those that went on last in front."""
    found = among(engine, _OF_SESSIONS, session_ids)
    return sorted(found, key=lambda row: (-(row["last_at"] or 0), row["session_id"]))


def correct(engine: Engine, capture: int, outcome: str | None, who: str | None, now: int) -> Row | None:
    """Set a person's word on the outcome, or take it back."""
    rows = engine.run(_CORRECT, capture=capture, outcome=outcome, who=who, now=now)
    return rows[0] if rows else None


def outdated(engine: Engine, version: int) -> list[int]:
    """Return the sessions whose digest older rules made, and that can be made anew."""
    return [row["capture"] for row in engine.run(_OUTDATED, version=version)]


def total_bytes(engine: Engine) -> int:
    """Return how much all digests take."""
    row = engine.run("select coalesce(sum(length(facts) + coalesce(length(state), 0)), 0) as total from digests")[0]
    return int(row["total"])
