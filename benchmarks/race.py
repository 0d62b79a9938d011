"""Race real processes for the same locks, hurt them, and prove from their histories that no rule was broken.

Every racer writes what it asked and what it was told into a file of its own, stamped with a clock that
never jumps. Meanwhile a nemesis kills racers and stops others for longer than their locks last. When all
is over a checker reads the histories. What overlaps what it decides by brute force over the few files of
the race's tree, not by the product's own rules. An act is known to have happened somewhere between call
and return, so the checker complains only where no moment in between could excuse what it sees.

python benchmarks/race.py --processes 8 --rounds 1000 [--store postgresql://…] [--no-nemesis] [--json]
"""

from __future__ import annotations

import argparse
import json
import math
import mmap
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from engram import Engram, Fenced, Held, StoreBusy

SECOND = 1_000_000_000
SLACK = 2_000_000  # how far two clocks of one machine may drift within a lease
ENDLESS = math.inf
MODES, WEIGHTS = ("exclusive", "shared", "announce"), (7, 2, 1)
LONG, SHORTEST, LONGEST = (
    30.0,
    0.01,
    0.02,
)  # minutes a lock lasts: for those who get killed, and for those who get stopped
AWAY, HOLDING, LINGERING = 0, 1, 2
GONE = "its process was gone"


# ---- The tree, what may be asked for in it, and what each wish really covers


# Rich enough that any two wishes below which can meet in some file do meet in one of these.
FILES = (
    "README.md", "docs/index.md", "docs/guide/start.md", "src/app/[slug]/page.tsx", "src/app/deep/table.md",
    "src/app/main.py", "src/app/view.py", "src/deep/walk.py", "src/lib/app/area.md", "src/lib/deep/data.txt",
    "src/lib/deep/parse.py", "src/lib/io.py", "tests/app/cases.md", "tests/data/a*b", "tests/data/axb",
    "tests/data/make.py", "tests/data/notes.md", "tests/test_app.py",
)  # fmt: skip
NAMES = ("db:migrations", "port:8080")
LINKS = {"shortcut": "src/app", "entry.py": "src/app/main.py"}


@dataclass(frozen=True)
class Wish:
    """A way to say what one wants, and as a pattern of fnmatch what that means."""

    spelling: str
    covers: str
    at: str = "{root}"


WISHES = (
    Wish("src/app/main.py", "src/app/main.py"),
    Wish("./src/lib/../app//main.py", "src/app/main.py"),
    Wish("{root}/src/app/main.py", "src/app/main.py"),
    Wish("{tree}/src/app/main.py", "src/app/main.py"),
    Wish("src/app/main.py", "src/app/main.py", at="{tree}"),
    Wish("../app/main.py", "src/app/main.py", at="{root}/src/lib"),
    Wish("entry.py", "src/app/main.py"),
    Wish("shortcut/main.py", "src/app/main.py"),
    Wish("{tree}/shortcut/../app/main.py", "src/app/main.py"),
    Wish("src/app/view.py", "src/app/view.py"),
    Wish("src/app/[slug]/page.tsx", "src/app/[[]slug]/page.tsx"),
    Wish("src/lib/io.py", "src/lib/io.py"),
    Wish("deep/parse.py", "src/lib/deep/parse.py", at="{tree}/src/lib"),
    Wish("tests/test_app.py", "tests/test_app.py"),
    Wish("tests/data/a*b", "tests/data/a[*]b"),
    Wish("README.md", "README.md"),
    Wish("src", "src/**"),
    Wish("{tree}/src", "src/**"),
    Wish("src/app/", "src/app/**"),
    Wish("shortcut", "src/app/**"),
    Wish("{root}/src/lib", "src/lib/**"),
    Wish("tests", "tests/**"),
    Wish(".", "**", at="{tree}"),
    Wish("src/app/*.py", "src/app/*.py"),
    Wish("shortcut/*.py", "src/app/*.py"),
    Wish("src/**/*.py", "src/**/*.py"),
    Wish("{tree}/src/*/*.py", "src/*/*.py"),
    Wish("**/*.py", "**/*.py"),
    Wish("src/app/?ain.py", "src/app/?ain.py"),
    Wish("**/app/**/*a*", "**/app/**/*a*"),
    Wish("../**/deep/**", "src/**/deep/**", at="{root}/src/app"),
    Wish("tests/data/*", "tests/data/*"),
    Wish("**/*.md", "**/*.md"),
    Wish("db:migrations", "db:migrations"),
    Wish("port:8080", "port:8080"),
)  # fmt: skip


