"""One racer: its parameters, the board it shares with the others, and the history it writes."""

from __future__ import annotations

import json
import mmap
import os
import random
import re
import struct
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.race.clock import LONG, LONGEST, SECOND, SHORTEST, skew, steady
from benchmarks.race.course import NAMES, WISHES, picks
from engram import Engram, Fenced, Held, StoreBusy

MODES, WEIGHTS = ("exclusive", "shared", "announce"), (7, 2, 1)
AWAY, HOLDING, LINGERING = 0, 1, 2


@dataclass(frozen=True)
class Race:
    """The parameters of a race."""

    home: str
    store: str
    root: str
    tree: str
    processes: int
    rounds: int
    seed: int

    @property
    def histories(self) -> Path:
        return Path(self.home) / "histories"

    def path(self, template: str) -> str:
        return template.replace("{root}", self.root).replace("{tree}", self.tree)

    def open(self) -> Engram:
        return Engram(store=self.store, home=self.home)


class Board:
    """Shared memory with the round of each racer and whether it holds locks."""

    _ROW = struct.Struct("<ii")

    def __init__(self, race: Race) -> None:
        path = Path(race.home) / "board"
        self.racers = range(1, race.processes + 1)  # row 0 belongs to the starter
        if not path.exists():
            path.write_bytes(bytes(self._ROW.size * (race.processes + 1)))
        with path.open("r+b") as file:
            self._rows = mmap.mmap(file.fileno(), 0)

    def show(self, racer: int, number: int, state: int = AWAY) -> None:
        self._ROW.pack_into(self._rows, racer * self._ROW.size, number, state)

    def seen(self, racer: int) -> tuple[int, int]:
        number, state = self._ROW.unpack_from(self._rows, racer * self._ROW.size)
        return number, state

    def slowest(self) -> int:
        return min(self.seen(racer)[0] for racer in self.racers)

    def gather(self, number: int, patience: float = 0.02) -> None:
        """Wait until all racers have reached this round, but not long, because some may be killed or stopped."""
        deadline = time.monotonic() + patience
        while self.slowest() < number and time.monotonic() < deadline:
            time.sleep(0.0003)

    def call_it_a_day(self) -> None:
        self.show(0, 1)

    def is_over(self) -> bool:
        return self.seen(0)[0] == 1


