"""Create exchanges for sessions captured by versions without exchanges."""

from __future__ import annotations

from typing import Any

from engram.capture.batch import build_exchange_row, is_exchange
from engram.capture.digests.event_bodies import EventBodies
from engram.errors import BodyGone, StoreDamaged
from engram.hub import Hub
from engram.store import captures, event_words, events, exchanges


def backfill_exchanges(hub: Hub) -> int:
    """Turn messages of such sessions into exchanges, one session at a time; return the number of sessions."""
    due = captures.list_without_exchanges(hub.engine)
    bodies = EventBodies(hub) if due else None
    for capture in due:
        rows = _build_exchanges(hub, bodies, capture) if bodies else []
        with hub.engine.transaction():
            exchanges.add_events(hub.engine, rows)
            event_words.unindex_events(hub.engine, [row["event"] for row in rows])
            event_words.index_events(hub.engine, [{"id": row["event"], "words": ""} for row in rows])
            captures.mark_exchanged(hub.engine, capture["num"])
    return len(due)


def _build_exchanges(hub: Hub, bodies: EventBodies, capture: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the exchanges of a session whose bodies are still stored."""
    built, now = [], hub.now()
    for row in events.list_by_capture(hub.engine, capture["num"]):
        if row["kind"] == "message":
            try:
                event = bodies.load_event(row)
            except (BodyGone, StoreDamaged):
                continue
            if is_exchange(event):
                built.append(
                    build_exchange_row(row["id"], event, capture["session_id"], now, capture["started_at"] or now)
                )
    return sorted(built, key=lambda row: int(row["event"]))
