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
    from engram.store.engine import Engine

Array = np.ndarray[Any, Any]

DTYPES = {
    "sources": "<i8", "kinds": "u1", "sessions": "<i8", "turns": "<i8", "times": "<i8", "lengths": "<u4", "dead": "u1",
}  # fmt: skip
DOC = "<u4"  # as postings and vectors name a doc within its segment

# What a doc is: who said it, or what it is a piece of. The order is stored: only add to its end.
KINDS = ("user", "assistant", "tool", "system", "gist", "era", "digest", "profile", "narrative", "article", "daily")
EXCHANGES = 4  # how many of them are exchanges

DEAD, SCRUBBED = 1, 2  # a doc that is found no more; one whose words and vectors are gone as well


def kind_of(name: str) -> int:
    """Return the number of a kind of doc; any other role is the system's."""
    return KINDS.index(name) if name in KINDS else KINDS.index("system")


def session_number(session_id: str) -> int:
    """Return a session's id as the number columns hold."""
    return int.from_bytes(blake2b(session_id.encode(), digest_size=8).digest(), "little", signed=True)


class Shelf:
    """All docs, column by column; only what is new is read when the store has changed."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.lock = RLock()
        self.version = 0  # rises with every change
        self.parts: list[dict[str, Any]] = []  # id, first, count, changed and columns of each segment
        self._combine()

    def refresh(self) -> None:
        """Take in what has changed in the store since."""
        known = {(part["id"], part["changed"]): part for part in self.parts}
        rows = segments.overview(self.engine)
        if [(row["id"], row["changed"]) for row in rows] == list(known):
            return
        self.parts = [known.get((row["id"], row["changed"])) or self._read(row["id"]) for row in rows]
        self._combine()
        self.version += 1

    def _read(self, segment: int) -> dict[str, Any]:
        row = segments.columns(self.engine, segment)
        return row | {name: np.frombuffer(row[name], dtype) for name, dtype in DTYPES.items()}

    def _combine(self) -> None:
        """Lay the segments' columns end to end, and number turns and sessions."""
        columns = {
            name: np.concatenate([part[name] for part in self.parts]) if self.parts else np.zeros(0, dtype)
            for name, dtype in DTYPES.items()
        }
        self.sources, self.kinds, self.times = columns["sources"], columns["kinds"], columns["times"]
        self.lengths, self.alive = columns["lengths"].astype(np.float32), columns["dead"] == 0
        self.count = len(self.sources)
        self.offsets = {}
        start = 0
        for part in self.parts:
            self.offsets[part["id"]] = start
            start += part["count"]
        turns = _runs(columns["turns"])
        self.turn_of, self.turns = turns, int(turns[-1]) + 1 if self.count else 0
        runs = _runs(columns["sessions"])
        heads = columns["sessions"][np.flatnonzero(np.diff(runs, prepend=-1))] if self.count else columns["sessions"]
        self.session_numbers, inverse = np.unique(heads, return_inverse=True)
        self.session_of = inverse[runs] if self.count else runs
        self.turn_lengths, self.session_lengths = (
            self._sums(turns, self.turns),
            self._sums(self.session_of, len(self.session_numbers)),
        )
        self.mean_length, self.mean_turn, self.mean_session = (
            max(1.0, float(each.mean())) if len(each) else 1.0
            for each in (self.lengths, self.turn_lengths, self.session_lengths)
        )

    def _sums(self, of: Array, count: int) -> Array:
        """Return how long each turn or session is."""
        return np.bincount(of, weights=self.lengths, minlength=count).astype(np.float32)

    def postings(self, terms: list[str]) -> dict[str, tuple[Array, Array]]:
        """Return for each term the docs that hold it, and how often they do."""
        found: dict[str, list[tuple[Array, Array]]] = {}
        for part in self.parts if terms else ():
            offset = self.offsets[part["id"]]
            for row in segments.postings(self.engine, part["id"], terms):
                docs = np.frombuffer(row["docs"], DOC).astype(np.int64) + offset
                found.setdefault(row["term"], []).append((docs, np.frombuffer(row["counts"], "u1")))
        return {
            term: (np.concatenate([docs for docs, _ in each]), np.concatenate([counts for _, counts in each]))
            for term, each in found.items()
        }

    def beginning(self, start: str, limit: int) -> list[str]:
        """Return terms that begin in some way."""
        found: dict[str, None] = {}
        for part in self.parts:
            found |= dict.fromkeys(segments.beginning(self.engine, part["id"], start, limit))
        return sorted(found)[:limit]


def _runs(column: Array) -> Array:
    """Return for each place the number of the run of equal values it lies in."""
    changes = np.zeros(len(column), np.int64)
    changes[1:] = column[1:] != column[:-1]
    runs: Array = np.cumsum(changes)
    return runs


_shelves: WeakKeyDictionary[Hub, Shelf] = WeakKeyDictionary()
_guard = RLock()


def shelf(hub: Hub) -> Shelf:
    """Return the shelf of an open store, up to date."""
    with _guard:
        found = _shelves.setdefault(hub, Shelf(hub.engine))
    with found.lock:
        found.refresh()
    return found
