"""The verdict on a rule. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.patterns.rules.statistics import Interval

MINIMUM = 10  # sessions needed on each side
_SURE = 0.05


class Verdict:
    """The possible verdicts."""

    HELPED = "helped"
    NONE = "no effect"
    HURT = "hurt"
    EARLY = "too early"


def judge_change(
    before: tuple[int, int],
    after: tuple[int, int],
    change: Interval,
    beside: Interval | None,
    chance: float,
    better: int,
) -> tuple[str, str]:
    """Return the verdict and its reason; `better` is the good direction, `beside` compares sessions with and without
    the rule.
    """
    if min(before[1], after[1]) < MINIMUM:
        return Verdict.EARLY, f"{before[1]} sessions before and {after[1]} after; {MINIMUM} of each are needed."
    if chance < _SURE and not change.low <= 0 <= change.high:
        if beside is not None and beside.value * change.value <= 0:
            return Verdict.NONE, "Sessions without the rule changed as well, so something else caused it."
        good = change.value * better > 0
        word = "less" if change.value < 0 else "more"
        by_chance = "less than 0.1 %" if chance < 0.001 else f"{chance:.1%}"
        return (Verdict.HELPED if good else Verdict.HURT), f"It occurs {word} often since then (p = {by_chance})."
    half = before[0] / before[1] / 2
    if -half < change.low and change.high < half:
        return Verdict.NONE, "The rate changed by less than half in either direction."
    return Verdict.EARLY, "Not enough sessions yet to tell a large change from none."
