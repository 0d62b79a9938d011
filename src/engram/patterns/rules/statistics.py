"""Exact tests and confidence intervals for small samples. Pure."""

from __future__ import annotations

from math import exp, lgamma, sqrt

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

Z = 1.959963984540054  # standard deviations that cover 95 % of a normal distribution
_SESSIONS_TO_FIND = 2  # sessions that make a pattern
_SEED, _DRAWS = 20_260_101, 2_000
_TOLERANCE = 1 + 1e-9  # tolerance for floating-point sums: equally likely outcomes must count


@value
class Interval:
    """A number with its 95 % confidence interval."""

    value: float
    low: float
    high: float


def select_fair_sample(had_signal: Sequence[bool]) -> slice:
    """Select a fair sample: skip the sessions by which the pattern was found, and the last one if it had the signal.

    A sample chosen because the signal occurred is biased: its rate falls by itself.
    """
    hits = [n for n, hit in enumerate(had_signal) if hit][:_SESSIONS_TO_FIND]
    start = hits[-1] + 1 if len(hits) == _SESSIONS_TO_FIND else 0
    end = len(had_signal) - 1 if had_signal and had_signal[-1] else len(had_signal)
    return slice(start, max(start, end))


def wilson_interval(hits: int, count: int) -> tuple[float, float]:
    """Return the Wilson interval of a proportion."""
    if not count:
        return 0.0, 1.0
    share, square = hits / count, Z * Z
    middle = (share + square / (2 * count)) / (1 + square / count)
    half = Z / (1 + square / count) * sqrt(share * (1 - share) / count + square / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def rate_difference(before: tuple[int, int], after: tuple[int, int]) -> Interval:
    """Return the difference of two proportions with Newcombe's interval."""
    (x0, n0), (x1, n1) = before, after
    p0, p1 = x0 / n0 if n0 else 0.0, x1 / n1 if n1 else 0.0
    low0, high0 = wilson_interval(x0, n0)
    low1, high1 = wilson_interval(x1, n1)
    change = p1 - p0
    return Interval(
        change,
        max(-1.0, change - sqrt((p1 - low1) ** 2 + (high0 - p0) ** 2)),
        min(1.0, change + sqrt((high1 - p1) ** 2 + (p0 - low0) ** 2)),
    )


def fisher_exact(before: tuple[int, int], after: tuple[int, int]) -> float:
    """Return the two-sided p-value of Fisher's exact test."""
    (x0, n0), (x1, n1) = before, after
    hits, total = x0 + x1, n0 + n1
    if not n0 or not n1 or hits in (0, total):
        return 1.0
    likely = [_log_choose(n0, k) + _log_choose(n1, hits - k) for k in range(max(0, hits - n1), min(n0, hits) + 1)]
    log_total = _log_choose(total, hits)
    chances = [exp(item - log_total) for item in likely]
    observed = exp(_log_choose(n0, x0) + _log_choose(n1, x1) - log_total)
    return min(1.0, sum(item for item in chances if item <= observed * _TOLERANCE))


def holm_adjust(chances: Sequence[float]) -> list[float]:
    """Return Holm-adjusted p-values."""
    adjusted, highest = [1.0] * len(chances), 0.0
    for position, n in enumerate(sorted(range(len(chances)), key=lambda n: chances[n])):
        highest = max(highest, min(1.0, chances[n] * (len(chances) - position)))
        adjusted[n] = highest
    return adjusted


def estimate_savings(before: Sequence[float], after: Sequence[float]) -> Interval:
    """Estimate the savings after a rule, compared to the mean cost before, with a seeded bootstrap."""
    import numpy as np

    if not before or not after:
        return Interval(0.0, 0.0, 0.0)
    then, now = np.asarray(before, float), np.asarray(after, float)
    draw = np.random.default_rng(_SEED)
    means = [_bootstrap_means(costs, draw) for costs in (then, now)]
    low, high = np.quantile(means[0] - means[1], (0.025, 0.975))
    return Interval(
        float((then.mean() - now.mean()) * now.size), float(low * now.size), float(high * now.size)
    )  # fmt: skip


def _bootstrap_means(costs: Any, draw: Any) -> Any:
    """Return the mean costs of bootstrap samples: draw how many sessions cost anything, then their costs."""
    import numpy as np

    nonzero = costs[costs != 0]
    counts = draw.binomial(costs.size, nonzero.size / costs.size, _DRAWS)
    return np.array([draw.choice(nonzero, count).sum() if count else 0.0 for count in counts]) / costs.size


def _log_choose(count: int, chosen: int) -> float:
    return lgamma(count + 1) - lgamma(chosen + 1) - lgamma(count - chosen + 1)
