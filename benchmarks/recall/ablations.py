"""What each part of recall is worth: the same questions with one part switched off.

The product has no switch for this. The one place that may reach into it is here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from benchmarks.recall.data import turn_id
from benchmarks.recall.systems import Hit, Ours, System
from engram.recall.fuse import Weights
from engram.recall.question import question
from engram.recall.search import search
from engram.store import exchanges

_OFF: dict[str, dict[str, Any]] = {
    "vectors": {"meaning": 0.0},
    "keywords": {"doc": 0.0, "turn": 0.0, "session": 0.0, "sentence": 0.0},
    "message": {"doc": 0.0},
    "turn": {"turn": 0.0},
    "session": {"session": 0.0},
    "sentence": {"sentence": 0.0},
    "statement": {"statement": 0.0},
    "time": {"time": 0.0},
    "person": {"person": 0.0},
    "pooling": {"pool": (1.0,)},
}


class Without(Ours):
    """Engram without one part of its score."""

    abstains = False

    def __init__(self, embedder: str, part: str) -> None:
        super().__init__(embedder)
        self.name = f"{self.name} - {part}"
        self.about = f"{self.about}, without: {part}"
        self.weights = Weights(**_OFF[part])

    def search(self, asked: str, asked_at: datetime, k: int, abstain: bool = False) -> list[Hit]:  # noqa: ARG002
        """Return what the inner search finds with that part's weight at 0."""
        result = search(self.engram, question(asked, asked_at), weights=self.weights)
        if self.unit == "session":
            result, _ = result.by_session()
        found = result.found(0, k if self.unit == "session" else max(k, 50))
        rows = exchanges.by_id(self.engram.engine, [each.source for each in found])
        hits = []
        for each in found:
            row = rows[each.source]
            place = turn_id(row["session_id"], exchanges.turn(self.engram.engine, row))
            hits.append(Hit(row["session_id"], place, row["content"][:320]))
        return hits


def ablations(embedder: str = "static") -> Sequence[System]:
    """Return Engram once for each part that can be switched off."""
    return [Without(embedder, part) for part in _OFF]
