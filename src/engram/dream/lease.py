"""One dreamer at a time for each store, wherever it runs: a lease that its holder renews and that lapses without it."""

from __future__ import annotations

import os
from types import TracebackType

from engram import host
from engram.clock import MINUTE, moment
from engram.errors import DreamRunning
from engram.hub import Hub
from engram.model import Process
from engram.store import leases

_NAME = "dream"
_at_work: set[str] = set()  # the holders in this process
_LASTS = 15 * MINUTE  # longer than any single model call with all its tries
_RENEWED = MINUTE  # how often it is


class Lease:
    """The right to dream; a second dreamer is told who has it."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.holder = os.urandom(8).hex()

    def __enter__(self) -> Lease:
        me = host.process(os.getpid())
        started = me.start if me else ""
        held = leases.get(self.hub.engine, _NAME)
        dead = held["holder"] if held and (_is_dead(held) or _is_forgotten(held, started)) else ""
        at = self.hub.instant()
        with self.hub.engine.transaction():
            taken = leases.take(
                self.hub.engine, name=_NAME, holder=self.holder, host=host.name(), pid=os.getpid(), started=started,
                now=at.now, until=at.steady + _LASTS, steady=at.steady, dead=dead,
            )  # fmt: skip
        if not taken:
            raise _refusal(self.hub)
        self.renewed = self.hub.clock.steady()
        _at_work.add(self.holder)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _at_work.discard(self.holder)
        with self.hub.engine.transaction():
            leases.release(self.hub.engine, _NAME, self.holder)

    def renew(self) -> None:
        """Hold it for longer, or stop: somebody took it over, since we were silent for too long."""
        if self.hub.clock.steady() - self.renewed < _RENEWED:
            return
        self.renewed = self.hub.clock.steady()
        with self.hub.engine.transaction():
            kept = leases.renew(self.hub.engine, _NAME, self.holder, self.hub.steady() + _LASTS)
        if not kept:
            raise _refusal(self.hub)


def _is_dead(held: dict[str, object]) -> bool:
    """Tell whether the holder ended on this machine without a word."""
    process = Process(host=str(held["host"]), pid=int(str(held["pid"])), start=str(held["started"]))
    return host.alive(process) is False


def _is_forgotten(held: dict[str, object], started: str) -> bool:
    """Tell whether this very process holds it and no longer dreams: the store was full when it would let go."""
    ours = (held["host"], held["pid"], held["started"]) == (host.name(), os.getpid(), started)
    return ours and held["holder"] not in _at_work


def _refusal(hub: Hub) -> DreamRunning:
    held = leases.get(hub.engine, _NAME) or {"host": "?", "pid": 0, "taken_at": hub.now()}
    return DreamRunning(host=held["host"], pid=held["pid"], since=f"{moment(held['taken_at']).astimezone():%H:%M:%S}")
