"""How sure a difference is: exact tests and intervals for small numbers. Pure."""

from __future__ import annotations

from math import exp, lgamma, sqrt

from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

Z = 1.959963984540054  # 95 % of a normal distribution lie within so many deviations
_FOUND_BY = 2  # sessions make a pattern
_SEED, _DRAWS = 20_260_101, 2_000
_NEARLY = 1 + 1e-9  # sums of floating point: what is as likely as what was seen counts


@value
class Interval:
    """A number and what it may be, with 95 % confidence."""

    value: float
    low: float
    high: float


def counted(shown: Sequence[bool]) -> slice:
    """Return which sessions of a history count: not those by which its pattern was found, nor the last straw.

    What was chosen because it showed is no fair sample: a rate measured by it falls by itself.
    """
    hits = [n for n, hit in enumerate(shown) if hit][:_FOUND_BY]
    start = hits[-1] + 1 if len(hits) == _FOUND_BY else 0
    end = len(shown) - 1 if shown and shown[-1] else len(shown)
    return slice(start, max(start, end))


def wilson(hits: int, count: int) -> tuple[float, float]:
    """Return between what a share lies of which a sample is known."""
    if not count:
        return 0.0, 1.0
    share, square = hits / count, Z * Z
    middle = (share + square / (2 * count)) / (1 + square / count)
    half = Z / (1 + square / count) * sqrt(share * (1 - share) / count + square / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def difference(before: tuple[int, int], after: tuple[int, int]) -> Interval:
    """Return by how much a share changed between two samples of hits and count: Newcombe's interval."""
    (x0, n0), (x1, n1) = before, after
    p0, p1 = x0 / n0 if n0 else 0.0, x1 / n1 if n1 else 0.0
    low0, high0 = wilson(x0, n0)
    low1, high1 = wilson(x1, n1)
    change = p1 - p0
    return Interval(
        change,
        max(-1.0, change - sqrt((p1 - low1) ** 2 + (high0 - p0) ** 2)),
        min(1.0, change + sqrt((high1 - p1) ** 2 + (p0 - low0) ** 2)),
    )


def fisher(before: tuple[int, int], after: tuple[int, int]) -> float:
    """Return how likely so great a difference is by chance alone: Fisher's exact test, both sides."""
    (x0, n0), (x1, n1) = before, after
    hits, total = x0 + x1, n0 + n1
    if not n0 or not n1 or hits in (0, total):
        return 1.0
    likely = [_choose(n0, k) + _choose(n1, hits - k) for k in range(max(0, hits - n1), min(n0, hits) + 1)]
    whole = _choose(total, hits)
    chances = [exp(each - whole) for each in likely]
    seen = exp(_choose(n0, x0) + _choose(n1, x1) - whole)
    return min(1.0, sum(each for each in chances if each <= seen * _NEARLY))


def holm(chances: Sequence[float]) -> list[float]:
    """Return chances as they count when so many questions are asked at once."""
    adjusted, highest = [1.0] * len(chances), 0.0
    for place, n in enumerate(sorted(range(len(chances)), key=lambda n: chances[n])):
        highest = max(highest, min(1.0, chances[n] * (len(chances) - place)))
        adjusted[n] = highest
    return adjusted


def saved(before: Sequence[float], after: Sequence[float]) -> Interval:
    """Return what the sessions after cost less than they would have at the mean cost before: a seeded bootstrap."""
    import numpy as np

    if not before or not after:
        return Interval(0.0, 0.0, 0.0)
    then, now = np.asarray(before, float), np.asarray(after, float)
    draw = np.random.default_rng(_SEED)
    means = [_means(each, draw) for each in (then, now)]
    low, high = np.quantile(means[0] - means[1], (0.025, 0.975))
    return Interval(
        float((then.mean() - now.mean()) * now.size), float(low * now.size), float(high * now.size)
    )  # fmt: skip


def _means(costs: Any, draw: Any) -> Any:
    """Return the mean costs of samples drawn anew: first how many cost anything, then what those few cost."""
    import numpy as np

    some = costs[costs != 0]
    counts = draw.binomial(costs.size, some.size / costs.size, _DRAWS)
    return np.array([draw.choice(some, count).sum() if count else 0.0 for count in counts]) / costs.size


def _choose(count: int, chosen: int) -> float:
    return lgamma(count + 1) - lgamma(chosen + 1) - lgamma(count - chosen + 1)
