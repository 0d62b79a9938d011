"""Make digests anew from captured events: after the rules changed, or when an event said something else than before."""

from __future__ import annotations

from collections.abc import Iterator

from engram.digests.bodies import Bodies
from engram.digests.fold import VERSION, Fold
from engram.digests.keep import begin, load, save
from engram.errors import BodyGone, StoreDamaged
from engram.hub import Hub
from engram.store import blobs, captures, digests, events, sessions


def remake(hub: Hub, capture: int) -> None:
    """Make the digest of one session anew; once bodies of it are dropped, go on with the one there is."""
    row = captures.get(hub.engine, capture)
    fold, wanted = _start(hub, capture)
    session = sessions.get(hub.engine, row["session_id"])
    fold.locate(session["cwd"] if session else None)
    bodies = Bodies(hub)
    for each in events.of_capture(hub.engine, capture):
        if each["blob"] in wanted:
            fold.feed(bodies.event(each))
    with hub.engine.transaction():
        save(hub.engine, capture, fold, row["batches"], hub.now())
        captures.mark_due(hub.engine, capture, False)


def _start(hub: Hub, capture: int) -> tuple[Fold, set[int]]:
    """Return what to begin with and the bodies to read: what is dropped, only the old digest knows."""
    found = blobs.of_capture(hub.engine, capture)
    here = {row["num"]: row["batch"] for row in found if row["evicting_at"] is None}
    known = digests.of_capture(hub.engine, capture)
    if known is None or len(here) == len(found):
        return begin(known), set(here)
    return load(hub.engine, capture), {num for num, batch in here.items() if batch > known["through"]}


def remake_due(hub: Hub) -> Iterator[int]:
    """Make every digest anew that is out of date, while its bodies are here; yield each session done."""
    outdated = digests.outdated(hub.engine, VERSION)
    for capture in dict.fromkeys([*(row["num"] for row in captures.due(hub.engine)), *outdated]):
        try:
            remake(hub, capture)
        except (BodyGone, StoreDamaged):
            continue  # `engram check` names it; the digest there is stays
        yield capture
