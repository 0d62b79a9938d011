"""Check the statistics of `engram patterns measure` on simulated histories with a known effect.

A history is a series of sessions in which a signal occurs at random. Its pattern is detected at the second hit. A
person approves it after some sessions or, which biases the sample, after a number of hits; then the rate changes by a
known factor. Several rules are measured together, and sessions are drawn anew for each trial.

coverage: how often the 95 % interval contains the true change (aim 0.93 to 0.99)
false alarms: how often any of the rules measured together is reported to help or hurt without an effect (aim 0.05)
power: how often a rule with an effect is reported to have it

python -m benchmarks.measure [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from engram.patterns.rules.statistics import fisher_exact, holm_adjust, rate_difference, select_fair_sample
from engram.patterns.rules.verdict import MINIMUM, Verdict, judge_change
from engram.platform.value import value

SEED = 7
RATES = (0.05, 0.15, 0.3, 0.5)
SIZES = (15, 30, 60, 120, 250)
FACTORS = (1.0, 0.5, 0.2, 1.6)


@value
class Trial:
    """One rule: hits and sessions before and after."""

    before: tuple[int, int]
    after: tuple[int, int]


def history(draw: np.random.Generator, rate: float, factor: float, size: int, by_hits: bool) -> Trial:
    """Draw one history: detected at the second hit, approved, then changed by a factor."""
    shown = [bool(hit) for hit in draw.random(size * 40) < rate]
    end = select_fair_sample(shown).start + size
    if by_hits:  # approved after a number of hits: the worst selection bias
        hits = [n for n, hit in enumerate(shown) if hit][: max(4, round(size * rate) + 2)]
        end = hits[-1] + 1
    before = shown[:end][select_fair_sample(shown[:end])]
    after = draw.random(size) < min(1.0, rate * factor)
    return Trial((sum(before), len(before)), (int(after.sum()), size))


def verdicts(trials: list[Trial]) -> list[str]:
    """Judge rules that are measured together."""
    chances = holm_adjust([fisher_exact(trial.before, trial.after) for trial in trials])
    return [
        judge_change(trial.before, trial.after, rate_difference(trial.before, trial.after), None, chance, -1)[0]
        for trial, chance in zip(trials, chances, strict=True)
    ]


def coverage(draws: int) -> list[dict[str, Any]]:
    """Return how often the interval contains the true change, by rate, size and factor, for samples of equal size."""
    draw, rows = np.random.default_rng(SEED), []
    for rate in RATES:
        for size in SIZES:
            for factor in FACTORS:
                truth = min(1.0, rate * factor) - rate
                pairs = zip(draw.binomial(size, rate, draws), draw.binomial(size, truth + rate, draws), strict=True)
                intervals = [rate_difference((int(x), size), (int(y), size)) for x, y in pairs]
                covered = float(np.mean([interval.low <= truth <= interval.high for interval in intervals]))
                rows.append({"rate": rate, "sessions": size, "factor": factor, "coverage": covered})
    return rows


def alarms(draws: int, rules: int, by_hits: bool) -> list[dict[str, Any]]:
    """Return how often at least one of several rules without effect is reported to have one."""
    draw, rows = np.random.default_rng(SEED), []
    for rate in RATES:
        for size in SIZES:
            judged = [
                verdicts([history(draw, rate, 1.0, size, by_hits) for _ in range(rules)]) for _ in range(draws)
            ]  # fmt: skip
            wrong = [any(verdict in (Verdict.HELPED, Verdict.HURT) for verdict in trial) for trial in judged]
            share = float(np.mean(wrong))
            rows.append({"rate": rate, "sessions": size, "rules": rules, "by_hits": by_hits, "any": share})
    return rows


def power(draws: int) -> list[dict[str, Any]]:
    """Return how often a rule that helps or hurts is reported to, and how often the opposite is reported."""
    draw, rows = np.random.default_rng(SEED), []
    for rate in RATES[1:]:
        for size in SIZES:
            for factor in FACTORS[1:]:
                judged = [verdicts([history(draw, rate, factor, size, False)])[0] for _ in range(draws)]
                wanted = Verdict.HELPED if factor < 1 else Verdict.HURT
                wrong = Verdict.HURT if factor < 1 else Verdict.HELPED
                facts = {"rate": rate, "sessions": size, "factor": factor}
                rows.append({**facts, "told": judged.count(wanted) / draws, "opposite": judged.count(wrong) / draws})
    return rows


def figures(quick: bool) -> dict[str, Any]:
    """Return all three figures with their extremes."""
    draws = 40 if quick else 4000
    covered = coverage(draws * 4)
    called = [
        *alarms(draws, 1, False), *alarms(draws, 1, True), *alarms(draws // 4, 8, False), *alarms(draws // 4, 8, True),
    ]  # fmt: skip
    any_wrong = [row["any"] for row in called]
    usual = [row["coverage"] for row in covered if row["sessions"] >= MINIMUM]
    return {
        "coverage": {"lowest": min(usual), "mean": float(np.mean(usual)), "highest": max(usual), "rows": covered},
        "false alarms": {"mean": float(np.mean(any_wrong)), "highest": max(any_wrong), "rows": called},
        "power": {"rows": power(draws)},
    }  # fmt: skip


def main() -> None:
    """Print the figures as a table, or as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = figures(options.quick)
    if options.json:
        print(json.dumps(results))
        return
    covered, called = results["coverage"], results["false alarms"]
    print(f"coverage: mean {covered['mean']:.3f}, {covered['lowest']:.3f} … {covered['highest']:.3f}")
    print(f"false alarms by any rule measured together: mean {called['mean']:.3f}, highest {called['highest']:.3f}")
    print("power (rate before, sessions on each side, factor): reported, opposite reported")
    for row in results["power"]["rows"]:
        shares = f"{row['told']:.2f}  {row['opposite']:.3f}"
        print(f"  {row['rate']:.2f}  {row['sessions']:>4}  × {row['factor']:.1f}   {shares}")


if __name__ == "__main__":
    main()
