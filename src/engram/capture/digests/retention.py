"""Keep the bodies of events within a budget: digested sessions first, routine ones before rare ones.

Eviction has two steps. The mark is durable before a file is touched, and the store refuses to mark a body
without a digest; a crash in between is completed by the next pass. Because deleting needs disk space too, a full
disk first gives up the reserve file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engram.capture.digests.rebuild import rebuild_digest
from engram.capture.ingest_report import Retention
from engram.clock import HOUR
from engram.errors import BodyGone, StoreDamaged, StoreFull
from engram.hub import Hub
from engram.store import blobs, digests, event_words, events, reserve_file

DAY = 24 * HOUR
_STEP = 200
_ANY_TIME = (1 << 63) - 1  # no age limit: a wrong clock must not protect bodies from the budget


def evict(hub: Hub, *, whole: bool = True) -> Retention:
    """Evict until the store is within its budget, and report it; `whole` also measures the digests."""
    pass_ = _EvictionPass(hub, whole)
    try:
        return pass_.run()
    except StoreFull:
        if not reserve_file.free_space(hub.settings.home):
            raise
        return pass_.run()


def weigh_digests(hub: Hub) -> tuple[int, bool]:
    """Return the total bytes of all digests, and whether they exceed their cap."""
    total = digests.sum_bytes(hub.engine)
    return total, total > hub.settings.distilled_cap_bytes


class _EvictionPass:
    """One eviction pass."""

    def __init__(self, hub: Hub, whole: bool) -> None:
        self.hub, self.engine, self.settings = hub, hub.engine, hub.settings
        self.whole = whole
        self.bodies = blobs.BlobStore(hub.engine, hub.settings)
        self.counts = {"age": 0, "soft": 0, "hard": 0}
        self.freed = 0
        self.lost: list[str] = []

    def run(self) -> Retention:
        self._drop_marked()
        self._evict_by_age()
        self._evict_to_soft_cap()
        self._evict_to_hard_cap()
        usage = blobs.get_kept_bytes(self.engine)
        distilled, over = weigh_digests(self.hub) if self.whole else (0, False)
        return Retention(
            freed=self.freed, final_usage=usage, passes=dict(self.counts), data_loss=tuple(sorted(set(self.lost))),
            distilled=distilled, distilled_over=over,
        )  # fmt: skip

    def _evict_by_age(self) -> None:
        before = self.hub.now() - self.settings.raw_max_age_days * DAY
        while rows := blobs.list_evictable(self.engine, before, _STEP, by_worth=False):
            self._evict_rows(rows, "age")

    def _evict_to_soft_cap(self) -> None:
        self._evict_down_to(self.settings.raw_soft_cap_bytes, "soft")

    def _evict_to_hard_cap(self) -> None:
        """Digest undigested sessions, then evict them; sessions that cannot be digested are lost and reported."""
        cap = self.settings.raw_hard_cap_bytes
        self._evict_down_to(cap, "hard")
        while self._is_over(cap) and (rows := blobs.list_undigested(self.engine, 1)):
            try:
                rebuild_digest(self.hub, rows[0]["capture"])
            except (BodyGone, StoreDamaged):
                unreadable = self._find_unreadable(rows[0])
                if not unreadable:
                    raise
                self._lose_rows(unreadable)
            else:
                self._evict_down_to(cap, "hard")

    def _find_unreadable(self, owner: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the bodies that prevent a session from being digested."""
        unreadable = []
        for row in blobs.list_by_capture(self.engine, owner["capture"]):
            try:
                if row["evicting_at"] is None:
                    self.bodies.get(row["sha256"])
            except (BodyGone, StoreDamaged):
                unreadable.append(row | {"session_id": owner["session_id"]})
        return unreadable

    def _is_over(self, cap: int) -> bool:
        return blobs.get_kept_bytes(self.engine) > cap

    def _evict_down_to(self, cap: int, name: str) -> None:
        while (excess := blobs.get_kept_bytes(self.engine) - cap) > 0:
            rows = _take_until_covered(blobs.list_evictable(self.engine, _ANY_TIME, _STEP, by_worth=True), excess)
            if not rows:
                return
            self._evict_rows(rows, name)

    def _evict_rows(self, rows: list[dict[str, Any]], name: str) -> None:
        self._mark_and_drop(rows, name, lambda: blobs.mark_evicting(self.engine, rows, self.hub.now()))

    def _lose_rows(self, rows: list[dict[str, Any]]) -> None:
        self.lost += [row["session_id"] for row in rows]
        self._mark_and_drop(rows, "hard", lambda: blobs.mark_lost(self.engine, rows, self.hub.now()))

    def _mark_and_drop(self, rows: list[dict[str, Any]], name: str, mark: Callable[[], None]) -> None:
        with self.engine.transaction(durable=True):
            mark()
        self.counts[name] += len(rows)
        self.freed += sum(row["stored_bytes"] for row in rows)
        self._drop_marked()

    def _drop_marked(self) -> None:
        """Drop marked bodies, then their index entries; the rows stay to recognize events read again."""
        for row in blobs.list_half_evicted(self.engine):
            if not blobs.is_needed(self.engine, row["sha256"]):
                self.bodies.remove(row["sha256"])
            with self.engine.transaction():
                event_words.unindex_events(
                    self.engine, events.list_ids_in_blob(self.engine, row["capture"], row["num"])
                )
                blobs.mark_evicted(self.engine, row["num"], self.hub.now())


def _take_until_covered(rows: list[dict[str, Any]], excess: int) -> list[dict[str, Any]]:
    """Take rows until the excess is covered."""
    chosen = []
    for row in rows:
        if excess <= 0:
            break
        chosen.append(row)
        excess -= row["stored_bytes"]
    return chosen