def build(root: Path, tree: Path) -> None:
    """Lay out the repository and a second worktree of it."""
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    for link, target in LINKS.items():
        (root / link).symlink_to(target)
    identity = ("-c", "user.name=race", "-c", "user.email=race@example.org")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "start"], ["worktree", "add", "-q", str(tree)]):
        subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)


@cache
def truth(covers: str) -> frozenset[str]:
    """Return all that a wish covers, by looking at every single file."""
    if covers in NAMES:
        return frozenset((covers,))
    return frozenset(name for name in FILES if matches(covers.split("/"), name.split("/")))


def matches(pattern: list[str], path: list[str]) -> bool:
    """Tell whether a path fits a pattern, by trying everything `**` could stand for."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(matches(pattern[1:], path[skipped:]) for skipped in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], pattern[0]) and matches(pattern[1:], path[1:])


def picks(seed: int, number: int, chance: random.Random) -> list[int]:
    """Choose what to ask for: in one round all ask for something around the same file, or for anything."""
    focus = random.Random(f"{seed}/{number}").choice(("src/app/main.py", *FILES, *NAMES, "src/app/main.py", ""))
    near = [index for index, wish in enumerate(WISHES) if not focus or focus in truth(wish.covers)]
    chosen = [chance.choice(near)]
    for index in chance.sample(range(len(WISHES)), 2 if chance.random() < 0.2 else 0):
        if all(truth(WISHES[index].covers).isdisjoint(truth(WISHES[other].covers)) for other in chosen):
            chosen.append(index)
    return chosen


# ---- One racer


@dataclass(frozen=True)
class Race:
    """Everything a racer must know."""

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
    """What racers show each other and the nemesis: their round, and whether they hold something."""

    _ROW = struct.Struct("<ii")

    def __init__(self, race: Race) -> None:
        path = Path(race.home) / "board"
        self.racers = range(1, race.processes + 1)  # row 0 is the starter's
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
        """Wait until all others have come to this round, but not for the dead and the stopped."""
        deadline = time.monotonic() + patience
        while self.slowest() < number and time.monotonic() < deadline:
            time.sleep(0.0003)

    def call_it_a_day(self) -> None:
        self.show(0, 1)

    def is_over(self) -> bool:
        return self.seen(0)[0] == 1


class History:
    """An append-only file of what one racer did; a line is written whole or not at all."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, **facts: Any) -> None:
        os.write(self._file, (json.dumps(facts) + "\n").encode())


class Racer:
    """A session that takes part."""

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
        """Play every round, and more while the nemesis is not done; then leave tidily."""
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
        """Ask, hold for a moment, let go; now and then carry something into the next round."""
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
        """Ask for locks; keep what is granted."""
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
        """Return the words for some wishes, and where relative ones start."""
        chosen = [WISHES[index] for index in wishes]
        if len(chosen) > 1:
            pairs = [(self.race.path(wish.at), self.race.path(wish.spelling), wish.covers) for wish in chosen]
            return [word if covers in NAMES else os.path.join(at, word) for at, word, covers in pairs], None
        cwd = self.race.path(chosen[0].at)
        return [self.race.path(chosen[0].spelling)], None if cwd == self.home else cwd

    def hold(self, number: int) -> None:
        """Sit on the locks for a while, and give signs of life; find out what a long pause has cost."""
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
        """Let go of a lock; if it turns out to be lost, be refused everywhere else as well."""
        if token in self.held and self.gate("release", token) == "stale":
            self.prove_lost(token, "edit", "world", "complete")
        self.held.pop(token, None)

    def prove_lost(self, token: int, *gates: str) -> None:
        """Rely on an overtaken token wherever a token is checked."""
        for name in gates:
            self.gate(name, token)
        self.held.pop(token, None)

    def gate(self, name: str, token: int) -> str:
        """Pass a gate with a token; news of losses come first, so try again behind them."""
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
        """Do something and write down when it began, when it returned, and what came of it."""
        self.calls += 1
        value: Any = None
        start = steady()
        self.history.write(call=self.calls, op=op, at=start, **facts)
        try:
            value = act()
            end, outcome, found = steady(), "ok", value
        except Held as refusal:
            end, outcome, found = steady(), "held", list(refusal.locks)
        except Fenced as refusal:
            told = losses(refusal.reason)
            end, outcome, found = steady(), "told" if told else "stale", told
        except StoreBusy:
            end, outcome, found = steady(), "busy", None
        if outcome in ("ok", "held"):
            self.last_call = start
        self.history.write(end=self.calls, at=end, outcome=outcome, **_seen(op, outcome, found, self.engram))
        return outcome, value


