"""One dream at a time: a second one names the running one, and a killed one is replaced immediately."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from engram import Engram
from engram.clock import Clock
from engram.dream.lease import Lease
from engram.errors import DreamRunning
from engram.store import leases
from tests.conftest import ManualClock
from tests.dream.test_cycle import talk

HOLD = """
import sys, time
from engram import Engram
from engram.dream.lease import Lease
with Engram(home=sys.argv[1], store=sys.argv[2]) as hub, Lease(hub):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_dreamer_is_told_who_dreams(engram: Engram) -> None:
    talk(engram)
    with Lease(engram), pytest.raises(DreamRunning, match=f"process {os.getpid()} on "):
        engram.dream(force=True)
    assert engram.dream(force=True).id


class Rival(Clock):
    """A clock that lets another thread of this process ask for the lease whenever the time is read."""

    def __init__(self, store: str, home: Path) -> None:
        super().__init__()
        self.other = Engram(store=store, home=str(home))
        self.refused = 0

    def steady(self) -> int:
        if leases.get(self.other.engine, "dream"):
            with pytest.raises(DreamRunning):
                Lease(self.other).__enter__()
            self.refused += 1
        return super().steady()


def test_another_thread_does_not_take_a_lease_that_was_just_granted(store: str, tmp_path: Path) -> None:
    clock = Rival(store, tmp_path / "other")
    with clock.other, Engram(store=store, home=str(tmp_path / "home"), clock=clock) as engram:
        with Lease(engram) as lease:
            lease.renew()
        assert clock.refused
        assert leases.get(engram.engine, "dream") is None


def test_the_one_who_was_killed_is_followed_at_once(engram: Engram, tmp_path: Path) -> None:
    talk(engram)
    words = [sys.executable, "-c", HOLD, engram.settings.home, engram.settings.store]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as dreamer:
        assert dreamer.stdout is not None
        assert dreamer.stdout.readline() == "held\n"
        with pytest.raises(DreamRunning, match=str(dreamer.pid)):
            engram.dream(force=True)
        dreamer.send_signal(signal.SIGKILL)
        dreamer.wait()
        assert engram.dream(force=True).id


def test_a_lease_nobody_renews_lapses(timed: Engram, clock: ManualClock) -> None:
    first, second = Lease(timed), Lease(timed)
    with first:
        timed.engine.run("update leases set host = 'elsewhere'")
        with pytest.raises(DreamRunning, match="elsewhere"):
            second.__enter__()
        clock.pass_(16 * 60)
        with second, pytest.raises(DreamRunning):
            first.renew()
        assert leases.get(timed.engine, "dream") is None


def test_two_dreamers_at_once_do_the_work_once(engram: Engram) -> None:
    for number in range(6):
        talk(engram, f"s{number}")
    ends: list[str] = []

    def run() -> None:
        with Engram(home=engram.settings.home, store=engram.settings.store) as hub:
            for _ in range(600):  # a busy machine needs time
                try:
                    ends.append(str(hub.dream(force=True).changes.get("gist", 0)))
                    return
                except DreamRunning:
                    time.sleep(0.1)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == ["0", "0", "6"]
    assert [gist.version for gist in engram.list_summaries()] == [1] * 6
