"""The statistics against known truths: textbook values, and histories drawn with a known effect."""

from __future__ import annotations

from math import isclose

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import measure as simulated
from engram.rules.statistics import counted, difference, fisher, holm, saved, wilson
from engram.rules.verdict import Verdict, judge

PAIRS = st.integers(0, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_the_intervals_are_those_of_the_literature() -> None:
    # Newcombe 1998: 56/70 against 48/80 is 0.2000, from 0.0524 to 0.3339; 9/10 against 3/10 is 0.6, 0.1705 to 0.8090.
    one = difference((48, 80), (56, 70))
    assert (round(one.value, 4), round(one.low, 4), round(one.high, 4)) == (0.2, 0.0524, 0.3339)
    two = difference((3, 10), (9, 10))
    assert (round(two.low, 4), round(two.high, 4)) == (0.1705, 0.8090)
    low, high = wilson(10, 20)
    assert (round(low, 3), round(high, 3)) == (0.299, 0.701)


def test_the_exact_test_is_fishers() -> None:
    assert isclose(fisher((3, 4), (1, 4)), 0.485714, abs_tol=1e-6)  # a lady who tastes tea
    assert isclose(fisher((8, 10), (1, 6)), 0.034965, abs_tol=1e-6)
    assert fisher((0, 10), (0, 10)) == 1.0
    assert fisher((0, 0), (1, 1)) == 1.0


@given(PAIRS, PAIRS)
def test_figures_stay_within_bounds_and_sides_are_alike(one: tuple[int, int], two: tuple[int, int]) -> None:
    there, back = difference(one, two), difference(two, one)
    assert -1 <= there.low <= there.value <= there.high <= 1
    assert isclose(there.low, -back.high, abs_tol=1e-9)
    assert 0 <= fisher(one, two) <= 1
    assert isclose(fisher(one, two), fisher(two, one), abs_tol=1e-9)


def test_many_questions_ask_for_more() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
    assert holm([0.9, 0.9]) == [1.0, 1.0]


def test_the_sessions_by_which_a_pattern_was_found_do_not_count() -> None:
    shown = [False, True, False, True, False, False, True]
    assert counted(shown) == slice(4, 6)
    assert counted([True, False]) == slice(0, 2)
    assert counted([]) == slice(0, 0)
    assert counted([True, True]) == slice(2, 2)


def test_what_is_saved_is_counted_over_the_sessions_after() -> None:
    found = saved([100.0] * 10 + [0.0] * 10, [0.0] * 40)
    assert found.value == 2000
    assert found.low < 2000 < found.high
    assert saved([], [1.0]) == saved([1.0], [])


def test_a_history_is_judged_by_one_word() -> None:
    def word(before: tuple[int, int], after: tuple[int, int], better: int = -1) -> str:
        chance = fisher(before, after)
        return judge(before, after, difference(before, after), None, chance, better)[0]

    assert word((30, 60), (5, 60)) == Verdict.HELPED
    assert word((5, 60), (30, 60)) == Verdict.HURT
    assert word((5, 60), (30, 60), better=1) == Verdict.HELPED
    assert word((150, 300), (150, 300)) == Verdict.NONE
    assert word((10, 20), (8, 20)) == Verdict.EARLY
    assert word((5, 5), (0, 5)) == Verdict.EARLY


def test_a_change_that_sessions_without_the_rule_share_is_not_its_merit() -> None:
    before, after = (30, 60), (5, 60)
    beside = difference((2, 30), (3, 30))
    assert judge(before, after, difference(before, after), beside, 0.001, -1)[0] == Verdict.NONE


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