def _seen(op: str, outcome: str, found: Any, engram: Engram) -> dict[str, Any]:
    """Return what of an answer the checker needs."""
    if outcome == "told":
        return {"told": found}
    if outcome == "ok" and op == "inbox":
        return {"told": [token for message in found if message.kind == "loss" for token in losses(message.body)]}
    if (op, outcome) == ("lock", "ok"):
        ahead = skew(engram.now)
        return {
            "skew": skew(engram.steady),
            "tokens": [lock.token for lock in found],
            "until": [round(lock.until.timestamp() * 1_000_000) * 1000 - ahead for lock in found],
            "overlaps": [[other.token for other in lock.overlaps] for lock in found],
        }
    if outcome == "held" or op == "release":
        return {"tokens": [lock.token for lock in found or ()]}
    return {}


def losses(words: str) -> list[int]:
    """Return the tokens a text says are lost."""
    return [int(token) for token in re.findall(r"\(token (\d+)\) was taken over by", words)]


def steady() -> int:
    """Return the time that all processes of this machine share and nobody can set."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def skew(clock: Callable[[], int]) -> int:
    """Return how far a clock of the product is ahead of ours, from the least disturbed of a few looks."""
    looks = [(steady(), clock() * 1000, steady()) for _ in range(3)]
    before, then, after = min(looks, key=lambda look: look[2] - look[0])
    return then - (before + after) // 2


def take_part(race: Race, number: int, life: int) -> int:
    """Be one racer; leave a trace of whatever goes wrong."""
    try:
        Racer(race, number, life).run()
    except Exception:
        History(race.histories / f"{number}-{life}.jsonl").write(crash=traceback.format_exc())
        return 1
    return 0


# ---- The starter and its nemesis


@dataclass
class Audit:
    """What the starter saw: its own deeds, the table of locks at many moments, the store's trail in the end."""

    kills: dict[str, tuple[int, int]] = field(default_factory=dict)  # racer's life → just before, just after
    stops: list[tuple[str, int, int]] = field(default_factory=list)
    snapshots: list[list[int]] = field(default_factory=list)  # tokens live at one moment
    takeovers: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    janitor: float = 0.0


class Starter:
    """Starts the racers, hurts them, replaces the dead, and sweeps up behind them."""

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
        """Let the race happen."""
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
            found = [{**deed.detail, "taker": deed.session_id} for deed in engram.activity("takeover", 10_000_000)]
            self.audit.takeovers = [deed for deed in found if deed["holder"] in sessions]
        (Path(self.race.home) / "audit.json").write_text(json.dumps(asdict(self.audit)))
        return self.audit

    def watch(self, engram: Engram) -> None:
        """Look after the race until the last racer has left."""
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
        self.running[racer] = subprocess.Popen([sys.executable, __file__, "--racer", word], env=environment())

    def tend(self) -> None:
        """Wake those who slept long enough and forget those who finished."""
        for racer, (since, until) in list(self.stopped.items()):
            if steady() > until:
                self.running[racer].send_signal(signal.SIGCONT)
                self.audit.stops.append((self.life(racer), since, steady()))
                del self.stopped[racer]
        for racer, process in list(self.running.items()):
            if process.poll() is not None:
                del self.running[racer]

    def hurt(self) -> None:
        """Do what the plan says, as the race goes on; when all is done and all are awake, let it end."""
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
        """Choose whom to hurt: mostly somebody who sits on a lock, else anybody at any moment."""
        awake = [racer for racer in self.running if racer not in self.stopped and self.board.seen(racer)[0] > 0]
        # Only locks that last long show that death, not time, set them free.
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
        """Ask for everything at once: nobody lives, so nothing may be refused and nothing must be waited for."""
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
    """Return our environment without what a developer's own Engram and agents put there."""
    return {name: text for name, text in os.environ.items() if not name.startswith(("ENGRAM_", "CLAUDE", "CODEX"))}


