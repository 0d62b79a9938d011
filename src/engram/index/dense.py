"""Scores by meaning: exact for few vectors; for many, by one-bit sketches and rescoring."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from engram.index.snapshot import DOC, IndexSnapshot
from engram.store import index_segments

if TYPE_CHECKING:
    from engram.store.engine import Engine

Array = np.ndarray[Any, Any]

EXACT = 50_000  # up to this many vectors, every one is compared exactly
_RESCORED = 2_000  # nearest by sketch to rescore
_FEW = 50  # weight of the model's known statistics, in vectors
_SAMPLE = 4_096  # vectors sampled to estimate the usual similarity


_Key = tuple[int, int]  # segment id, and how far it is embedded
_Part = tuple[Array, Array]  # docs of a segment, and their vectors


class VectorSpace:
    """The vectors of one model, for all docs of a snapshot that have them."""

    def __init__(self, number: int, dim: int, offsets: dict[int, int], segment_parts: dict[_Key, _Part]) -> None:
        self.number, self.dim = number, dim
        self._offsets, self._segment_parts = offsets, segment_parts
        parts = [(docs + offsets[segment], codes) for (segment, _), (docs, codes) in segment_parts.items() if len(docs)]
        self.docs = np.concatenate([docs for docs, _ in parts]) if parts else np.zeros(0, np.int64)
        self.codes = np.concatenate([codes for _, codes in parts]) if parts else np.zeros((0, dim), np.int8)
        self._full: Array | None = None
        self._sketch: Array | None = None
        self._sample: Array | None = None

    def refresh(self, snapshot: IndexSnapshot) -> VectorSpace:
        """Return the space with vectors added since."""
        rows = index_segments.list_coverage(snapshot.engine, self.number)
        keys = [(row["id"], row["through"]) for row in rows if row["through"] and row["id"] in snapshot.offsets]
        if keys == list(self._segment_parts) and snapshot.offsets == self._offsets:
            return self
        segment_parts = {key: self._segment_parts.get(key) or self._read_vectors(snapshot, key[0]) for key in keys}
        return VectorSpace(self.number, self.dim, snapshot.offsets, segment_parts)

    def _read_vectors(self, snapshot: IndexSnapshot, segment: int) -> _Part:
        rows = index_segments.read_vectors(snapshot.engine, self.number, segment)
        docs = b"".join(bytes(row["docs"]) for row in rows)
        codes = b"".join(bytes(row["codes"]) for row in rows)
        return np.frombuffer(docs, DOC).astype(np.int64), np.frombuffer(codes, np.int8).reshape(-1, self.dim)

    def estimate_usual_similarity(self, question: Array, usual: tuple[float, float]) -> tuple[float, float]:
        """Return the mean and deviation of docs' similarity to a question, by a sample and, if there are few docs,
        by what is known about the model."""
        if self._sample is None:
            self._sample = _normalize_vectors(self.codes[:: max(1, len(self.codes) // _SAMPLE)])
        similarities = self._sample @ question
        share = len(similarities) / (len(similarities) + _FEW)
        means = zip((float(similarities.mean()), float(similarities.std())), usual, strict=True)
        mean, spread = (share * measured + (1 - share) * prior for measured, prior in means)
        return mean, spread

    def score_docs(self, question: Array, mask: Array) -> tuple[Array, Array]:
        """Return the nearest docs with their similarity: the best of each doc's vectors."""
        if len(self.docs) <= EXACT:
            positions, similarities = self._score_exactly(question)
        else:
            positions, similarities = self._score_by_sketch(question, mask)
        docs = self.docs[positions]
        is_wanted = mask[docs]
        return _keep_nearest(docs[is_wanted], similarities[is_wanted])

    def _score_exactly(self, question: Array) -> tuple[Array, Array]:
        if self._full is None:
            self._full = _normalize_vectors(self.codes)
        return np.arange(len(self.docs)), self._full @ question

    def _score_by_sketch(self, question: Array, mask: Array) -> tuple[Array, Array]:
        if self._sketch is None:
            self._sketch = np.ascontiguousarray(_pack_signs(self.codes).T)  # word by word, in the order it is read
        query_bits = _pack_signs(question[None])[0]
        distances = np.zeros(len(self.docs), np.uint16)
        for doc_word, query_word in zip(self._sketch, query_bits, strict=True):
            distances += np.bitwise_count(doc_word ^ query_word)
        if not mask.all():
            distances[~mask[self.docs]] = np.iinfo(np.uint16).max
        count = min(_RESCORED, len(distances))
        positions = np.argpartition(distances, count - 1)[:count]
        return positions, _normalize_vectors(self.codes[positions]) @ question


def _keep_nearest(docs: Array, similarities: Array) -> tuple[Array, Array]:
    """Return each doc once, with the nearest of its vectors."""
    if not len(docs):
        return docs, similarities
    order = np.argsort(docs, kind="stable")
    docs, similarities = docs[order], similarities[order]
    heads = np.flatnonzero(np.diff(docs, prepend=docs[0] - 1))
    return docs[heads], np.maximum.reduceat(similarities, heads)


def _normalize_vectors(codes: Array) -> Array:
    vectors = codes.astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Array = vectors / np.where(lengths > 0, lengths, 1)
    return unit


def _pack_signs(vectors: Array) -> Array:
    """Return the sign of each number as one bit, packed into 64-bit words."""
    packed = np.packbits(vectors > 0, axis=1)
    padding = -packed.shape[1] % 8
    if padding:
        packed = np.pad(packed, ((0, 0), (0, padding)))
    return np.ascontiguousarray(packed).view(np.uint64)


def quantize_vectors(vectors: Array) -> Array:
    """Return vectors as stored: eight bits per number, scaled to the full range."""
    largest = np.abs(vectors).max(axis=1, keepdims=True) if len(vectors) else np.ones((0, 1), np.float32)
    codes: Array = np.rint(vectors / np.where(largest > 0, largest, 1) * 127).astype(np.int8)
    return codes


_spaces: WeakKeyDictionary[Engine, dict[int, VectorSpace]] = WeakKeyDictionary()
_guard = RLock()


def load_space(snapshot: IndexSnapshot, number: int, dim: int) -> VectorSpace:
    """Return the current vector space of a model."""
    with _guard:
        spaces = _spaces.setdefault(snapshot.engine, {})
        loaded = spaces[number] = (spaces.get(number) or VectorSpace(number, dim, {}, {})).refresh(snapshot)
    return loaded
