"""Make one ranking of several: normalised scores, weighed and added. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np

from engram.value import value

Array = np.ndarray[Any, Any]


@value
class Weights:
    """How much each part of a score counts."""

    doc: float = 0.25  # keywords in the message itself
    turn: float = 0.25  # keywords in it and what answers it
    meaning: float = 0.6  # by how much it is nearer than usual
    session: float = 0.3  # keywords in the whole session
    sentence: float = 0.4  # keywords in one sentence
    statement: float = 0.2  # a person's own word about themselves
    time: float = 0.2  # said in the time the question speaks of
    person: float = 0.3  # how much of its keyword score a message loses that no person said
    pool: tuple[float, ...] = (1.0, 0.4, 0.15)  # how much a session's best messages count for it, best first

    @property
    def total(self) -> float:
        """Return the score of what is best in every part."""
        return self.doc + self.turn + self.meaning + self.session + self.sentence + self.statement


@value
class Parts:
    """The parts of the scores of candidates, each from 0 to 1, in one order."""

    doc: Any
    turn: Any
    meaning: Any
    session: Any
    sentence: Any
    statement: Any
    time: Any


def chosen(parts: Parts, places: Array) -> Parts:
    """Return the parts of some candidates."""
    return Parts(**{name: getattr(parts, name)[places] for name in Parts.__annotations__})


def unit(scores: Array) -> Array:
    """Return scores with the best as 1."""
    best = float(scores.max()) if len(scores) else 0.0
    return scores / best if best > 0 else scores


def fused(parts: Parts, weights: Weights) -> Array:
    """Return one score for each candidate: 1 for what is best in every part."""
    total: Array = sum(getattr(weights, name) * getattr(parts, name) for name in Parts.__annotations__)
    return total / weights.total


def pooled(scores: Array, groups: Array, weights: Weights) -> dict[int, float]:
    """Return a score for each group by its best members."""
    found: dict[int, float] = {}
    seen: dict[int, int] = {}
    for place in np.argsort(-scores, kind="stable"):
        group = int(groups[place])
        rank = seen.get(group, 0)
        if rank < len(weights.pool):
            found[group] = found.get(group, 0.0) + weights.pool[rank] * float(scores[place])
            seen[group] = rank + 1
    return found
