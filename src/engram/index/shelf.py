"""The index as a process holds it: the columns of all docs in memory, postings fetched as they are asked for."""

from __future__ import annotations

from hashlib import blake2b
from threading import RLock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from engram.hub import Hub
from engram.store import segments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Engine

Array = np.ndarray[Any, Any]

DTYPES = {
    "sources": "<i8", "kinds": "u1", "sessions": "<i8", "turns": "<i8", "times": "<i8", "lengths": "<u4", "dead": "u1",
}  # fmt: skip
DOC = "<u4"  # as postings and vectors name a doc within its segment

DEAD, SCRUBBED = 1, 2  # a doc that is found no more; one whose words and vectors are gone as well


def session_number(session_id: str) -> int:
    """Return a session's id as the number columns hold."""
    return int.from_bytes(blake2b(session_id.encode(), digest_size=8).digest(), "little", signed=True)


class Shelf:
    """All docs, column by column, as they stood at one moment: a question sees one shelf from beginning to end."""

    def __init__(self, engine: Engine, parts: Sequence[dict[str, Any]] = (), version: int = 0) -> None:
        self.engine = engine
        self.version = version  # rises with every change
        self.parts = parts  # id, first, count, changed and columns of each segment
        self._combine()

    def renewed(self) -> Shelf:
        """Return the shelf as it stands now; only what is new is read."""
        known = {(part["id"], part["changed"]): part for part in self.parts}
        while True:
            rows = segments.overview(self.engine)
            if [(row["id"], row["changed"]) for row in rows] == list(known):
                return self
            parts = [known.get((row["id"], row["changed"])) or self._read(row["id"]) for row in rows]
            if all(parts):  # else one was merged away between the two looks
                return Shelf(self.engine, [part for part in parts if part], self.version + 1)

    def stands(self) -> bool:
        """Tell whether all segments are still there: what is read of one that is gone is missing."""
        return {part["id"] for part in self.parts} <= {row["id"] for row in segments.overview(self.engine)}

    def _read(self, segment: int) -> dict[str, Any] | None:
        row = segments.columns(self.engine, segment)
        return row and row | {name: np.frombuffer(row[name], dtype) for name, dtype in DTYPES.items()}

    def _combine(self) -> None:
        """Lay the segments' columns end to end, and number turns and sessions."""
        columns = {
            name: np.concatenate([part[name] for part in self.parts]) if self.parts else np.zeros(0, dtype)
            for name, dtype in DTYPES.items()
        }
        self.sources, self.kinds, self.times = columns["sources"], columns["kinds"], columns["times"]
        self.alive = columns["dead"] == 0
        self.lengths = columns["lengths"].astype(np.float32) * self.alive
        self.count, self.living = len(self.sources), int(self.alive.sum())
        self.offsets = {}
        start = 0
        for part in self.parts:
            self.offsets[part["id"]] = start
            start += part["count"]
        known, self.turn_of = _numbered(columns["turns"])
        self.turns = len(known)
        self.session_numbers, self.session_of = _numbered(columns["sessions"])
        self.turn_lengths = self._sums(self.turn_of, self.turns)
        self.session_lengths = self._sums(self.session_of, len(self.session_numbers))
        total = float(self.lengths.sum(dtype=np.float64))
        self.mean_length, self.mean_turn, self.mean_session = (
            max(1.0, total / max(1, count))
            for count in (self.living, *(_different(of[self.alive]) for of in (self.turn_of, self.session_of)))
        )

    def _sums(self, of: Array, count: int) -> Array:
        """Return how long each turn or session is."""
        return np.bincount(of, weights=self.lengths, minlength=count).astype(np.float32)

    def postings(self, terms: list[str]) -> dict[str, tuple[Array, Array]]:
        """Return for each term the living docs that hold it, and how often they do."""
        found: dict[str, list[tuple[Array, Array]]] = {}
        for part in self.parts if terms else ():
            offset = self.offsets[part["id"]]
            for row in segments.postings(self.engine, part["id"], terms):
                docs = np.frombuffer(row["docs"], DOC).astype(np.int64) + offset
                kept = self.alive[docs]
                found.setdefault(row["term"], []).append((docs[kept], np.frombuffer(row["counts"], "u1")[kept]))
        return {
            term: (np.concatenate([docs for docs, _ in each]), np.concatenate([counts for _, counts in each]))
            for term, each in found.items()
        }

    def frequencies(self, terms: list[str]) -> dict[str, int]:
        """Return in how many docs each term is, dead ones included."""
        found: dict[str, int] = {}
        for part in self.parts if terms else ():
            for term, count in segments.frequencies(self.engine, part["id"], terms).items():
                found[term] = found.get(term, 0) + count
        return found

    def beginning(self, start: str, limit: int) -> list[str]:
        """Return terms that begin in some way."""
        found: dict[str, None] = {}
        for part in self.parts:
            found |= dict.fromkeys(segments.beginning(self.engine, part["id"], start, limit))
        return sorted(found)[:limit]


def _different(numbers: Array) -> int:
    """Count different numbers, of small ones."""
    return int(np.count_nonzero(np.bincount(numbers)))


def _numbered(column: Array) -> tuple[Array, Array]:
    """Return the different values of a column, and for each place the number of its value.

    Equal values mostly stand side by side, so only the first of each run is sorted.
    """
    heads = np.ones(len(column), bool)
    heads[1:] = column[1:] != column[:-1]
    values, numbers = np.unique(column[heads], return_inverse=True)
    return values, numbers[np.cumsum(heads) - 1]


_shelves: WeakKeyDictionary[Hub, Shelf] = WeakKeyDictionary()
_guard = RLock()


def shelf(hub: Hub) -> Shelf:
    """Return the shelf of an open store, up to date."""
    with _guard:
        found = _shelves[hub] = (_shelves.get(hub) or Shelf(hub.engine)).renewed()
    return found