# ---- Reading the histories


@dataclass
class Call:
    """Something a racer did: it took effect at some moment between start and end."""

    op: str
    start: int
    facts: dict[str, Any]
    end: float = ENDLESS  # never returned: its caller was killed
    outcome: str = ""


@dataclass
class Life:
    """One racer from birth to its end."""

    name: str
    session: str
    lasts: int
    calls: list[Call] = field(default_factory=list)
    killed: tuple[float, float] = (ENDLESS, ENDLESS)
    crash: str = ""

    def __post_init__(self) -> None:
        # Refused or not, every call that changed something was a sign of life; a fenced one changed nothing.
        self.signs = [call for call in self.calls if call.outcome in ("ok", "held")]
        self.ends = [call.end for call in self.signs]
        self.starts = [call.start for call in self.calls]

        skews = [call.facts["skew"] for call in self.calls if "skew" in call.facts]
        self.skew = (min(skews, default=0), max(skews, default=0))  # how the store's time goes here

    def early(self, other: Life) -> int:
        """Return how much too early another one's clock may find a lock of this one lapsed."""
        return max(0, other.skew[1] - self.skew[0])

    def sure_sign(self, at: float) -> float:
        """Return the earliest moment of the last sign of life that surely came before a moment."""
        known = bisect_right(self.ends, at)
        return self.signs[known - 1].start if known else -ENDLESS

    def possible_sign(self, at: float) -> float:
        """Return the latest moment of the last sign of life that may have come before a moment."""
        known = bisect_right(self.starts, at)
        return self.calls[known - 1].end if known else -ENDLESS


@dataclass(eq=False)
class Hold:
    """A granted lock; it surely stands from its grant to the first moment that may have ended it."""

    life: Life
    token: int
    truth: frozenset[str]
    mode: str
    asked: float
    granted: float
    until: float
    overlaps: tuple[int, ...]
    let_go: float = ENDLESS  # when its release was called
    released: float = ENDLESS  # when that returned

    def excludes(self, other: Hold) -> bool:
        modes = {self.mode, other.mode}
        return "announce" not in modes and "exclusive" in modes

    def surely_until(self, other: Hold) -> float:
        """Return when this lock may first have ended, as far as a later grant can claim."""
        sign = max(self.asked, self.life.sure_sign(other.asked))
        lease = sign + self.life.lasts - self.life.early(other.life) - SLACK
        return min(self.let_go, self.life.killed[0], lease)


@dataclass(frozen=True)
class Takeover:
    """A lock passed on, as the store's own trail has it."""

    old_token: int
    token: int
    holder: str
    taker: str
    reason: str


@dataclass
class Story:
    """All that is known of a race."""

    lives: list[Life]
    takeovers: list[Takeover] = field(default_factory=list)
    snapshots: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.of_session = {life.session: life for life in self.lives}
        self.holds = sorted((hold for life in self.lives for hold in holds(life)), key=lambda hold: hold.token)
        self.of_token = {hold.token: hold for hold in self.holds}
        self.overtaken = {takeover.old_token: takeover for takeover in self.takeovers}

    def clocks_apart(self) -> int:
        """Return by how much racers differ over the store's time."""
        skews = [life.skew for life in self.lives if life.skew != (0, 0)]
        return max((most for _, most in skews), default=0) - min((least for least, _ in skews), default=0)

    def taken_between(self, takeover: Takeover) -> tuple[float, float]:
        """Return between which moments a takeover happened, even if the taker did not live to tell."""
        taker = self.of_token.get(takeover.token)
        if taker:
            return taker.asked, taker.granted
        life = self.of_session.get(takeover.taker)
        return (life.calls[-1].start, life.killed[1]) if life and life.calls else (-ENDLESS, ENDLESS)


