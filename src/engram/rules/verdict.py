"""What a change comes to in one word. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.rules.statistics import Interval

MINIMUM = 10  # sessions on either side, below which nothing is said
_SURE = 0.05


class Verdict:
    """The words a rule is judged by."""

    HELPED = "helped"
    NONE = "no effect"
    HURT = "hurt"
    EARLY = "too early"


def judge(
    before: tuple[int, int],
    after: tuple[int, int],
    change: Interval,
    beside: Interval | None,
    chance: float,
    better: int,
) -> tuple[str, str]:
    """Return the verdict and why; `better` is the direction that is good, `beside` told against untold sessions."""
    if min(before[1], after[1]) < MINIMUM:
        return Verdict.EARLY, f"{before[1]} sessions before and {after[1]} after; {MINIMUM} of each are needed."
    if chance < _SURE and not change.low <= 0 <= change.high:
        if beside is not None and beside.value * change.value <= 0:
            return Verdict.NONE, "Sessions without it changed as well: something else did that."
        good = change.value * better > 0
        word = "less" if change.value < 0 else "more"
        by_chance = "less than 0.1 %" if chance < 0.001 else f"{chance:.1%}"
        return (Verdict.HELPED if good else Verdict.HURT), f"It comes up {word} often since (by chance: {by_chance})."
    half = before[0] / before[1] / 2
    if -half < change.low and change.high < half:
        return Verdict.NONE, "Neither half as often nor half as often again: that much is sure."
    return Verdict.EARLY, "A great change and none are both possible yet; it needs more sessions."
