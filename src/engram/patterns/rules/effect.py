"""The measured effect of a rule."""

from __future__ import annotations

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from engram.patterns.rules.statistics import Interval


@value
class Sample:
    """A number of sessions, and how many of them had the signal."""

    sessions: int
    hits: int
    rate: float
    low: float = 0.0  # 95 % confidence interval of the rate
    high: float = 1.0


@value
class Effect:
    """The measured effect of a rule."""

    pattern: str
    title: str
    kind: str
    state: str
    since: datetime  # first placed
    until: datetime | None  # last removed
    applies: str  # which sessions could have the signal
    before: Sample  # sessions that could have it
    after: Sample
    all_before: Sample  # all sessions in its scope
    all_after: Sample
    told: Sample  # after, with the rule in context or in a file
    untold: Sample  # after, without the rule
    change: Interval | None  # change of the rate, after minus before; None if one side is empty
    told_change: Interval | None  # with the rule minus without; None if one side is too small
    chance: float  # p-value, adjusted for the number of rules measured
    tokens: Interval  # saved
    minutes: Interval
    verdict: str
    why: str
