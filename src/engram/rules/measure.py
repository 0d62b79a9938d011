"""Measure: whether a rule changed anything, by how often its signal comes up in sessions that could have it."""

from __future__ import annotations

from engram import plain_json
from engram.operation import Help, operation
from engram.rules import catalog
from engram.rules.verdict import Verdict
from engram.store import patterns, rules
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Annotated

    from engram.hub import Hub
    from engram.rules.statistics import Interval


@value
class Sample:
    """Sessions, and in how many of them the signal came up."""

    sessions: int
    hits: int
    rate: float
    low: float = 0.0  # what the rate may be, with 95 % confidence
    high: float = 1.0


@value
class Effect:
    """What a rule came to."""

    pattern: str
    title: str
    kind: str
    state: str
    since: datetime  # it was first put anywhere
    until: datetime | None  # the last was taken back
    applies: str  # which sessions could have it
    before: Sample  # of those
    after: Sample
    all_before: Sample  # of every session in its scope
    all_after: Sample
    told: Sample  # after, with the rule in context or in a file it reads
    untold: Sample  # after, without
    change: Interval | None  # of the rate, after against before; none where one side is empty
    told_change: Interval | None  # told against untold; none where one side is too small
    chance: float  # that so great a change is none, for as many rules as are measured
    tokens: Interval  # saved
    minutes: Interval
    verdict: str
    why: str


@operation(writes=True)
def measure(
    hub: Hub, pattern: Annotated[str | None, Help("only this one: its id, or its beginning")] = None
) -> list[Effect]:
    """Show for each distributed rule whether it helped; what hurts is proposed for retirement."""
    only = catalog.require(hub, pattern)["id"] if pattern else None
    found = measured(hub, only)
    for each in found:
        if each.verdict == Verdict.HURT and each.state == patterns.APPROVED:
            _propose(hub, each)
    return found


def measured(hub: Hub, only: str | None = None) -> list[Effect]:
    """Return the effect of every rule that was ever put anywhere, or of one, the longest standing first."""
    from engram.rules import trial

    return sorted(trial.effects(hub, only), key=lambda each: (each.since, each.pattern))


def _propose(hub: Hub, effect: Effect) -> None:
    said = {"what": "retire", "why": effect.why, "who": "engram patterns measure", "at": hub.now(), "rule": ""}
    with hub.engine.transaction():
        rules.recommend(hub.engine, effect.pattern, plain_json.dumps(said))
