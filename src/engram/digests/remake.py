"""Make digests anew from captured events: after the rules changed, or when an event said something else than before."""

from __future__ import annotations

from collections.abc import Iterator

from engram.digests.bodies import Bodies
from engram.digests.fold import VERSION, Fold
from engram.digests.keep import save
from engram.errors import BodyGone, StoreDamaged
from engram.hub import Hub
from engram.store import captures, digests, sessions


def remake(hub: Hub, capture: int) -> None:
    """Make the digest of one session anew."""
    row = captures.get(hub.engine, capture)
    fold = Fold()
    session = sessions.get(hub.engine, row["session_id"])
    fold.locate(session["cwd"] if session else None)
    for event in Bodies(hub).of_capture(capture):
        fold.feed(event)
    with hub.engine.transaction():
        save(hub.engine, capture, fold, row["batches"], hub.now())
        captures.mark_due(hub.engine, capture, False)


def remake_due(hub: Hub) -> Iterator[int]:
    """Make every digest anew that is out of date, while its bodies are here; yield each session done."""
    outdated = digests.outdated(hub.engine, VERSION)
    for capture in dict.fromkeys([*(row["num"] for row in captures.due(hub.engine)), *outdated]):
        try:
            remake(hub, capture)
        except (BodyGone, StoreDamaged):
            continue  # `engram check` names it; the digest there is stays
        yield capture
