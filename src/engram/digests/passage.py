"""A digest as it is searched: its facts in one text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from engram.hub import Hub
from engram.store import captures, digests, passages, sessions

_LISTS = (("then", "Then"), ("changed", "Changed"), ("read", "Read"), ("errors", "Errors"), ("commits", "Commits"),
          ("corrections", "Corrections"), ("notable", "Notable"), ("open", "Open"), ("ended", "Ended"))  # fmt: skip


def make_findable(hub: Hub, nums: Iterable[int]) -> None:
    """Let the digests of captured sessions be found."""
    for num in nums:
        found = digests.of_capture(hub.engine, num)
        capture = captures.get(hub.engine, num) if found else None  # else deleted meanwhile
        session = sessions.get(hub.engine, capture["session_id"]) if capture else None
        if found is None or capture is None or session is None:
            continue
        content = text(orjson.loads(found["facts"]), found["corrected"] or found["outcome"])
        with hub.engine.transaction():
            passages.put(
                hub.engine, "digest", session["id"], [content], at=capture["last_at"] or session["started_at"],
                session_id=session["id"], project=session["project"],
            )  # fmt: skip


def text(facts: dict[str, Any], outcome: str) -> str:
    """Return the facts of a digest as a person would say them."""
    lines = [f"Goal: {facts.get('goal') or 'unknown'}", f"Outcome: {outcome}"]
    lines += [f"{title}: {_said(facts[name])}" for name, title in _LISTS if facts.get(name)]
    return "\n".join(lines)


def _said(given: Any) -> str:
    if isinstance(given, dict):
        return ", ".join(f"{name} {each}" if not isinstance(each, bool) else str(name) for name, each in given.items())
    if isinstance(given, list):
        return "; ".join(_said(each) for each in given)
    return str(given)
