"""A lease on the store: one dream at a time, on any machine. Its holder renews it; otherwise it expires."""

from __future__ import annotations

import os
from types import TracebackType

from engram.clock import MINUTE, to_datetime
from engram.errors import DreamRunning
from engram.hub import Hub
from engram.platform import host
from engram.platform.host import Process
from engram.store import leases

_NAME = "dream"
_at_work: set[str] = set()  # holders in this process
_LASTS = 15 * MINUTE  # longer than any single model call with all its retries
_RENEWED = MINUTE  # how often it is renewed


class Lease:
    """The right to dream; a second dreamer gets an error that names the holder."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.holder = os.urandom(8).hex()

    def __enter__(self) -> Lease:
        process = host.find_process(os.getpid())
        started = process.start if process else ""
        lease_row = leases.get(self.hub.engine, _NAME)
        dead = lease_row["holder"] if lease_row and (_is_dead(lease_row) or _is_forgotten(lease_row, started)) else ""
        _at_work.add(self.holder)  # first: another thread here takes a lease whose holder is not at work
        try:
            self._acquire(started, dead)
        except BaseException:
            _at_work.discard(self.holder)
            raise
        self.renewed = self.hub.clock.steady()
        return self

    def _acquire(self, started: str, dead: str) -> None:
        at = self.hub.instant()
        with self.hub.engine.transaction():
            taken = leases.acquire(
                self.hub.engine,
                name=_NAME,
                holder=self.holder,
                host=host.get_host_name(),
                pid=os.getpid(),
                started=started,
                now=at.now,
                until=at.steady + _LASTS,
                steady=at.steady,
                dead=dead,
            )
        if not taken:
            raise _build_refusal(self.hub)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _at_work.discard(self.holder)
        with self.hub.engine.transaction():
            leases.release(self.hub.engine, _NAME, self.holder)

    def renew(self) -> None:
        """Extend the lease; raise an error if another process took it over because we were silent too long."""
        if self.hub.clock.steady() - self.renewed < _RENEWED:
            return
        self.renewed = self.hub.clock.steady()
        with self.hub.engine.transaction():
            was_renewed = leases.renew(self.hub.engine, _NAME, self.holder, self.hub.steady() + _LASTS)
        if not was_renewed:
            raise _build_refusal(self.hub)


def _is_dead(lease_row: dict[str, object]) -> bool:
    """Check whether the holder was on this machine and has died."""
    process = Process(host=str(lease_row["host"]), pid=int(str(lease_row["pid"])), start=str(lease_row["started"]))
    return host.is_alive(process) is False


def _is_forgotten(lease_row: dict[str, object], started: str) -> bool:
    """Check whether this process holds it without dreaming: the store was full when it was released."""
    ours = (lease_row["host"], lease_row["pid"], lease_row["started"]) == (host.get_host_name(), os.getpid(), started)
    return ours and lease_row["holder"] not in _at_work


def _build_refusal(hub: Hub) -> DreamRunning:
    lease_row = leases.get(hub.engine, _NAME) or {"host": "?", "pid": 0, "taken_at": hub.now()}
    return DreamRunning(
        host=lease_row["host"],
        pid=lease_row["pid"],
        since=f"{to_datetime(lease_row['taken_at']).astimezone():%H:%M:%S}",
    )
