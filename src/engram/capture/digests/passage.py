"""The searchable text of a digest."""

from __future__ import annotations

from typing import Any

import orjson

from engram.hub import Hub
from engram.store import captures, digests, dream_inbox, passages, sessions

_AT_ONCE = 50  # digests per transaction

_LISTS = (
    ("then", "Then"), ("decisions", "Decided"), ("causes", "Cause"), ("changed", "Changed"), ("read", "Read"),
    ("errors", "Errors"), ("commits", "Commits"), ("corrections", "Corrections"), ("notable", "Notable"),
    ("open", "Open"), ("ended", "Ended"),
)  # fmt: skip


def index_digests(hub: Hub) -> None:
    """Index new digests for recall."""
    waiting = dream_inbox.list_waiting(hub.engine, dream_inbox.FIND)
    for start in range(0, len(waiting), _AT_ONCE):
        with hub.engine.transaction():
            for row in waiting[start : start + _AT_ONCE]:
                _index_digest(hub, row["key"])
                dream_inbox.mark_done(hub.engine, dream_inbox.FIND, row)


def _index_digest(hub: Hub, session_id: str) -> None:
    session = sessions.get(hub.engine, session_id)
    capture = captures.find_by_session(hub.engine, session_id)
    digest = digests.find_by_capture(hub.engine, capture["num"]) if capture else None
    if session and capture and digest:  # else deleted in the meantime
        content = render_digest(orjson.loads(digest["facts"]), digest["corrected"] or digest["outcome"])
        passages.save_parts(
            hub.engine, "digest", session["id"], [content], at=capture["last_at"] or session["started_at"],
            session_id=session["id"], project=session["project"],
        )  # fmt: skip


def render_digest(facts: dict[str, Any], outcome: str) -> str:
    """Return the facts of a digest as readable text."""
    lines = [f"Goal: {facts.get('goal') or 'unknown'}", f"Outcome: {outcome}"]
    lines += [f"{title}: {_render_fact(facts[name])}" for name, title in _LISTS if facts.get(name)]
    return "\n".join(lines)


def _render_fact(fact: Any) -> str:
    if isinstance(fact, dict):
        return ", ".join(f"{name} {item}" if not isinstance(item, bool) else str(name) for name, item in fact.items())
    if isinstance(fact, list):
        return "; ".join(_render_fact(item) for item in fact)
    return str(fact)
