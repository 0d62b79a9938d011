"""The list of all sessions: running ones first, then the past, with or without a transcript."""

from __future__ import annotations

from typing import Any

from engram.capture.digests.transcript import captures_from_rows, parse_filters
from engram.hub import Hub
from engram.sessions import lifecycle
from engram.store import captures
from engram.types import Capture, SessionEntry

_ALL = 1_000_000
_MAX_RUNNING = 1000
_RUNNING = ("here", "stale")  # presence of a session whose process may still work


def list_all_sessions(
    hub: Hub, project: str | None = None, *, limit: int, min_cost: float | None = None, **filters: Any
) -> list[SessionEntry]:
    """Return sessions, running ones first, then by their last activity."""
    names = ("flavor", "outcome", "days", "since", "until", "domain")
    chosen = parse_filters(
        hub, project=project, subagents=bool(filters.get("subagents")), **{name: filters.get(name) for name in names}
    )
    running = {
        session.id
        for session in lifecycle.get_active_sessions(hub, project, _MAX_RUNNING)
        if session.presence in _RUNNING
    }
    rows = captures.list_captured(hub.engine, _ALL if min_cost else limit, everything=True, **chosen)
    listed_ids = {row["id"] for row in rows}
    for session_id in running - listed_ids:  # quiet for so long that newer sessions fill the list
        rows += captures.list_captured(hub.engine, 1, everything=True, **chosen, session=session_id)
    entries = [_build_entry(capture, running) for capture in captures_from_rows(hub, rows)]
    chosen_entries = [entry for entry in entries if entry.money >= (min_cost or 0.0)]
    return sorted(chosen_entries, key=lambda entry: not entry.running)[:limit]


def count_sessions(hub: Hub) -> int:
    """Count all sessions but subagents."""
    return captures.count_sessions(hub.engine)


def _build_entry(capture: Capture, running: set[str]) -> SessionEntry:
    session = capture.session
    return SessionEntry(
        session=session,
        running=session.id in running,
        title=capture.title or session.summary,
        last_at=capture.last_at or session.last_heartbeat,
        outcome=capture.outcome,
        events=capture.events,
        tokens=capture.tokens,
        money=capture.money,
        unpriced=capture.unpriced,
    )
