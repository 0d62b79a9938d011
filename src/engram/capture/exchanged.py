"""Make exchanges of sessions that were captured before there were any."""

from __future__ import annotations

from typing import Any

from engram.capture.batch import exchange, is_exchange
from engram.digests.bodies import Bodies
from engram.errors import BodyGone, StoreDamaged
from engram.hub import Hub
from engram.store import captures, event_words, events, exchanges


def exchange_due(hub: Hub) -> int:
    """Turn messages captured earlier into exchanges, one session at a time, and return how many sessions that were."""
    due = captures.unexchanged(hub.engine)
    bodies = Bodies(hub) if due else None
    for capture in due:
        rows = _exchanges(hub, bodies, capture) if bodies else []
        with hub.engine.transaction():
            exchanges.add_events(hub.engine, rows)
            event_words.drop(hub.engine, [row["event"] for row in rows])
            event_words.add(hub.engine, [{"id": row["event"], "words": ""} for row in rows])
            captures.mark_exchanged(hub.engine, capture["num"])
    return len(due)


def _exchanges(hub: Hub, bodies: Bodies, capture: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what was said in a session, as far as its bodies are here."""
    found, now = [], hub.now()
    for row in events.of_capture(hub.engine, capture["num"]):
        if row["kind"] == "message":
            try:
                event = bodies.event(row)
            except (BodyGone, StoreDamaged):
                continue
            if is_exchange(event):
                found.append(exchange(row["id"], event, capture["session_id"], now, capture["started_at"] or now))
    return sorted(found, key=lambda row: int(row["event"]))