class History:
    """An append-only file of one racer's calls; each line is one write."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, **facts: Any) -> None:
        os.write(self._file, (json.dumps(facts) + "\n").encode())


class Racer:
    """A session that takes part in the race."""

    def __init__(self, race: Race, number: int, life: int) -> None:
        self.race, self.number, self.board = race, number, Board(race)
        self.history = History(race.histories / f"{number}-{life}.jsonl")
        self.chance = random.Random(f"{race.seed}/{number}/{life}")
        self.home = (race.root, race.tree)[number % 3 == 0]
        self.minutes = self.chance.uniform(SHORTEST, LONGEST) if number % 2 else LONG
        self.held: dict[int, int] = {}  # token → wish
        self.mode = ""
        self.calls = 0
        self.last_call = 0
        self.engram = race.open()
        self.session = self.engram.register("racer", f"racer {number}", flavor="race", cwd=self.home, pid=os.getpid())
        self.history.write(born=steady(), session=self.session, lasts=int(self.minutes * 60 * SECOND), pid=os.getpid())

    def run(self) -> None:
        """Play all rounds, and more until the nemesis is done; then release everything and complete."""
        number = self.board.seen(self.number)[0] + 1
        while number <= self.race.rounds or not self.board.is_over():
            self.board.show(self.number, number)
            self.board.gather(number)
            self.play(number)
            number += 1
        self.board.show(self.number, 2**31 - 1)
        for token in list(self.held):
            self.release(token)
        while self.read():
            pass
        self.call("complete", lambda: self.engram.complete(self.session, "the race is over"))
        self.engram.close()

    def play(self, number: int) -> None:
        """Lock, hold for a moment, release; sometimes keep a lock for the next round."""
        before = list(self.held)
        if not before:
            self.mode = self.chance.choices(MODES, WEIGHTS)[0]
        self.ask(picks(self.race.seed, number, self.chance), wait=0.05 if self.chance.random() < 0.1 else 0)
        if self.held:
            self.hold(number)
        for token in before if self.chance.random() < 0.1 else list(self.held):
            self.release(token)
        if self.chance.random() < 0.1:
            self.read()

    def ask(self, wishes: list[int], wait: float) -> None:
        """Request locks and remember the granted ones."""
        spelled, cwd = self.spelled(wishes)
        outcome, locks = self.call(
            "lock",
            lambda: self.engram.lock_resources(
                self.session, spelled, mode=self.mode, minutes=self.minutes, wait=wait, cwd=cwd
            ),
            wishes=wishes, mode=self.mode, wait=wait,
        )  # fmt: skip
        if outcome == "ok":
            self.held.update(zip((lock.token for lock in locks), wishes, strict=True))

    def spelled(self, wishes: list[int]) -> tuple[list[str], str | None]:
        """Return the names of some wishes, and the directory that relative ones refer to."""
        chosen = [WISHES[index] for index in wishes]
        if len(chosen) > 1:
            pairs = [(self.race.path(wish.at), self.race.path(wish.spelling), wish.covers) for wish in chosen]
            return [word if covers in NAMES else os.path.join(at, word) for at, word, covers in pairs], None
        cwd = self.race.path(chosen[0].at)
        return [self.race.path(chosen[0].spelling)], None if cwd == self.home else cwd

    def hold(self, number: int) -> None:
        """Hold the locks for a while and sometimes use them; after a long pause, check which were lost."""
        lingers = self.mode != "announce" and self.chance.random() < 0.1
        self.board.show(self.number, number, LINGERING if lingers else HOLDING)
        time.sleep(0.05 if lingers else self.chance.uniform(0, 0.002))
        self.board.show(self.number, number)
        lapsed = steady() - self.last_call > self.minutes * 60 * SECOND
        for token in list(self.held) if lapsed else self.chance.sample(list(self.held), self.chance.random() < 0.2):
            if self.gate("edit", token) == "stale":
                self.prove_lost(token, "world", "release", "complete")
        if self.chance.random() < 0.1:
            self.call("heartbeat", lambda: self.engram.heartbeat(self.session))

    def release(self, token: int) -> None:
        """Release a lock; if it was lost, check that its token is refused everywhere."""
        if token in self.held and self.gate("release", token) == "stale":
            self.prove_lost(token, "edit", "world", "complete")
        self.held.pop(token, None)

    def prove_lost(self, token: int, *gates: str) -> None:
        """Use a lost token in every operation that checks tokens."""
        for name in gates:
            self.gate(name, token)
        self.held.pop(token, None)

    def gate(self, name: str, token: int) -> str:
        """Call an operation that checks the token; retry after a notice about lost locks."""
        [word], cwd = self.spelled([self.held[token]])
        acts: dict[str, Callable[[], object]] = {
            "edit": lambda: self.engram.check_edit(self.session, word, token=token, cwd=cwd),
            "release": lambda: self.engram.release_resource(self.session, word, token=token, cwd=cwd),
            "world": lambda: self.engram.set_world_state(f"by {self.session} {token}", self.session, token=token),
            "complete": lambda: self.engram.complete(self.session, "done", token=token),
        }
        outcome = "told"
        while outcome in ("told", "busy"):
            outcome, _ = self.call(name, acts[name], token=token, wishes=[self.held[token]], mode=self.mode)
        return outcome

    def read(self) -> list[Any]:
        """Read the inbox."""
        return self.call("inbox", lambda: self.engram.inbox(self.session))[1] or []

    def call(self, op: str, act: Callable[[], Any], **facts: Any) -> tuple[str, Any]:
        """Call something and record its start, its return and its result."""
        self.calls += 1
        value: Any = None
        start = steady()
        self.history.write(call=self.calls, op=op, at=start, **facts)
        try:
            value = act()
            end, outcome, result = steady(), "ok", value
        except Held as refusal:
            end, outcome, result = steady(), "held", list(refusal.locks)
        except Fenced as refusal:
            lost = losses(refusal.reason)
            end, outcome, result = steady(), "told" if lost else "stale", lost
        except StoreBusy:
            end, outcome, result = steady(), "busy", None
        if outcome in ("ok", "held"):
            self.last_call = start
        self.history.write(end=self.calls, at=end, outcome=outcome, **_seen(op, outcome, result, self.engram))
        return outcome, value


def _seen(op: str, outcome: str, result: Any, engram: Engram) -> dict[str, Any]:
    """Return the parts of a result that the checker needs."""
    if outcome == "told":
        return {"told": result}
    if outcome == "ok" and op == "inbox":
        return {"told": [token for message in result if message.kind == "loss" for token in losses(message.body)]}
    if (op, outcome) == ("lock", "ok"):
        ahead = skew(engram.now)
        return {
            "skew": skew(engram.steady),
            "tokens": [lock.token for lock in result],
            "until": [round(lock.until.timestamp() * 1_000_000) * 1000 - ahead for lock in result],
            "overlaps": [[other.token for other in lock.overlaps] for lock in result],
        }
    if outcome == "held" or op == "release":
        return {"tokens": [lock.token for lock in result or ()]}
    return {}


def losses(words: str) -> list[int]:
    """Return the tokens that a notice reports as lost."""
    return [int(token) for token in re.findall(r"\(token (\d+)\) was taken over by", words)]


def take_part(race: Race, number: int, life: int) -> int:
    """Run one racer; write an unexpected error to its history."""
    try:
        Racer(race, number, life).run()
    except Exception:
        History(race.histories / f"{number}-{life}.jsonl").write(crash=traceback.format_exc())
        return 1
    return 0
