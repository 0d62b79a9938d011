"""The nemesis: start a sweeper, extend the transcripts, kill the sweeper, and check the store."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL

from benchmarks.torture import rules
from benchmarks.torture.home import Home
from benchmarks.torture.sweeper import Place, held, sweep_until_killed
from engram import Engram
from engram.store import blobs

LONGEST = 0.15  # maximum seconds until a sweeper is killed
MOST = 200  # maximum extensions per sweeper, so that a slow machine does not get more work
UNSWEPT = 4  # after every fourth kill the next sweeper starts without a clean sweep in between

_BUSY = """
select count(*) as count from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
   and backend_type = 'client backend' and state <> 'idle'
"""


@dataclass
class Summary:
    """The result of the torture test."""

    kills: int = 0
    sweeps: int = 0  # acknowledged
    acknowledged: int = 0  # events
    sessions: int = 0
    evictions: int = 0  # bodies
    in_the_middle: int = 0  # kills that left unacknowledged events or unfinished work
    half_evicted: int = 0  # kills between marking and deleting a body
    leftovers: int = 0  # unreferenced bodies at the end
    seconds: float = 0.0
    violations: list[str] = field(default_factory=list)


def torture(
    root: Path,
    store: str | None = None,
    *,
    kills: int = 1000,
    seed: int = 1,
    tell: Callable[[str], None] = lambda _: None,
) -> Summary:
    """Kill sweepers and check the store after each kill."""
    place = Place(str(root / "user"), str(root / "home"), store or str(root / "home" / "engram.db"))
    with _same_environment():
        return _Nemesis(place, seed).run(kills, tell)


class _Nemesis:
    """One run of the torture test."""

    def __init__(self, place: Place, seed: int) -> None:
        self.place, self.home = place, Home(Path(place.user), seed)
        self.chance = random.Random(f"{seed}/nemesis")
        self.summary = Summary()
        self.acknowledged: dict[str, int] = {}
        self._remains = 0
        place.open().close()
        place.acknowledged.touch()
        self._news, self._begun = place.acknowledged.open("rb"), b""
        self._server = multiprocessing.get_context("forkserver")
        self._server.set_forkserver_preload(["benchmarks.torture.sweeper", "engram.capture.ingest_run"])

    def run(self, kills: int, tell: Callable[[str], None]) -> Summary:
        """Kill and check until there is a violation or all kills are done."""
        began, summary = time.monotonic(), self.summary
        while summary.kills < kills and not summary.violations:
            self._kill()
            with self.place.open() as engram:
                self._judge(engram, sweeps=summary.kills % UNSWEPT != 0 or summary.kills == kills)
            tell(f"{summary.kills} of {kills} kills")
        with self.place.open() as engram:
            self._end(engram)
        summary.seconds = time.monotonic() - began
        return summary

    def _kill(self) -> None:
        """Run a sweeper while the transcripts grow, and kill it at a random time."""
        sweeper = self._server.Process(target=sweep_until_killed, args=(self.place,), daemon=True)
        sweeper.start()
        if self.chance.random() < 0.8:  # otherwise it may be killed before it has opened the store
            self._grow(10, self._hears)
        self._grow(self.chance.uniform(0, LONGEST))
        sweeper.kill()
        sweeper.join()
        self.summary.kills += 1
        if sweeper.exitcode != -SIGKILL:
            self.summary.violations.append(f"a sweeper exited by itself ({sweeper.exitcode})")
        self.home.settle()
        self._hears()
        self._begun = b""  # ignore an incomplete acknowledgement

    def _grow(self, seconds: float, enough: Callable[[], bool] = lambda: False) -> None:
        deadline, growths = time.monotonic() + seconds, 0
        while time.monotonic() < deadline and not enough():
            if growths < MOST:
                self.home.grow()
            growths += 1
            time.sleep(0.001)

    def _hears(self) -> bool:
        """Read new acknowledgements; return whether there were any."""
        *lines, self._begun = (self._begun + self._news.read()).split(b"\n")
        for line in lines:
            self.acknowledged = json.loads(line)["held"]
            self.summary.sweeps += 1
            self.summary.acknowledged = sum(self.acknowledged.values())
        return bool(lines)

    def _judge(self, engram: Engram, *, sweeps: bool) -> None:
        _alone(engram)
        leftovers, half = engram.check().leftovers, len(blobs.list_half_evicted(engram.engine))
        ahead = sum(held(engram).values()) > sum(self.acknowledged.values())
        self.summary.in_the_middle += ahead or half > 0 or leftovers > self._remains
        self.summary.half_evicted += half > 0
        self._remains = leftovers
        self.summary.violations += rules.at_rest(engram, self.home, self.acknowledged)
        if sweeps:
            self.summary.violations += rules.after_sweep(engram, self.home)
            self.summary.violations += rules.at_rest(engram, self.home, self.home.written)
            self.acknowledged = held(engram)

    def _end(self, engram: Engram) -> None:
        """Repair the store; only leftovers may need it."""
        self._news.close()
        summary = self.summary
        summary.sessions, summary.leftovers = len(self.home.written), engram.check().leftovers
        evicted = "select count(*) as count from blobs where evicted_at is not null"
        summary.evictions = engram.engine.run(evicted)[0]["count"]
        repairs = engram.check(repair=True).mended
        # At most two lines: one for bodies moved to quarantine, one for removed drafts.
        if bool(repairs) != (summary.leftovers > 0) or len(repairs) > 2 or engram.check().leftovers:
            summary.violations.append(f"repair: {repairs}, {engram.check().leftovers} leftovers")


def _alone(engram: Engram) -> None:
    """Wait until the server has finished the statements of a killed sweeper."""
    if engram.engine.dialect == "postgres":
        while engram.engine.run(_BUSY)[0]["count"]:
            time.sleep(0.002)


@contextmanager
def _same_environment() -> Iterator[None]:
    """Remove variables of the developer's Engram and agents, and restore the environment afterwards."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(("ENGRAM_", "CLAUDE", "CODEX")):
            del os.environ[name]
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def report(summary: Summary) -> str:
    """Format the summary as text."""
    return (
        f"{summary.kills} kills in {summary.seconds:.0f} s, {summary.in_the_middle} of them during work,"
        f" {summary.half_evicted} between marking and deleting a body\n"
        f"{summary.sweeps} sweeps and {summary.acknowledged} events of {summary.sessions} sessions acknowledged\n"
        f"{summary.evictions} bodies evicted, {summary.leftovers} leftovers removed\n"
        + "\n".join([f"{len(summary.violations)} violations", *summary.violations[:20]])
    )
