"""Several rankings become one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.recall.fuse import Parts, Weights, chosen, fused, pooled, unit

SCORES = st.lists(st.integers(0, 1000).map(lambda n: n / 100), max_size=20)


def parts(**given: list[float]) -> Parts:
    count = len(next(iter(given.values())))
    return Parts(**{name: np.array(given.get(name, [0.0] * count)) for name in Parts.__annotations__})


@given(SCORES)
def test_scores_become_shares_of_the_best(scores: list[float]) -> None:
    found = unit(np.array(scores, np.float32))
    assert len(found) == len(scores)
    assert not len(found) or found.max() in (0.0, pytest.approx(1.0))
    assert np.argsort(found, kind="stable").tolist() == np.argsort(np.array(scores), kind="stable").tolist()


def test_what_is_best_in_every_part_scores_one() -> None:
    every = {name: [1.0, 0.5] for name in Parts.__annotations__ if name != "time"}
    assert fused(parts(**every), Weights()) == pytest.approx([1.0, 0.5])


def test_a_part_counts_by_its_weight() -> None:
    weights = Weights(doc=0.2, meaning=0.8)
    one, other = fused(parts(doc=[1.0, 0.0], meaning=[0.0, 1.0]), weights)
    assert other / one == pytest.approx(4.0)


def test_some_are_chosen_in_the_order_asked_for() -> None:
    assert chosen(parts(doc=[1.0, 2.0, 3.0]), np.array([2, 0])).doc.tolist() == [3.0, 1.0]


def test_a_session_is_as_good_as_its_best_messages() -> None:
    found = pooled(np.array([0.9, 0.5, 0.5, 0.5, 0.5]), np.array([1, 2, 2, 2, 2]), Weights(pool=(1.0, 0.5, 0.5)))
    assert found == {1: pytest.approx(0.9), 2: pytest.approx(1.0)}
