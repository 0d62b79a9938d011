"""Hook events already handled, so that none is handled twice."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine

BRIEFED = "briefed"  # our own event: the session got its briefing
WEEK = 7 * 24 * 3600 * 1_000_000  # microseconds; by then no event repeats

_FIRST = """
insert into answered (flavor, native_id, event, turn, at) values (:flavor, :native_id, :event, :turn, :now)
on conflict (flavor, native_id, event, turn) do update set at = excluded.at where answered.at < :now - :span
returning at
"""


def mark_first_time(engine: Engine, flavor: str, native_id: str, event: str, turn: str, now: int, span: int) -> bool:
    """Record an event; return whether it is the first within the time span."""
    facts = {"flavor": flavor, "native_id": native_id, "event": event, "turn": turn, "now": now, "span": span}
    return bool(engine.run(_FIRST, **facts))


def delete_before(engine: Engine, before: int) -> None:
    """Delete events too old to repeat."""
    engine.run("delete from answered where at < :before", before=before)
