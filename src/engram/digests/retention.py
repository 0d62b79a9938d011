"""Keep the bodies of events within a budget: what is digested goes first, routine before rare.

Marking and dropping are two steps. The mark is durable before a file is touched, and the store itself refuses
it for a body no digest knows; a crash in between is finished by the next pass. On a full disk even a deletion needs
room: a ballast file is given up first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engram.clock import HOUR
from engram.digests.remake import remake
from engram.errors import BodyGone, StoreDamaged, StoreFull
from engram.hub import Hub
from engram.model import Retention
from engram.store import ballast, blobs, digests, event_words, events

DAY = 24 * HOUR
_STEP = 200
_ANY_TIME = (1 << 63) - 1  # a clock that ran ahead keeps nothing from the budget


def evict(hub: Hub, *, whole: bool = True) -> Retention:
    """Bring the store within its budget and say what that took; `whole` weighs the digests as well."""
    pass_ = _Pass(hub, whole)
    try:
        return pass_.run()
    except StoreFull:
        if not ballast.give_up(hub.settings.home):
            raise
        return pass_.run()


def weigh_digests(hub: Hub) -> tuple[int, bool]:
    """Return how many bytes all digests take, and whether that is more than their cap."""
    total = digests.total_bytes(hub.engine)
    return total, total > hub.settings.distilled_cap_bytes


class _Pass:
    """One run over the budget's rules."""

    def __init__(self, hub: Hub, whole: bool) -> None:
        self.hub, self.engine, self.settings = hub, hub.engine, hub.settings
        self.whole = whole
        self.bodies = blobs.Blobs(hub.engine, hub.settings)
        self.counts = {"age": 0, "soft": 0, "hard": 0}
        self.freed = 0
        self.lost: list[str] = []

    def run(self) -> Retention:
        self._finish()
        self._age()
        self._soft()
        self._hard()
        usage = blobs.usage(self.engine)
        distilled, over = weigh_digests(self.hub) if self.whole else (0, False)
        return Retention(
            freed=self.freed, final_usage=usage, passes=dict(self.counts), data_loss=tuple(sorted(set(self.lost))),
            distilled=distilled, distilled_over=over,
        )  # fmt: skip

    def _age(self) -> None:
        before = self.hub.now() - self.settings.raw_max_age_days * DAY
        while rows := blobs.evictable(self.engine, before, _STEP, by_worth=False):
            self._drop(rows, "age")

    def _soft(self) -> None:
        self._down_to(self.settings.raw_soft_cap_bytes, "soft")

    def _hard(self) -> None:
        """Digest what is not yet digested, then drop it; what cannot be digested is lost, and named."""
        cap = self.settings.raw_hard_cap_bytes
        self._down_to(cap, "hard")
        while self._over(cap) and (rows := blobs.undigested(self.engine, 1)):
            try:
                remake(self.hub, rows[0]["capture"])
            except (BodyGone, StoreDamaged):
                unreadable = self._unreadable(rows[0])
                if not unreadable:
                    raise
                self._lose(unreadable)
            else:
                self._down_to(cap, "hard")

    def _unreadable(self, of: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the bodies of a session that keep it from being digested."""
        found = []
        for row in blobs.of_capture(self.engine, of["capture"]):
            try:
                if row["evicting_at"] is None:
                    self.bodies.get(row["sha256"])
            except (BodyGone, StoreDamaged):
                found.append(row | {"session_id": of["session_id"]})
        return found

    def _over(self, cap: int) -> bool:
        return blobs.usage(self.engine) > cap

    def _down_to(self, cap: int, name: str) -> None:
        while (excess := blobs.usage(self.engine) - cap) > 0:
            rows = _enough(blobs.evictable(self.engine, _ANY_TIME, _STEP, by_worth=True), excess)
            if not rows:
                return
            self._drop(rows, name)

    def _drop(self, rows: list[dict[str, Any]], name: str) -> None:
        self._marked(rows, name, lambda: blobs.evicting(self.engine, rows, self.hub.now()))

    def _lose(self, rows: list[dict[str, Any]]) -> None:
        self.lost += [row["session_id"] for row in rows]
        self._marked(rows, "hard", lambda: blobs.lose(self.engine, rows, self.hub.now()))

    def _marked(self, rows: list[dict[str, Any]], name: str, mark: Callable[[], None]) -> None:
        with self.engine.transaction(durable=True):
            mark()
        self.counts[name] += len(rows)
        self.freed += sum(row["stored_bytes"] for row in rows)
        self._finish()

    def _finish(self) -> None:
        """Drop what is marked: first the body, then what finds it. The rows stay: who comes again is known by them."""
        for row in blobs.half_evicted(self.engine):
            if not blobs.still_named(self.engine, row["sha256"]):
                self.bodies.remove(row["sha256"])
            with self.engine.transaction():
                event_words.drop(self.engine, events.in_blob(self.engine, row["capture"], row["num"]))
                blobs.evicted(self.engine, row["num"], self.hub.now())


def _enough(rows: list[dict[str, Any]], excess: int) -> list[dict[str, Any]]:
    """Return as many of the first rows as make up for what is too much."""
    taken = []
    for row in rows:
        if excess <= 0:
            break
        taken.append(row)
        excess -= row["stored_bytes"]
    return taken
