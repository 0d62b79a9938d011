"""Events of agents that were answered, so that none is answered twice."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine

BRIEFED = "briefed"  # an event of our own: the session was told what helps at its start
EVER = 7 * 24 * 3600 * 1_000_000  # microseconds; by then nobody asks again

_FIRST = """
insert into answered (flavor, native_id, event, turn, at) values (:flavor, :native_id, :event, :turn, :now)
on conflict (flavor, native_id, event, turn) do update set at = excluded.at where answered.at < :now - :span
returning at
"""


def first(engine: Engine, flavor: str, native_id: str, event: str, turn: str, now: int, span: int) -> bool:
    """Tell whether an event is met for the first time in a span, and remember it."""
    facts = {"flavor": flavor, "native_id": native_id, "event": event, "turn": turn, "now": now, "span": span}
    return bool(engine.run(_FIRST, **facts))


def forget(engine: Engine, before: int) -> None:
    """Drop what is too old to come again."""
    engine.run("delete from answered where at < :before", before=before)
