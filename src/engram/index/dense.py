"""Scores by meaning: exact while it is cheap, by a sketch of one bit a number and rescoring above that."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from engram.index.shelf import DOC, Shelf
from engram.store import segments

Array = np.ndarray[Any, Any]

EXACT = 100_000  # vectors up to which every one is compared in full
_RESCORED = 2_000  # of the nearest by sketch
_SAMPLE = 4_096  # vectors that tell what is usual


class Space:
    """The vectors of one model, over all docs that have them."""

    def __init__(self, number: int, dim: int) -> None:
        self.number, self.dim = number, dim
        self._parts: dict[tuple[int, int], tuple[Array, Array]] = {}  # by segment and how far it is covered
        self._version: tuple[int, tuple[tuple[int, int], ...]] = (-1, ())
        self.docs, self.codes = np.zeros(0, np.int64), np.zeros((0, dim), np.int8)
        self._full: Array | None = None
        self._sketch: Array | None = None
        self._some: Array | None = None

    def refresh(self, shelf: Shelf) -> None:
        """Take in what has been embedded since."""
        rows = segments.coverage(shelf.engine, self.number)
        state = (shelf.version, tuple((row["id"], row["through"]) for row in rows))
        if state == self._version:
            return
        kept = {key: self._parts.get(key) or self._read(shelf, key[0]) for key in state[1] if key[1]}
        self._parts, self._version = kept, state
        parts = [(docs + shelf.offsets[segment], codes) for (segment, _), (docs, codes) in kept.items()]
        parts = [(docs, codes) for docs, codes in parts if len(docs)]
        self.docs = np.concatenate([docs for docs, _ in parts]) if parts else np.zeros(0, np.int64)
        self.codes = np.concatenate([codes for _, codes in parts]) if parts else np.zeros((0, self.dim), np.int8)
        self._full = self._sketch = self._some = None

    def _read(self, shelf: Shelf, segment: int) -> tuple[Array, Array]:
        rows = segments.vectors(shelf.engine, self.number, segment)
        docs = [np.frombuffer(row["docs"], DOC).astype(np.int64) for row in rows]
        codes = [np.frombuffer(row["codes"], np.int8).reshape(-1, self.dim) for row in rows]
        return np.concatenate(docs), np.concatenate(codes)

    def usual(self, question: Array) -> tuple[float, float]:
        """Return how near docs are to a question on average, and how much that varies, by a sample."""
        if self._some is None:
            self._some = _unit(self.codes[:: max(1, len(self.codes) // _SAMPLE)])
        near = self._some @ question
        return float(near.mean()), float(near.std())

    def score(self, shelf: Shelf, question: Array, mask: Array) -> tuple[Array, Array]:
        """Return the nearest docs and how near each is: the best of its vectors."""
        if len(self.docs) <= EXACT:
            places, near = self._exact(question)
        else:
            places, near = self._sketched(question, mask)
        docs = self.docs[places]
        kept = mask[docs]
        best = np.zeros(shelf.count, np.float32)
        np.maximum.at(best, docs[kept], near[kept])
        found = np.flatnonzero(best)
        return found, best[found]

    def _exact(self, question: Array) -> tuple[Array, Array]:
        if self._full is None:
            self._full = _unit(self.codes)
        return np.arange(len(self.docs)), self._full @ question

    def _sketched(self, question: Array, mask: Array) -> tuple[Array, Array]:
        if self._sketch is None:
            self._sketch = _bits(self.codes)
        asked = _bits(question[None])[0]
        apart = np.zeros(len(self._sketch), np.uint16)
        for word in range(self._sketch.shape[1]):
            apart += np.bitwise_count(self._sketch[:, word] ^ asked[word])
        apart[~mask[self.docs]] = np.iinfo(np.uint16).max
        count = min(_RESCORED, len(apart))
        places = np.argpartition(apart, count - 1)[:count]
        return places, _unit(self.codes[places]) @ question


def _unit(codes: Array) -> Array:
    vectors = codes.astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Array = vectors / np.where(lengths > 0, lengths, 1)
    return unit


def _bits(vectors: Array) -> Array:
    """Return the sign of each number as one bit, eight bytes together."""
    packed = np.packbits(vectors > 0, axis=1)
    short = -packed.shape[1] % 8
    if short:
        packed = np.pad(packed, ((0, 0), (0, short)))
    return np.ascontiguousarray(packed).view(np.uint64)


def coded(vectors: Array) -> Array:
    """Return vectors as they are stored: eight bits a number, largest first to the full range."""
    largest = np.abs(vectors).max(axis=1, keepdims=True) if len(vectors) else np.ones((0, 1), np.float32)
    codes: Array = np.rint(vectors / np.where(largest > 0, largest, 1) * 127).astype(np.int8)
    return codes


_spaces: WeakKeyDictionary[Shelf, dict[int, Space]] = WeakKeyDictionary()


def space(shelf: Shelf, number: int, dim: int) -> Space:
    """Return the space of a model, up to date."""
    with shelf.lock:
        found = _spaces.setdefault(shelf, {}).setdefault(number, Space(number, dim))
        found.refresh(shelf)
    return found
