"""Rebuild digests from captured events, after the rules or an event changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from engram.capture.digests.event_bodies import EventBodies
from engram.capture.digests.fold import VERSION, Fold
from engram.capture.digests.passage import index_digests
from engram.capture.digests.rebuild_report import RebuiltDigests
from engram.capture.digests.storage import create_fold, load_fold, save_fold
from engram.capture.sweep_lock import wait_for_sweep_lock
from engram.errors import BodyGone, StoreDamaged
from engram.hub import Hub
from engram.store import blobs, captures, cases, digests, episodes, events, session_errors, sessions, task_runs

Progress: TypeAlias = Callable[[str, int, int], None]  # activity, amount done, total

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row

PASS_BYTES = 16 << 20  # transcripts whose digests one ingest rebuilds after the rules changed: about half a second
_EACH = 64 << 10  # counted for every session besides its size


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
        task_runs.delete_by_capture(hub.engine, capture)
        save_fold(hub.engine, capture, fold, row["batches"], hub.now())
        episodes.delete_after(hub.engine, capture, fold.episodes.number)
        cases.delete_after(hub.engine, capture, fold.episodes.number)
        captures.mark_digest_due(hub.engine, capture, False)


def _start_fold(hub: Hub, capture: int) -> tuple[Fold, set[int]]:
    """Return the digest to start from and the bodies to read: dropped bodies are only in the old digest."""
    blob_rows = blobs.list_by_capture(hub.engine, capture)
    present = {row["num"]: row["batch"] for row in blob_rows if row["evicting_at"] is None}
    current = digests.find_by_capture(hub.engine, capture)
    if current is None or len(present) == len(blob_rows):
        return create_fold(current), set(present)
    return load_fold(hub.engine, capture), {num for num, batch in present.items() if batch > current["through"]}


def rebuild_due(hub: Hub, budget: int | None = None) -> Iterator[int]:
    """Rebuild digests whose bodies are still stored; yield the capture numbers.

    Sessions whose events changed are always rebuilt; of those with older rules, the latest, until `budget` bytes of
    transcripts are done. The others keep their digest until a later pass.
    """
    for row in captures.list_digest_due(hub.engine):
        yield from _try_to_rebuild(hub, row["num"])
    for row in list_outdated(hub):
        if budget is not None and budget <= 0:
            return
        for capture in _try_to_rebuild(hub, row["capture"]):
            budget = None if budget is None else budget - row["read_bytes"] - _EACH
            yield capture


def _try_to_rebuild(hub: Hub, capture: int) -> Iterator[int]:
    try:
        rebuild_digest(hub, capture)
    except (BodyGone, StoreDamaged):
        return  # `engram check` reports it; the old digest stays
    yield capture


def rebuild_all(hub: Hub, progress: Progress | None = None) -> RebuiltDigests:
    """Rebuild every outdated digest, a few at a time, so that an ingest need not wait for all."""
    total, done, is_done = len(list_outdated(hub)), 0, False
    while not is_done:
        is_done = True
        with wait_for_sweep_lock(hub.settings.home):
            for _ in rebuild_due(hub, PASS_BYTES):
                done, is_done = done + 1, False
                if progress:
                    progress("rebuilding digests", done, max(total, done))
            index_digests(hub)
    return RebuiltDigests(rebuilt=done, left=len(list_outdated(hub)))


def list_outdated(hub: Hub) -> list[Row]:
    """Return the sessions whose digest was made by older rules and can be rebuilt, the latest first."""
    return digests.list_outdated(hub.engine, VERSION)
