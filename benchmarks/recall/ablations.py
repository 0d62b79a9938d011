"""Measure what each part of recall contributes: the same questions with one part of the score disabled.

Engram has no option for this, so this module calls its internals.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from benchmarks.recall.data import turn_id
from benchmarks.recall.systems import Hit, Ours, System
from engram.search.candidates import search_index
from engram.search.fuse import ScoreWeights
from engram.search.query import parse_question
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
        self.weights = ScoreWeights(**_OFF[part])

    def search(self, asked: str, asked_at: datetime, k: int, abstain: bool = False) -> list[Hit]:  # noqa: ARG002
        """Search the index with the weight of the disabled part set to 0."""
        result = search_index(self.engram, parse_question(asked, asked_at), weights=self.weights)
        if self.unit == "session":
            result, _ = result.by_session()
        docs = result.list_docs(0, k if self.unit == "session" else max(k, 50))
        rows = exchanges.fetch_by_ids(self.engram.engine, [doc.source for doc in docs])
        hits = []
        for doc in docs:
            row = rows[doc.source]
            place = turn_id(row["session_id"], exchanges.count_before(self.engram.engine, row))
            hits.append(Hit(row["session_id"], place, row["content"][:320]))
        return hits


def ablations(embedder: str = "static") -> Sequence[System]:
    """Return one Engram for each part that can be disabled."""
    return [Without(embedder, part) for part in _OFF]
