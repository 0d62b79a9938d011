"""Prove the statistics of `engram patterns measure` on simulated histories whose truth is known.

A history is a row of sessions in which a signal comes up by chance. Its pattern is found at its second hit, as detect
finds it; a person approves it after some sessions, or, worse for us, because it was seen so many times; then the rate
changes by a known factor. Several rules are measured at once, and sessions are drawn anew for each trial.

coverage: how often the 95 % interval holds the true change (aim 0.93 to 0.99)
false alarms: how often a rule without effect is said to help or to hurt, in any of those measured at once (aim 0.05)
power: how often a rule that halves the rate, or ends it, is said to help

python -m benchmarks.measure [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from engram.rules.statistics import counted, difference, fisher, holm
from engram.rules.verdict import MINIMUM, Verdict, judge
from engram.value import value

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
    """Draw one history: found at its second hit, approved, then changed by a factor."""
    shown = [bool(each) for each in draw.random(size * 40) < rate]
    end = counted(shown).start + size
    if by_hits:  # approved when it was seen so often that it annoyed somebody: the worst that selection does
        hits = [n for n, hit in enumerate(shown) if hit][: max(4, round(size * rate) + 2)]
        end = hits[-1] + 1
    before = shown[:end][counted(shown[:end])]
    after = draw.random(size) < min(1.0, rate * factor)
    return Trial((sum(before), len(before)), (int(after.sum()), size))


def verdicts(trials: list[Trial]) -> list[str]:
    """Judge rules as they are measured together."""
    chances = holm([fisher(each.before, each.after) for each in trials])
    return [
        judge(each.before, each.after, difference(each.before, each.after), None, chance, -1)[0]
        for each, chance in zip(trials, chances, strict=True)
    ]


def coverage(draws: int) -> list[dict[str, Any]]:
    """Return how often the interval holds the truth, by rate, size and factor; both sides of fixed size."""
    draw, found = np.random.default_rng(SEED), []
    for rate in RATES:
        for size in SIZES:
            for factor in FACTORS:
                truth = min(1.0, rate * factor) - rate
                pairs = zip(draw.binomial(size, rate, draws), draw.binomial(size, truth + rate, draws), strict=True)
                intervals = [difference((int(x), size), (int(y), size)) for x, y in pairs]
                held = float(np.mean([each.low <= truth <= each.high for each in intervals]))
                found.append({"rate": rate, "sessions": size, "factor": factor, "coverage": held})
    return found


def alarms(draws: int, rules: int, by_hits: bool) -> list[dict[str, Any]]:
    """Return how often rules without effect raise any alarm, and how often each does."""
    draw, found = np.random.default_rng(SEED), []
    for rate in RATES:
        for size in SIZES:
            judged = [
                verdicts([history(draw, rate, 1.0, size, by_hits) for _ in range(rules)]) for _ in range(draws)
            ]  # fmt: skip
            wrong = [[each in (Verdict.HELPED, Verdict.HURT) for each in one] for one in judged]
            share = float(np.mean([any(one) for one in wrong]))
            found.append({"rate": rate, "sessions": size, "rules": rules, "by_hits": by_hits, "any": share})
    return found


def power(draws: int) -> list[dict[str, Any]]:
    """Return how often a rule that works is said to, and how often one that harms is."""
    draw, found = np.random.default_rng(SEED), []
    for rate in RATES[1:]:
        for size in SIZES:
            for factor in FACTORS[1:]:
                said = [verdicts([history(draw, rate, factor, size, False)])[0] for _ in range(draws)]
                wanted = Verdict.HELPED if factor < 1 else Verdict.HURT
                wrong = Verdict.HURT if factor < 1 else Verdict.HELPED
                facts = {"rate": rate, "sessions": size, "factor": factor}
                found.append({**facts, "told": said.count(wanted) / draws, "opposite": said.count(wrong) / draws})
    return found


def figures(quick: bool) -> dict[str, Any]:
    """Return all three, with the extremes that matter."""
    draws = 40 if quick else 4000
    covered = coverage(draws * 4)
    called = [
        *alarms(draws, 1, False), *alarms(draws, 1, True), *alarms(draws // 4, 8, False), *alarms(draws // 4, 8, True),
    ]  # fmt: skip
    usual = [each["coverage"] for each in covered if each["sessions"] >= MINIMUM]
    return {
        "coverage": {"lowest": min(usual), "mean": float(np.mean(usual)), "highest": max(usual), "rows": covered},
        "false alarms": {"mean": float(np.mean([e["any"] for e in called])), "highest": max(e["any"] for e in called),
                         "rows": called},
        "power": {"rows": power(draws)},
    }  # fmt: skip


def main() -> None:
    """Print the figures as a table, or as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = figures(asked.quick)
    if asked.json:
        print(json.dumps(found))
        return
    covered, called = found["coverage"], found["false alarms"]
    print(f"coverage: mean {covered['mean']:.3f}, {covered['lowest']:.3f} … {covered['highest']:.3f}")
    print(f"false alarms, of any rule measured at once: mean {called['mean']:.3f}, highest {called['highest']:.3f}")
    print("power (rate before, sessions on each side, factor): said so, said the opposite")
    for row in found["power"]["rows"]:
        told = f"{row['told']:.2f}  {row['opposite']:.3f}"
        print(f"  {row['rate']:.2f}  {row['sessions']:>4}  × {row['factor']:.1f}   {told}")


if __name__ == "__main__":
    main()
