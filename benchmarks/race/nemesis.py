"""The nemesis: start the racers, kill and stop some, and record it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.race.clock import LONGEST, SECOND, steady
from benchmarks.race.course import NAMES, WISHES
from benchmarks.race.racer import LINGERING, Board, Race, Racer
from engram import Engram

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Audit:
    """Kills and stops, snapshots of the lock table, and the takeovers in the store's activity log."""

    kills: dict[str, tuple[int, int]] = field(
        default_factory=dict
    )  # life of a racer → times just before and just after
    stops: list[tuple[str, int, int]] = field(default_factory=list)
    snapshots: list[list[int]] = field(default_factory=list)  # tokens of the locks at one time
    takeovers: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    janitor: float = 0.0


class Starter:
    """Starts the racers, kills and stops some, replaces the killed ones, and cleans up."""

    def __init__(self, race: Race, kills: int, stops: int, tell: Callable[[str], None] = lambda _: None) -> None:
        self.race, self.tell = race, tell
        self.board, self.audit = Board(race), Audit()
        self.chance = random.Random(f"{race.seed}/nemesis")
        self.plan = self.chance.sample(["kill"] * kills + ["stop"] * stops, kills + stops)
        self.pace = race.rounds / (len(self.plan) + 1)
        self.lives = Counter[int]()
        self.running: dict[int, subprocess.Popen[bytes]] = {}
        self.stopped: dict[int, tuple[int, int]] = {}  # racer → since, until
        self.deadline = 0.0

    def run(self) -> Audit:
        """Run the race."""
        self.race.histories.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        with self.race.open() as engram:
            try:
                self.watch(engram)
            finally:
                for process in self.running.values():
                    process.kill()
            self.audit.seconds = time.monotonic() - began
            self.sweep()
            born = [path.open().readline() for path in self.race.histories.iterdir()]
            sessions = {json.loads(line).get("session") for line in born if line}
            entries = engram.activity("takeover", 10_000_000)
            takeovers = [{**entry.detail, "taker": entry.session_id} for entry in entries]
            self.audit.takeovers = [takeover for takeover in takeovers if takeover["holder"] in sessions]
        (Path(self.race.home) / "audit.json").write_text(json.dumps(asdict(self.audit)))
        return self.audit

    def watch(self, engram: Engram) -> None:
        """Run the nemesis until the last racer has finished."""
        for racer in self.board.racers:
            self.start(racer)
        while self.running:
            self.tend()
            self.hurt()
            self.audit.snapshots.append([lock.token for lock in engram.list_locks()])
            self.tell(f"round {min(self.board.slowest(), self.race.rounds)} of {self.race.rounds}")
            time.sleep(0.004)

    def start(self, racer: int) -> None:
        self.lives[racer] += 1
        word = json.dumps([asdict(self.race), racer, self.lives[racer]])
        # -P: do not import modules from the working directory.
        command = [sys.executable, "-P", "-m", "benchmarks.race", "--racer", word]
        self.running[racer] = subprocess.Popen(command, env=environment())

    def tend(self) -> None:
        """Resume racers that were stopped long enough, and drop the finished ones."""
        for racer, (since, until) in list(self.stopped.items()):
            if steady() > until:
                self.running[racer].send_signal(signal.SIGCONT)
                self.audit.stops.append((self.life(racer), since, steady()))
                del self.stopped[racer]
        for racer, process in list(self.running.items()):
            if process.poll() is not None:
                del self.running[racer]

    def hurt(self) -> None:
        """Do the next kill or stop of the plan when it is due; after the last one, let the race end."""
        done = len(self.audit.kills) + len(self.audit.stops) + len(self.stopped)
        if done == len(self.plan):
            if not self.stopped:
                self.board.call_it_a_day()
        elif self.board.slowest() > done * self.pace or self.board.slowest() >= self.race.rounds:
            victim = self.victim(self.plan[done])
            if victim and self.plan[done] == "kill":
                self.kill(victim)
            elif victim:
                self.stop(victim)

    def victim(self, deed: str) -> int | None:
        """Choose a racer to kill or stop: usually one that holds a lock, sometimes any."""
        awake = [racer for racer in self.running if racer not in self.stopped and self.board.seen(racer)[0] > 0]
        # Kill only racers with long locks, to show that the lock is freed by the death and not by expiry.
        able = [racer for racer in awake if deed == "stop" or racer % 2 == 0]
        lingering = [racer for racer in able if self.board.seen(racer)[1] == LINGERING]
        short = [racer for racer in lingering if deed == "kill" or racer % 2]
        if self.deadline == 0:
            self.deadline = time.monotonic() + (2.0 if self.chance.random() < 0.7 else 0)
        if short or (able and time.monotonic() > self.deadline):
            self.deadline = 0
            return self.chance.choice(short or able)
        return None

    def kill(self, racer: int) -> None:
        process, before = self.running[racer], steady()
        process.kill()
        process.wait()
        self.audit.kills[self.life(racer)] = (before, steady())
        self.start(racer)

    def stop(self, racer: int) -> None:
        now = steady()
        self.running[racer].send_signal(signal.SIGSTOP)
        self.stopped[racer] = (now, now + int(self.chance.uniform(1.1, 1.4) * LONGEST * 60 * SECOND))

    def life(self, racer: int) -> str:
        return f"{racer}-{self.lives[racer]}"

    def sweep(self) -> None:
        """Lock everything: no racer is left, so this must succeed without waiting."""
        began = time.monotonic()
        janitor = Racer(self.race, 0, 1)
        janitor.mode = "exclusive"
        janitor.ask([index for index, wish in enumerate(WISHES) if wish.covers in ("**", *NAMES)], wait=0)
        for token in list(janitor.held):
            janitor.release(token)
        janitor.call("complete", lambda: janitor.engram.complete(janitor.session, "swept"))
        janitor.engram.close()
        self.audit.janitor = time.monotonic() - began


def environment() -> dict[str, str]:
    """Return our environment without variables of the developer's Engram and agents, with this checkout importable."""
    ours = {name: text for name, text in os.environ.items() if not name.startswith(("ENGRAM_", "CLAUDE", "CODEX"))}
    known = ours.get("PYTHONPATH")
    return ours | {"PYTHONPATH": f"{ROOT}{os.pathsep}{known}" if known else str(ROOT)}
