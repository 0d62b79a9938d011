"""The statistics against known truths: textbook values, and histories drawn with a known effect."""

from __future__ import annotations

from fractions import Fraction
from math import comb, isclose
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import measure as simulated
from engram.patterns.rules.statistics import (
    Interval,
    estimate_savings,
    fisher_exact,
    holm_adjust,
    rate_difference,
    select_fair_sample,
    wilson_interval,
)
from engram.patterns.rules.verdict import Verdict, judge_change

PAIRS = st.integers(0, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_the_intervals_are_those_of_the_literature() -> None:
    # Newcombe 1998: 56/70 against 48/80 is 0.2000, from 0.0524 to 0.3339; 9/10 against 3/10 is 0.6, 0.1705 to 0.8090.
    one = rate_difference((48, 80), (56, 70))
    assert (round(one.value, 4), round(one.low, 4), round(one.high, 4)) == (0.2, 0.0524, 0.3339)
    two = rate_difference((3, 10), (9, 10))
    assert (round(two.low, 4), round(two.high, 4)) == (0.1705, 0.8090)
    low, high = wilson_interval(10, 20)
    assert (round(low, 3), round(high, 3)) == (0.299, 0.701)


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    # Newcombe 1998, and the ends.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718),
     (20, 20, 0.8389, 1), (0, 0, 0, 1)],
)  # fmt: skip
def test_the_interval_of_a_share_is_wilsons(hits: int, count: int, low: float, high: float) -> None:
    assert wilson_interval(hits, count) == pytest.approx((low, high), abs=5e-5)


@given(PAIRS.filter(lambda pair: 0 < pair[0] < pair[1]))
def test_a_share_lies_1_96_deviations_from_the_ends_of_its_interval(pair: tuple[int, int]) -> None:
    hits, count = pair
    deviations = NormalDist().inv_cdf(0.975)
    for end in wilson_interval(hits, count):
        assert isclose(abs(hits / count - end), deviations * (end * (1 - end) / count) ** 0.5, rel_tol=1e-6)


@pytest.mark.parametrize(
    ("before", "after", "low", "high"),
    # Newcombe 1998, method 10, and samples of nothing.
    [((2, 7), (6, 7), 0.0582, 0.8062), ((0, 29), (5, 56), -0.0381, 0.1926), ((0, 20), (0, 10), -0.1611, 0.2775),
     ((0, 10), (0, 10), -0.2775, 0.2775), ((0, 20), (10, 10), 0.6791, 1), ((0, 10), (10, 10), 0.6075, 1),
     ((10, 10), (0, 10), -1, -0.6075), ((0, 0), (5, 10), -0.5341, 0.7634), ((5, 10), (0, 0), -0.7634, 0.5341)],
)  # fmt: skip
def test_the_interval_of_a_change_is_newcombes(
    before: tuple[int, int], after: tuple[int, int], low: float, high: float
) -> None:
    found = rate_difference(before, after)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


def chance_by_counting(before: tuple[int, int], after: tuple[int, int]) -> Fraction:
    """Return the chance of a table that is at most as likely as this one, counted without rounding."""
    (x0, n0), (x1, n1) = before, after
    ways = [comb(n0, k) * comb(n1, x0 + x1 - k) for k in range(x0 + x1 + 1)]
    return Fraction(sum(way for way in ways if way <= ways[x0]), sum(ways))


def test_the_exact_test_counts_every_table_that_is_at_most_as_likely() -> None:
    sizes = [(4, 4), (3, 7), (6, 1), (9, 5), (0, 3)]
    tables = [((x0, n0), (x1, n1)) for n0, n1 in sizes for x0 in range(n0 + 1) for x1 in range(n1 + 1)]
    for before, after in tables:
        found = fisher_exact(before, after)
        assert isclose(found, chance_by_counting(before, after), rel_tol=1e-9), (before, after)
        assert found <= 1


def test_the_exact_test_is_fishers() -> None:
    assert isclose(fisher_exact((3, 4), (1, 4)), 0.485714, abs_tol=1e-6)  # a lady who tastes tea
    assert isclose(fisher_exact((8, 10), (1, 6)), 0.034965, abs_tol=1e-6)
    assert fisher_exact((0, 10), (0, 10)) == 1.0
    assert fisher_exact((0, 0), (1, 1)) == 1.0


