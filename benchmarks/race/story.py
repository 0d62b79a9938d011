"""The story of a race, read from the histories of the racers and the audit of the nemesis."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.race.clock import ENDLESS, SLACK
from benchmarks.race.course import WISHES, truth

GONE = "its process was gone"


@dataclass
class Call:
    """A call by a racer; it took effect at some time between start and end."""

    op: str
    start: int
    facts: dict[str, Any]
    end: float = ENDLESS  # if it never returned because the caller was killed
    outcome: str = ""


@dataclass
class Life:
    """One process of a racer, from its start to its end."""

    name: str
    session: str
    lasts: int
    calls: list[Call] = field(default_factory=list)
    killed: tuple[float, float] = (ENDLESS, ENDLESS)
    crash: str = ""

    def __post_init__(self) -> None:
        # Every call that changed something, refused or not, was a sign of life; a fenced call changed nothing.
        self.signs = [call for call in self.calls if call.outcome in ("ok", "held")]
        self.ends = [call.end for call in self.signs]
        self.starts = [call.start for call in self.calls]

        skews = [call.facts["skew"] for call in self.calls if "skew" in call.facts]
        self.skew = (min(skews, default=0), max(skews, default=0))  # how far the store's clock was ahead

    def early(self, other: Life) -> int:
        """Return how much too early another racer's clock may see a lock of this one as expired."""
        return max(0, other.skew[1] - self.skew[0])

    def sure_sign(self, at: float) -> float:
        """Return the earliest time of the last sign of life that was certainly before a given time."""
        known = bisect_right(self.ends, at)
        return self.signs[known - 1].start if known else -ENDLESS

    def possible_sign(self, at: float) -> float:
        """Return the latest time of the last sign of life that may have been before a given time."""
        known = bisect_right(self.starts, at)
        return self.calls[known - 1].end if known else -ENDLESS


@dataclass(eq=False)
class Hold:
    """A granted lock; it certainly exists from its grant to the first time that may have ended it."""

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
        """Return the earliest time at which this lock may have ended, as seen by a later grant."""
        sign = max(self.asked, self.life.sure_sign(other.asked))
        lease = sign + self.life.lasts - self.life.early(other.life) - SLACK
        return min(self.let_go, self.life.killed[0], lease)


@dataclass(frozen=True)
class Takeover:
    """A lock that another session took over, from the activity log of the store."""

    old_token: int
    token: int
    holder: str
    taker: str
    reason: str


@dataclass
class Story:
    """Everything known about a race."""

    lives: list[Life]
    takeovers: list[Takeover] = field(default_factory=list)
    snapshots: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.of_session = {life.session: life for life in self.lives}
        self.holds = sorted((hold for life in self.lives for hold in holds(life)), key=lambda hold: hold.token)
        self.of_token = {hold.token: hold for hold in self.holds}
        self.overtaken = {takeover.old_token: takeover for takeover in self.takeovers}

    def clocks_apart(self) -> int:
        """Return by how much the clocks of the racers differ."""
        skews = [life.skew for life in self.lives if life.skew != (0, 0)]
        return max((most for _, most in skews), default=0) - min((least for least, _ in skews), default=0)

    def taken_between(self, takeover: Takeover) -> tuple[float, float]:
        """Return the times between which a takeover happened, even if the taker was killed before the call returned."""
        taker = self.of_token.get(takeover.token)
        if taker:
            return taker.asked, taker.granted
        life = self.of_session.get(takeover.taker)
        return (life.calls[-1].start, life.killed[1]) if life and life.calls else (-ENDLESS, ENDLESS)


def holds(life: Life) -> Iterator[Hold]:
    """Yield every lock a racer was granted, with its end if it was released."""
    granted: dict[int, Hold] = {}
    for call in life.calls:
        facts = call.facts
        if call.op == "lock" and call.outcome == "ok":
            for n, token in enumerate(facts["tokens"]):
                covers = truth(WISHES[facts["wishes"][n]].covers)
                granted.setdefault(
                    token,
                    Hold(life, token, covers, facts["mode"], call.start, call.end, facts["until"][n],
                         tuple(facts["overlaps"][n])),
                )  # fmt: skip
        if call.op in ("release", "complete") and call.outcome in ("ok", ""):
            for token in [facts["token"]] if "token" in facts and call.op == "release" else list(granted):
                if token in granted and granted[token].let_go == ENDLESS:
                    granted[token].let_go, granted[token].released = call.start, call.end
    yield from granted.values()


def read(home: Path) -> Story:
    """Read the histories and the audit."""
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
