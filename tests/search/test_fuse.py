"""Several rankings are combined into one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.search.fuse import ScoreParts, ScoreWeights, fuse_scores, pool_scores, scale_to_unit, select_parts

SCORES = st.lists(st.integers(0, 1000).map(lambda n: n / 100), max_size=20)


def parts(**given: list[float]) -> ScoreParts:
    count = len(next(iter(given.values())))
    return ScoreParts(**{name: np.array(given.get(name, [0.0] * count)) for name in ScoreParts.__annotations__})


@given(SCORES)
def test_scores_become_shares_of_the_best(scores: list[float]) -> None:
    result = scale_to_unit(np.array(scores, np.float32))
    assert len(result) == len(scores)
    assert not len(result) or result.max() in (0.0, pytest.approx(1.0))
    assert np.argsort(result, kind="stable").tolist() == np.argsort(np.array(scores), kind="stable").tolist()


def test_what_is_best_in_every_part_scores_one() -> None:
    every = {name: [1.0, 0.5] for name in ScoreParts.__annotations__ if name != "time"}
    assert fuse_scores(parts(**every), ScoreWeights()) == pytest.approx([1.0, 0.5])


def test_a_part_counts_by_its_weight() -> None:
    weights = ScoreWeights(doc=0.2, meaning=0.8)
    one, other = fuse_scores(parts(doc=[1.0, 0.0], meaning=[0.0, 1.0]), weights)
    assert other / one == pytest.approx(4.0)


def test_some_are_chosen_in_the_order_asked_for() -> None:
    assert select_parts(parts(doc=[1.0, 2.0, 3.0]), np.array([2, 0])).doc.tolist() == [3.0, 1.0]


def test_a_session_is_as_good_as_its_best_messages() -> None:
    result = pool_scores(
        np.array([0.9, 0.5, 0.5, 0.5, 0.5]), np.array([1, 2, 2, 2, 2]), ScoreWeights(pool=(1.0, 0.5, 0.5))
    )
    assert result == {1: pytest.approx(0.9), 2: pytest.approx(1.0)}


def test_the_best_message_of_a_session_counts_most_wherever_it_stands() -> None:
    found = pool_scores(np.array([0.2, 0.8, 0.4, 0.1]), np.array([1, 1, 1, 1]), ScoreWeights(pool=(1.0, 0.5, 0.25)))
    assert found == {1: pytest.approx(0.8 + 0.5 * 0.4 + 0.25 * 0.2)}
