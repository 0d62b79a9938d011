"""Rebuild digests from captured events, after the rules or an event changed."""

from __future__ import annotations

from collections.abc import Iterator

from engram.capture.digests.event_bodies import EventBodies
from engram.capture.digests.fold import VERSION, Fold
from engram.capture.digests.storage import create_fold, load_fold, save_fold
from engram.errors import BodyGone, StoreDamaged
from engram.hub import Hub
from engram.store import blobs, captures, digests, episodes, events, session_errors, sessions


def rebuild_digest(hub: Hub, capture: int) -> None:
    """Rebuild the digest of one session; if some of its bodies were dropped, continue the existing one."""
    row = captures.get(hub.engine, capture)
    fold, blob_numbers = _start_fold(hub, capture)
    session = sessions.get(hub.engine, row["session_id"])
    fold.set_cwd(session["cwd"] if session else None)
    fold.set_relation(row["relation"])
    bodies = EventBodies(hub)
    for event_row in events.list_by_capture(hub.engine, capture):
        if event_row["blob"] in blob_numbers:
            fold.add_event(bodies.load_event(event_row))
    with hub.engine.transaction():
        session_errors.delete_by_capture(hub.engine, capture)
        save_fold(hub.engine, capture, fold, row["batches"], hub.now())
        episodes.delete_after(hub.engine, capture, fold.episodes.number)
        captures.mark_digest_due(hub.engine, capture, False)


def _start_fold(hub: Hub, capture: int) -> tuple[Fold, set[int]]:
    """Return the digest to start from and the bodies to read: dropped bodies are only in the old digest."""
    blob_rows = blobs.list_by_capture(hub.engine, capture)
    present = {row["num"]: row["batch"] for row in blob_rows if row["evicting_at"] is None}
    current = digests.find_by_capture(hub.engine, capture)
    if current is None or len(present) == len(blob_rows):
        return create_fold(current), set(present)
    return load_fold(hub.engine, capture), {num for num, batch in present.items() if batch > current["through"]}


def rebuild_due(hub: Hub) -> Iterator[int]:
    """Rebuild every outdated digest whose bodies are still stored; yield the capture numbers."""
    outdated = digests.list_outdated(hub.engine, VERSION)
    for capture in dict.fromkeys([*(row["num"] for row in captures.list_digest_due(hub.engine)), *outdated]):
        try:
            rebuild_digest(hub, capture)
        except (BodyGone, StoreDamaged):
            continue  # `engram check` reports it; the old digest stays
        yield capture
