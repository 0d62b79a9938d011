"""The index as held by a process: all columns in memory, postings fetched on demand."""

from __future__ import annotations

from hashlib import blake2b
from threading import RLock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from engram.hub import Hub
from engram.store import index_segments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Engine

Array = np.ndarray[Any, Any]

DTYPES = {
    "sources": "<i8", "kinds": "u1", "sessions": "<i8", "turns": "<i8", "times": "<i8", "lengths": "<u4", "dead": "u1",
}  # fmt: skip
DOC = "<u4"  # a doc's number within its segment, as postings and vectors store it

DEAD, SCRUBBED = 1, 2  # a doc no longer found; one whose words and vectors are removed as well


def hash_session_id(session_id: str) -> int:
    """Return a session's id as a number for the columns."""
    return int.from_bytes(blake2b(session_id.encode(), digest_size=8).digest(), "little", signed=True)


class IndexSnapshot:
    """All docs by column, as of one moment: a search uses one snapshot from start to end."""

    def __init__(self, engine: Engine, parts: Sequence[dict[str, Any]] = (), version: int = 0) -> None:
        self.engine = engine
        self.version = version  # increases with every change
        self.parts = parts  # id, first, count, changed and columns of each segment
        self._combine_columns()

    def refresh(self) -> IndexSnapshot:
        """Return the current snapshot; only new segments are read."""
        parts_by_version = {(part["id"], part["changed"]): part for part in self.parts}
        while True:
            rows = index_segments.list_segments(self.engine)
            if [(row["id"], row["changed"]) for row in rows] == list(parts_by_version):
                return self
            parts = [parts_by_version.get((row["id"], row["changed"])) or self._read_segment(row["id"]) for row in rows]
            if all(parts):  # else one was merged between the two reads
                return IndexSnapshot(self.engine, [part for part in parts if part], self.version + 1)

    def has_all_segments(self) -> bool:
        """Return whether all segments still exist: postings of a merged one are missing."""
        return {part["id"] for part in self.parts} <= {row["id"] for row in index_segments.list_segments(self.engine)}

    def _read_segment(self, segment: int) -> dict[str, Any] | None:
        row = index_segments.read_segment(self.engine, segment)
        return row and row | {name: np.frombuffer(row[name], dtype) for name, dtype in DTYPES.items()}

    def _combine_columns(self) -> None:
        """Concatenate the segments' columns, and number turns and sessions."""
        columns = {
            name: np.concatenate([part[name] for part in self.parts]) if self.parts else np.zeros(0, dtype)
            for name, dtype in DTYPES.items()
        }
        self.sources, self.kinds, self.times = columns["sources"], columns["kinds"], columns["times"]
        self.alive = columns["dead"] == 0
        self.lengths = columns["lengths"].astype(np.float32) * self.alive
        self.count, self.living_count = len(self.sources), int(self.alive.sum())
        self.offsets = {}
        start = 0
        for part in self.parts:
            self.offsets[part["id"]] = start
            start += part["count"]
        values, self.turn_of = _number_values(columns["turns"])
        self.turns = len(values)
        self.session_numbers, self.session_of = _number_values(columns["sessions"])
        self.turn_lengths = self._sum_lengths(self.turn_of, self.turns)
        self.session_lengths = self._sum_lengths(self.session_of, len(self.session_numbers))
        total = float(self.lengths.sum(dtype=np.float64))
        self.mean_length, self.mean_turn, self.mean_session = (
            max(1.0, total / max(1, count))
            for count in (
                self.living_count,
                *(_count_distinct(numbers[self.alive]) for numbers in (self.turn_of, self.session_of)),
            )
        )

    def _sum_lengths(self, numbers: Array, count: int) -> Array:
        """Return the length of each turn or session."""
        return np.bincount(numbers, weights=self.lengths, minlength=count).astype(np.float32)

    def read_postings(self, terms: list[str]) -> dict[str, tuple[Array, Array]]:
        """Return for each term the live docs that contain it, with counts."""
        postings: dict[str, list[tuple[Array, Array]]] = {}
        for part in self.parts if terms else ():
            offset = self.offsets[part["id"]]
            for row in index_segments.read_postings(self.engine, part["id"], terms):
                docs = np.frombuffer(row["docs"], DOC).astype(np.int64) + offset
                is_alive = self.alive[docs]
                postings.setdefault(row["term"], []).append(
                    (docs[is_alive], np.frombuffer(row["counts"], "u1")[is_alive])
                )
        return {
            term: (np.concatenate([docs for docs, _ in pairs]), np.concatenate([counts for _, counts in pairs]))
            for term, pairs in postings.items()
        }

    def read_frequencies(self, terms: list[str]) -> dict[str, int]:
        """Return for each term the number of docs, including deleted ones."""
        totals: dict[str, int] = {}
        for part in self.parts if terms else ():
            for term, count in index_segments.read_frequencies(self.engine, part["id"], terms).items():
                totals[term] = totals.get(term, 0) + count
        return totals

    def find_terms(self, start: str, limit: int) -> list[str]:
        """Return the terms with a prefix."""
        terms: dict[str, None] = {}
        for part in self.parts:
            terms |= dict.fromkeys(index_segments.find_terms(self.engine, part["id"], start, limit))
        return sorted(terms)[:limit]


def _count_distinct(numbers: Array) -> int:
    """Count distinct small numbers."""
    return int(np.count_nonzero(np.bincount(numbers)))


def _number_values(column: Array) -> tuple[Array, Array]:
    """Return the distinct values of a column, and for each row the index of its value.

    Equal values are mostly adjacent, so only the first of each run is sorted.
    """
    heads = np.ones(len(column), bool)
    heads[1:] = column[1:] != column[:-1]
    values, numbers = np.unique(column[heads], return_inverse=True)
    return values, numbers[np.cumsum(heads) - 1]


_snapshots: WeakKeyDictionary[Hub, IndexSnapshot] = WeakKeyDictionary()
_guard = RLock()


def load_snapshot(hub: Hub) -> IndexSnapshot:
    """Return the current snapshot of an open store."""
    with _guard:
        snapshot = _snapshots[hub] = (_snapshots.get(hub) or IndexSnapshot(hub.engine)).refresh()
    return snapshot