def holds(life: Life) -> Iterator[Hold]:
    """Yield every lock a racer was granted, with its end if it let go."""
    found: dict[int, Hold] = {}
    for call in life.calls:
        facts = call.facts
        if call.op == "lock" and call.outcome == "ok":
            for n, token in enumerate(facts["tokens"]):
                covers = truth(WISHES[facts["wishes"][n]].covers)
                found.setdefault(
                    token,
                    Hold(life, token, covers, facts["mode"], call.start, call.end, facts["until"][n],
                         tuple(facts["overlaps"][n])),
                )  # fmt: skip
        if call.op in ("release", "complete") and call.outcome in ("ok", ""):
            for token in [facts["token"]] if "token" in facts and call.op == "release" else list(found):
                if token in found and found[token].let_go == ENDLESS:
                    found[token].let_go, found[token].released = call.start, call.end
    yield from found.values()


def read(home: Path) -> Story:
    """Put the histories and the starter's audit together."""
    audit = json.loads((home / "audit.json").read_text())
    lives = []
    for path in sorted((home / "histories").iterdir()):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        kill = audit["kills"].get(path.stem)
        life = _life(path.stem, lines, tuple(kill) if kill else (ENDLESS, ENDLESS))
        lives += [life] if life else []
    takeovers = [Takeover(**{name: deed[name] for name in Takeover.__annotations__}) for deed in audit["takeovers"]]
    return Story(lives, takeovers, audit["snapshots"])


def _life(name: str, lines: list[dict[str, Any]], killed: tuple[float, float]) -> Life | None:
    born: dict[str, Any] = {"session": f"unborn {name}", "lasts": 0}
    calls: dict[int, Call] = {}
    crash = ""
    for line in lines:
        if "born" in line:
            born = line
        elif "call" in line:
            calls[line.pop("call")] = Call(line.pop("op"), line.pop("at"), line)
        elif "end" in line:
            call = calls[line.pop("end")]
            call.end, call.outcome = line.pop("at"), line.pop("outcome")
            call.facts |= line
        else:
            crash = line["crash"]
    return Life(name, str(born["session"]), int(born["lasts"]), list(calls.values()), killed, crash) if lines else None


# ---- The rules. Each takes the story of a race and yields what was wrong with it.


def check(story: Story) -> list[str]:
    """Return every breach of every rule."""
    rules = (
        crashes, clocks, double_grants, false_warnings, tokens, until, snapshots, deaths, told_once, gates, refusals,
    )  # fmt: skip
    return [f"{rule.__name__}: {breach}" for rule in rules for breach in rule(story)]


def crashes(story: Story) -> Iterator[str]:
    """No racer fails in a way nobody foresaw."""
    yield from (f"racer {life.name}: {life.crash}" for life in story.lives if life.crash)


def clocks(story: Story) -> Iterator[str]:
    """All go by one time: no lock may be found lapsed half its shortest life too early."""
    if story.clocks_apart() > SHORTEST * 60 * SECOND / 2:
        yield f"the racers' clocks are {story.clocks_apart() / 1e6} ms apart"


def double_grants(story: Story) -> Iterator[str]:
    """Never do two hold what excludes each other, and who stands beside another is warned."""
    # No later grant returned before this: what surely ended by then need not be looked at again.
    horizon = list(accumulate((hold.granted for hold in reversed(story.holds)), min))[::-1]
    standing: list[Hold] = []
    for hold, earliest in zip(story.holds, horizon, strict=True):
        standing = [old for old in standing if min(old.let_go, old.life.killed[0]) > earliest]
        for old in standing:
            if old.life is not hold.life and old.truth & hold.truth and _stands(story, old, hold):
                if old.excludes(hold):
                    yield f"{_name(hold)} was granted while {_name(old)} was held"
                elif old.token not in hold.overlaps:
                    yield f"{_name(hold)} was not warned of {_name(old)}"
        standing.append(hold)


