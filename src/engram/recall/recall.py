"""Recall: find what was said, done or seen in any captured session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

from engram.clock import moment
from engram.coordination import sessions
from engram.digests.bodies import Bodies
from engram.errors import BodyGone, StoreDamaged
from engram.hub import Hub
from engram.model import Hit
from engram.operation import Help, operation
from engram.store import events, index
from engram.text import clean, one_line

_MOST = 1000  # hits of one question
_AROUND = 90  # characters before and after the first word that was found


@operation()
def recall(
    hub: Hub,
    query: Annotated[str, Help("words to find; any text is fine")],
    k: Annotated[int, Help("at most so many hits")] = 5,
) -> list[Hit]:
    """Show the captured events that hold all words of a query, best first."""
    found = index.find(hub.engine, clean("query", query), min(sessions.positive("k", k), _MOST))
    if not found:
        return []
    rows = {row["id"]: row for row in events.by_id(hub.engine, [each["id"] for each in found])}
    bodies = Bodies(hub)
    return [_hit(bodies, rows[each["id"]], query, each["score"]) for each in found if each["id"] in rows]


def _hit(bodies: Bodies, row: dict[str, Any], query: str, score: float) -> Hit:
    return Hit(
        session_id=row["session_id"], event=row["id"], kind=row["kind"], role=row["role"], name=row["name"],
        at=moment(row["at"]) if row["at"] else None, snippet=_snippet(bodies, row, query), score=round(float(score), 3),
        flavor=row["flavor"], project=row["project"], summary=row["summary"],
    )  # fmt: skip


def _snippet(bodies: Bodies, row: dict[str, Any], query: str) -> str:
    """Return the part of an event around the first word that was found."""
    try:
        event = bodies.event(row)
    except (BodyGone, StoreDamaged):
        return ""
    text = event.text or " ".join(_texts(event.arguments))
    words = re.findall(r"\w+", query)
    place = re.search("|".join(map(re.escape, words)), text, re.IGNORECASE) if words else None
    start = max(place.start() - _AROUND, 0) if place else 0
    piece = one_line(text[start : start + 2 * _AROUND + 40], 2 * _AROUND + 40)
    return f"{'…' if start else ''}{piece}{'…' if start + 2 * _AROUND + 40 < len(text) else ''}"


def _texts(given: Any) -> Iterator[str]:
    """Yield what a call was given, piece by piece, however deep it is nested."""
    waiting = [given]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict | list):
            waiting += reversed([*(each.values() if isinstance(each, dict) else each)])
        elif each is not None:
            yield str(each)
