"""Scores by meaning: exact while it is cheap, by a sketch of one bit a number and rescoring above that."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from engram.index.shelf import DOC, Shelf
from engram.store import segments

if TYPE_CHECKING:
    from engram.store.engine import Engine

Array = np.ndarray[Any, Any]

EXACT = 50_000  # vectors up to which every one is compared in full
_RESCORED = 2_000  # of the nearest by sketch
_FEW = 50  # vectors that tell as much as what is known of the model
_SAMPLE = 4_096  # vectors that tell what is usual


_Key = tuple[int, int]  # a segment, and how far it is covered
_Part = tuple[Array, Array]  # docs of a segment, and their vectors


class Space:
    """The vectors of one model, over all docs of a shelf that have them."""

    def __init__(self, number: int, dim: int, offsets: dict[int, int], held: dict[_Key, _Part]) -> None:
        self.number, self.dim = number, dim
        self._offsets, self._held = offsets, held
        parts = [(docs + offsets[segment], codes) for (segment, _), (docs, codes) in held.items() if len(docs)]
        self.docs = np.concatenate([docs for docs, _ in parts]) if parts else np.zeros(0, np.int64)
        self.codes = np.concatenate([codes for _, codes in parts]) if parts else np.zeros((0, dim), np.int8)
        self._full: Array | None = None
        self._sketch: Array | None = None
        self._some: Array | None = None

    def renewed(self, shelf: Shelf) -> Space:
        """Return the space with what has been embedded since."""
        rows = segments.coverage(shelf.engine, self.number)
        keys = [(row["id"], row["through"]) for row in rows if row["through"] and row["id"] in shelf.offsets]
        if keys == list(self._held) and shelf.offsets == self._offsets:
            return self
        held = {key: self._held.get(key) or self._read(shelf, key[0]) for key in keys}
        return Space(self.number, self.dim, shelf.offsets, held)

    def _read(self, shelf: Shelf, segment: int) -> _Part:
        rows = segments.vectors(shelf.engine, self.number, segment)
        docs = b"".join(bytes(row["docs"]) for row in rows)
        codes = b"".join(bytes(row["codes"]) for row in rows)
        return np.frombuffer(docs, DOC).astype(np.int64), np.frombuffer(codes, np.int8).reshape(-1, self.dim)

    def usual(self, question: Array, known: tuple[float, float]) -> tuple[float, float]:
        """Return how near docs are to a question on average, and how much that varies: by a sample, and by what is
        known of the model where there are few."""
        if self._some is None:
            self._some = _unit(self.codes[:: max(1, len(self.codes) // _SAMPLE)])
        near = self._some @ question
        share = len(near) / (len(near) + _FEW)
        means = zip((float(near.mean()), float(near.std())), known, strict=True)
        mean, spread = (share * here + (1 - share) * before for here, before in means)
        return mean, spread

    def score(self, question: Array, mask: Array) -> tuple[Array, Array]:
        """Return the nearest docs and how near each is: the best of its vectors."""
        if len(self.docs) <= EXACT:
            places, near = self._exact(question)
        else:
            places, near = self._sketched(question, mask)
        docs = self.docs[places]
        kept = mask[docs]
        return _nearest(docs[kept], near[kept])

    def _exact(self, question: Array) -> tuple[Array, Array]:
        if self._full is None:
            self._full = _unit(self.codes)
        return np.arange(len(self.docs)), self._full @ question

    def _sketched(self, question: Array, mask: Array) -> tuple[Array, Array]:
        if self._sketch is None:
            self._sketch = np.ascontiguousarray(_bits(self.codes).T)  # word by word, as it is read
        asked = _bits(question[None])[0]
        apart = np.zeros(len(self.docs), np.uint16)
        for held, wanted in zip(self._sketch, asked, strict=True):
            apart += np.bitwise_count(held ^ wanted)
        if not mask.all():
            apart[~mask[self.docs]] = np.iinfo(np.uint16).max
        count = min(_RESCORED, len(apart))
        places = np.argpartition(apart, count - 1)[:count]
        return places, _unit(self.codes[places]) @ question


def _nearest(docs: Array, near: Array) -> tuple[Array, Array]:
    """Return each doc once, with the nearest of its vectors."""
    if not len(docs):
        return docs, near
    order = np.argsort(docs, kind="stable")
    docs, near = docs[order], near[order]
    heads = np.flatnonzero(np.diff(docs, prepend=docs[0] - 1))
    return docs[heads], np.maximum.reduceat(near, heads)


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


_spaces: WeakKeyDictionary[Engine, dict[int, Space]] = WeakKeyDictionary()
_guard = RLock()


def space(shelf: Shelf, number: int, dim: int) -> Space:
    """Return the space of a model, up to date."""
    with _guard:
        known = _spaces.setdefault(shelf.engine, {})
        found = known[number] = (known.get(number) or Space(number, dim, {}, {})).renewed(shelf)
    return found