def _stands(story: Story, old: Hold, new: Hold) -> bool:
    """Tell whether an older lock surely stood when a newer one was granted."""
    takeover = story.overtaken.get(old.token)
    if takeover and takeover.token < new.token and story.taken_between(takeover)[0] <= new.granted:
        return False  # somebody else had taken it before; whether rightly is judged there
    return old.surely_until(new) > new.granted


def false_warnings(story: Story) -> Iterator[str]:
    """Nobody is warned of what is not there."""
    for hold in story.holds:
        for token in hold.overlaps:
            old = story.of_token.get(token)
            if old and not old.truth & hold.truth:
                yield f"{_name(hold)} was warned of {_name(old)}, which it does not touch"
            elif old and old.released < hold.asked:
                yield f"{_name(hold)} was warned of {_name(old)}, which had been released"


def tokens(story: Story) -> Iterator[str]:
    """No token is given twice, and whoever asks after a grant gets a higher one."""
    seen = Counter(hold.token for life in story.lives for hold in holds(life))
    yield from (f"token {token} was given {times} times" for token, times in seen.items() if times > 1)
    by_grant = sorted(story.holds, key=lambda hold: hold.granted)
    highest, known = -1, 0
    for hold in sorted(story.holds, key=lambda hold: hold.asked):
        while by_grant[known].granted < hold.asked:
            highest = max(highest, by_grant[known].token)
            known += 1
        if hold.token <= highest:
            yield f"{_name(hold)} was granted after token {highest}"


def until(story: Story) -> Iterator[str]:
    """A holder is told truly how long its lock stands."""
    for hold in story.holds:
        if not hold.asked + hold.life.lasts - SLACK <= hold.until <= hold.granted + hold.life.lasts + SLACK:
            yield f"{_name(hold)} was said to stand until {hold.until}, granted at {hold.granted}"
    for takeover in story.takeovers:
        old, latest = story.of_token.get(takeover.old_token), story.taken_between(takeover)[1]
        taker = story.of_session.get(takeover.taker)
        early = old.life.early(taker) if old and taker else 0
        if old and takeover.reason != GONE and latest < old.until - early - SLACK:
            yield f"{_name(old)} was taken {(old.until - latest) / SECOND:.3f} s before its end"


def snapshots(story: Story) -> Iterator[str]:
    """At no moment do two locks stand in the table that exclude each other."""
    guilty = set()
    for tokens_then in story.snapshots:
        live = [story.of_token[token] for token in tokens_then if token in story.of_token]
        for n, one in enumerate(live):
            for other in live[:n]:
                if one.life is not other.life and one.truth & other.truth and one.excludes(other):
                    guilty.add((one.token, other.token))
    yield from (f"tokens {one} and {other} stood side by side" for one, other in sorted(guilty))


def deaths(story: Story) -> Iterator[str]:
    """Only the dead lose locks for being dead, and all they held is passed on for that reason."""
    for takeover in story.takeovers:
        life = story.of_session[takeover.holder]
        if takeover.reason == GONE and life.killed[0] > story.taken_between(takeover)[1]:
            yield f"{life.name} lost token {takeover.old_token} as gone while it lived"
    for hold in story.holds:
        if hold.life.killed[0] < ENDLESS and hold.let_go == ENDLESS and hold.mode != "announce":
            passed = story.overtaken.get(hold.token)
            if passed is None or (passed.reason != GONE and hold.life.lasts > LONGEST * 60 * SECOND):
                yield f"{_name(hold)} outlived its holder: {passed}"


def told_once(story: Story) -> Iterator[str]:
    """Every loss is told to the one who lost, once, if it lived to hear."""
    told = Counter(
        (life.session, token)
        for life in story.lives for call in life.calls for token in call.facts.get("told", ())
    )  # fmt: skip
    for takeover in story.takeovers:
        life = story.of_session[takeover.holder]
        times = told.pop((takeover.holder, takeover.old_token), 0)
        if times > 1 or (times == 0 and life.killed[0] == ENDLESS):
            yield f"{life.name} was told {times} times that it lost token {takeover.old_token}"
    yield from (f"{session} was told that it lost token {token}, but nobody took it" for session, token in told)


