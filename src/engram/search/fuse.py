"""Fuse several rankings into one: normalise, weight and add the scores. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np

from engram.platform.value import value

Array = np.ndarray[Any, Any]


@value
class ScoreWeights:
    """The weight of each part of a score."""

    doc: float = 0.15  # keywords in the message itself
    turn: float = 0.15  # keywords in the message and its reply
    meaning: float = 0.7  # how much more similar than usual its meaning is
    session: float = 0.2  # keywords in the whole session
    sentence: float = 0.7  # keywords in one sentence
    statement: float = 0.2  # a user's statement about themselves
    time: float = 0.4  # inside the time the question asks about
    person: float = 0.4  # share of the keyword score lost by a message not written by a user
    pool: tuple[float, ...] = (1.0, 0.2)  # weights of a session's best messages, best first

    @property
    def total(self) -> float:
        """The score of a doc that is best in every part."""
        return self.doc + self.turn + self.meaning + self.session + self.sentence + self.statement


@value
class ScoreParts:
    """The parts of the candidates' scores, each from 0 to 1, as parallel arrays."""

    doc: Any
    turn: Any
    meaning: Any
    session: Any
    sentence: Any
    statement: Any
    time: Any


def select_parts(parts: ScoreParts, positions: Array) -> ScoreParts:
    """Return the parts of some candidates."""
    return ScoreParts(**{name: getattr(parts, name)[positions] for name in ScoreParts.__annotations__})


def scale_to_unit(scores: Array) -> Array:
    """Scale scores so that the best is 1."""
    best = float(scores.max()) if len(scores) else 0.0
    return scores / best if best > 0 else scores


def fuse_scores(parts: ScoreParts, weights: ScoreWeights) -> Array:
    """Return one score per candidate; 1 means best in every part."""
    total: Array = sum(getattr(weights, name) * getattr(parts, name) for name in ScoreParts.__annotations__)
    return total / weights.total


def pool_scores(scores: Array, groups: Array, weights: ScoreWeights) -> dict[int, float]:
    """Score each group by its best members."""
    totals: dict[int, float] = {}
    counts: dict[int, int] = {}
    for position in np.argsort(-scores, kind="stable"):
        group = int(groups[position])
        rank = counts.get(group, 0)
        if rank < len(weights.pool):
            totals[group] = totals.get(group, 0.0) + weights.pool[rank] * float(scores[position])
            counts[group] = rank + 1
    return totals
