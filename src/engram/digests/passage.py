"""A digest as it is searched: its facts in one text."""

from __future__ import annotations

from typing import Any

import orjson

from engram.hub import Hub
from engram.store import captures, digests, news, passages, sessions

_LISTS = (("then", "Then"), ("changed", "Changed"), ("read", "Read"), ("errors", "Errors"), ("commits", "Commits"),
          ("corrections", "Corrections"), ("notable", "Notable"), ("open", "Open"), ("ended", "Ended"))  # fmt: skip


def make_findable(hub: Hub) -> None:
    """Let digests that are new be found."""
    for row in news.waiting(hub.engine, news.FIND):
        session = sessions.get(hub.engine, row["key"])
        capture = captures.of_session(hub.engine, row["key"])
        found = digests.of_capture(hub.engine, capture["num"]) if capture else None
        with hub.engine.transaction():
            if session and capture and found:  # else deleted meanwhile
                content = text(orjson.loads(found["facts"]), found["corrected"] or found["outcome"])
                passages.put(
                    hub.engine, "digest", session["id"], [content], at=capture["last_at"] or session["started_at"],
                    session_id=session["id"], project=session["project"],
                )  # fmt: skip
            news.settle(hub.engine, news.FIND, row)


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