def gates(story: Story) -> Iterator[str]:
    """An overtaken token opens no gate; one that was not overtaken opens every gate."""
    for life in story.lives:
        for call in life.calls:
            token = call.facts.get("token")
            if token is None or not call.outcome:
                continue
            takeover = story.overtaken.get(token)
            if call.outcome == "ok" and takeover and story.taken_between(takeover)[1] < call.start:
                yield f"{life.name} passed {call.op} with token {token}, which {takeover.taker} had taken over"
            if call.outcome == "stale" and not takeover:
                yield f"{life.name} was refused at {call.op} with token {token}, which nobody took"
            if call.outcome == "held" and call.facts["mode"] == "exclusive":
                yield f"{life.name} holds token {token} and yet was refused at {call.op}"
            if (call.op, call.outcome) == ("release", "ok") and token not in call.facts["tokens"]:
                yield f"{life.name} released token {token} and nothing was freed"


def refusals(story: Story) -> Iterator[str]:
    """Nobody is refused for a lock that is not in the way, is over, or was a dead one's."""
    for life in story.lives:
        for call in life.calls:
            if (call.op, call.outcome) == ("lock", "held"):
                wanted = frozenset().union(*(truth(WISHES[index].covers) for index in call.facts["wishes"]))
                for old in (story.of_token[token] for token in call.facts["tokens"] if token in story.of_token):
                    problem = _no_reason(story, call, wanted, old)
                    if problem:
                        yield f"{life.name} was refused {sorted(wanted)} for {_name(old)}, which {problem}"


def _no_reason(story: Story, call: Call, wanted: frozenset[str], old: Hold) -> str:
    takeover = story.overtaken.get(old.token)
    if not old.truth & wanted:
        return "does not touch it"
    if (
        old.mode == "announce"
        or (old.mode, call.facts["mode"]) == ("shared", "shared")
        or call.facts["mode"] == "announce"
    ):
        return "excludes nothing here"
    if old.released < call.start or (takeover and story.taken_between(takeover)[1] < call.start):
        return "was over"
    if old.life.killed[1] < call.start:
        return "was a dead one's"
    apart = story.clocks_apart() + SLACK
    if max(old.granted, old.life.possible_sign(call.end)) + old.life.lasts + apart < call.start:
        return "had lapsed"
    return ""


def _name(hold: Hold) -> str:
    return f"token {hold.token} ({hold.mode}, {hold.life.name}, {len(hold.truth)} of {min(hold.truth)})"


# ---- What a person sees


@dataclass(frozen=True)
class Summary:
    """The outcome of a race in figures."""

    processes: int
    rounds: int
    seed: int
    store: str
    seconds: float
    asks: int
    grants: int
    refusals: int
    waits: int
    waits_granted: int
    busy: int
    warnings: int
    kills: int
    stops: int
    takeovers_gone: int
    takeovers_lapsed: int
    fenced: int
    told: int
    snapshots: int
    inherited_p50_ms: float  # from the kill until somebody who wanted the dead one's lock had it
    sweep_ms: float  # to take all that was left, when all were gone
    clocks_apart_ms: float
    pairs_per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    violations: list[str]


def summarize(race: Race, audit: Audit, story: Story) -> Summary:
    """Count what happened."""
    calls = [call for life in story.lives for call in life.calls]
    asks = [call for call in calls if call.op == "lock" and call.outcome]
    outcomes = Counter(call.outcome for call in asks)
    waits = [call for call in asks if call.facts["wait"]]
    quick = [(call.end - call.start) / 1e6 for call in asks if not call.facts["wait"]]
    gone = [takeover for takeover in story.takeovers if takeover.reason == GONE]
    free = [story.taken_between(t)[1] - story.of_session[t.holder].killed[1] for t in gone if t.token in story.of_token]
    return Summary(
        processes=race.processes, rounds=race.rounds, seed=race.seed,
        store="postgresql" if "://" in race.store else "sqlite",
        seconds=round(audit.seconds, 2), asks=len(asks), grants=len(story.holds), refusals=outcomes["held"],
        waits=len(waits), waits_granted=sum(call.outcome == "ok" for call in waits),
        busy=sum(call.outcome == "busy" for call in calls), warnings=sum(len(hold.overlaps) for hold in story.holds),
        kills=len(audit.kills), stops=len(audit.stops), takeovers_gone=len(gone),
        takeovers_lapsed=len(story.takeovers) - len(gone), fenced=sum(c.outcome in ("told", "stale") for c in calls),
        told=sum(len(call.facts.get("told", ())) for call in calls), snapshots=len(audit.snapshots),
        inherited_p50_ms=percentile((delay / 1e6 for delay in free), 50), sweep_ms=round(audit.janitor * 1000, 1),
        clocks_apart_ms=story.clocks_apart() / 1e6, pairs_per_second=round(len(story.holds) / audit.seconds, 1),
        p50_ms=percentile(quick, 50), p95_ms=percentile(quick, 95), p99_ms=percentile(quick, 99),
        violations=check(story),
    )  # fmt: skip