@given(PAIRS, PAIRS)
def test_figures_stay_within_bounds_and_sides_are_alike(one: tuple[int, int], two: tuple[int, int]) -> None:
    there, back = rate_difference(one, two), rate_difference(two, one)
    assert -1 <= there.low <= there.value <= there.high <= 1
    assert isclose(there.low, -back.high, abs_tol=1e-9)
    assert 0 <= fisher_exact(one, two) <= 1
    assert isclose(fisher_exact(one, two), fisher_exact(two, one), abs_tol=1e-9)


def test_many_questions_ask_for_more() -> None:
    assert holm_adjust([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm_adjust([]) == []
    assert holm_adjust([0.9, 0.9]) == [1.0, 1.0]


def test_the_sessions_by_which_a_pattern_was_found_do_not_count() -> None:
    shown = [False, True, False, True, False, False, True]
    assert select_fair_sample(shown) == slice(4, 6)
    assert select_fair_sample([True, False]) == slice(0, 2)
    assert select_fair_sample([]) == slice(0, 0)
    assert select_fair_sample([True, True]) == slice(2, 2)
    assert select_fair_sample([False, False, True]) == slice(0, 2)
    assert select_fair_sample([True, True, True, False]) == slice(2, 4)
    assert select_fair_sample([False] * 3) == slice(0, 3)


def test_what_is_saved_is_counted_over_the_sessions_after() -> None:
    found = estimate_savings([100.0] * 10 + [0.0] * 10, [0.0] * 40)
    assert found.value == 2000
    assert found.low < 2000 < found.high
    assert estimate_savings([], [1.0]) == estimate_savings([1.0], []) == Interval(0.0, 0.0, 0.0)


def test_what_may_be_saved_lies_where_chance_puts_it() -> None:
    # Of 100 fair coins, 95 % of the throws show between 40 and 60 heads.
    coins = estimate_savings([100.0] * 50 + [0.0] * 50, [0.0] * 10)
    assert coins.value == 500
    assert [coins.low, coins.high] == pytest.approx([405, 595], abs=6)
    # Mean 12.5 and deviation 14.79 over 40 sessions, against a constant 5 over 30.
    mixed = estimate_savings([10.0, 20.0, 30.0, 40.0, 0.0, 0.0, 0.0, 0.0] * 5, [5.0] * 30)
    half = 30 * 1.96 * 14.79 / 40**0.5
    assert mixed.value == pytest.approx(225)
    assert [mixed.low, mixed.high] == pytest.approx([225 - half, 225 + half], abs=15)
    assert estimate_savings([2.0] * 5, [3.0] * 4) == Interval(-4.0, -4.0, -4.0)


def test_a_history_is_judged_by_one_word() -> None:
    def word(before: tuple[int, int], after: tuple[int, int], better: int = -1) -> str:
        chance = fisher_exact(before, after)
        return judge_change(before, after, rate_difference(before, after), None, chance, better)[0]

    assert word((30, 60), (5, 60)) == Verdict.HELPED
    assert word((5, 60), (30, 60)) == Verdict.HURT
    assert word((5, 60), (30, 60), better=1) == Verdict.HELPED
    assert word((150, 300), (150, 300)) == Verdict.NONE
    assert word((10, 20), (8, 20)) == Verdict.EARLY
    assert word((5, 5), (0, 5)) == Verdict.EARLY


def test_a_change_that_sessions_without_the_rule_share_is_not_its_merit() -> None:
    before, after = (30, 60), (5, 60)
    beside = rate_difference((2, 30), (3, 30))
    assert judge_change(before, after, rate_difference(before, after), beside, 0.001, -1)[0] == Verdict.NONE


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    by_rate: dict[float, list[float]] = {}
    for row in simulated.coverage(600):
        by_rate.setdefault(row["rate"], []).append(row["coverage"])
    for rate in (0.15, 0.3, 0.5):
        assert 0.93 <= np.mean(by_rate[rate]) <= 0.99, rate
    assert np.mean(by_rate[0.05]) >= 0.93  # few hits: the interval is on the safe side


@pytest.mark.parametrize("by_hits", [False, True])
def test_rules_without_effect_seldom_raise_an_alarm(by_hits: bool) -> None:
    rows = simulated.alarms(100, 1, by_hits) + simulated.alarms(30, 6, by_hits)
    assert np.mean([row["any"] for row in rows]) <= 0.05


def test_a_rule_that_works_is_found_out_and_never_called_harmful() -> None:
    rows = {(row["rate"], row["sessions"], row["factor"]): row for row in simulated.power(100)}
    assert rows[0.3, 120, 0.2]["told"] >= 0.9
    assert rows[0.5, 60, 0.5]["told"] >= 0.5
    assert max(row["opposite"] for row in rows.values()) <= 0.02