def percentile(numbers: Iterable[float], percent: float) -> float:
    """Return the number that so many percent do not exceed."""
    ordered = sorted(numbers)
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))], 3) if ordered else 0.0


def report(summary: Summary) -> str:
    """Write a summary for people."""
    s = summary
    lines = [
        f"{s.processes} processes x {s.rounds} rounds on {s.store}, seed {s.seed}, {s.seconds} s",
        f"  asked {s.asks}: granted locks {s.grants}, refused {s.refusals}, busy {s.busy}",
        f"  waited {s.waits}, of which granted {s.waits_granted}; warned of company {s.warnings}",
        f"  killed {s.kills}, stopped {s.stops}; taken over as gone {s.takeovers_gone}, as lapsed {s.takeovers_lapsed}",
        f"  a dead one's lock had its next holder {s.inherited_p50_ms} ms after the kill (median)",
        f"  what was left when all had gone was had in {s.sweep_ms} ms",
        f"  losses told {s.told}, fenced {s.fenced}; clocks apart by at most {s.clocks_apart_ms} ms",
        f"  {s.pairs_per_second} pairs/s; asking took p50 {s.p50_ms} ms, p95 {s.p95_ms} ms, p99 {s.p99_ms} ms",
        f"  looked at the table of locks {s.snapshots} times",
        f"  violations: {len(s.violations)}",
    ]
    return "\n".join([*lines, *(f"    {violation}" for violation in s.violations[:50])])


def hold_race(
    home: Path, store: str | None = None, *, processes: int = 8, rounds: int = 1000, seed: int = 1,
    kills: int | None = None, stops: int | None = None, tell: Callable[[str], None] = lambda _: None,
) -> Summary:  # fmt: skip
    """Hold one race in a directory and return what came of it."""
    home.mkdir(parents=True, exist_ok=True)
    root, tree = home.resolve() / "main", home.resolve() / "second"
    build(root, tree)
    race = Race(str(home), store or str(home / "engram.db"), str(root), str(tree), processes, rounds, seed)
    share = processes * rounds // 200
    audit = Starter(race, share if kills is None else kills, share if stops is None else stops, tell).run()
    return summarize(race, audit, read(home))


def main(words: list[str]) -> int:
    """Read the command line and race."""
    parser = argparse.ArgumentParser(description="Race processes for locks, hurt them, and check every rule.")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", help="a postgresql:// address; without it SQLite in a temporary directory")
    parser.add_argument("--no-nemesis", action="store_true", help="kill and stop nobody")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--racer", help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    if given.racer:
        facts, number, life = json.loads(given.racer)
        return take_part(Race(**facts), number, life)
    home = Path(tempfile.mkdtemp(prefix="engram-race-"))
    nobody = 0 if given.no_nemesis else None
    summary = hold_race(
        home, given.store, processes=given.processes, rounds=given.rounds, seed=given.seed, kills=nobody, stops=nobody,
        tell=_progress if sys.stderr.isatty() else lambda _: None,
    )  # fmt: skip
    print(json.dumps(asdict(summary)) if given.json else report(summary))
    if summary.violations:
        print(f"The histories are kept in {home}", file=sys.stderr)
        return 1
    shutil.rmtree(home)
    return 0


def _progress(words: str) -> None:
    print(f"\r{words}  ", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
