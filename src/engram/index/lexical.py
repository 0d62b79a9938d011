"""Keyword scores: BM25 over docs, over turns and over whole sessions, all from one set of postings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engram.index.shelf import Shelf
from engram.index.words import ASKING
from engram.value import value

Array = np.ndarray[Any, Any]

_K1 = 1.2  # how soon a word said again counts no more
_LARGE = 50_000  # docs from which on a question's common words are passed over
_READ = 300_000  # postings that are read for it then
_LEAST = 2  # words that are looked for, however common
_ASKING = 0.3  # what a word counts that belongs to the asking, not to what is asked for
_YOUNG = 40  # docs below which too little was said to know which words are common
_B = 0.75  # how much long texts are held back


@value
class Lexical:
    """Scores by keyword, and how much of the question each turn answers to."""

    docs: Any  # one score a doc
    turns: Any  # one a turn
    sessions: Any  # one a session
    cover: Any  # one a turn: the share of the question's words, weighed by how rare they are
    terms: dict[str, float]  # the words looked for, and how rare each is


def lexical(shelf: Shelf, terms: dict[str, list[str]], mask: Array) -> Lexical:
    """Score all docs by the words of a question; each comes with the terms it may stand as."""
    terms = _telling(shelf, terms)
    found = shelf.postings(sorted({each for group in terms.values() for each in group}))
    docs, turns = np.zeros(shelf.count, np.float32), np.zeros(shelf.turns, np.float32)
    sessions, cover = np.zeros(len(shelf.session_numbers), np.float32), np.zeros(shelf.turns, np.float32)
    rarity: dict[str, float] = {}
    for word, group in terms.items():
        places, counts = _joined([found[each] for each in group if each in found])
        idf = _rarity(shelf, len(places))
        idf = rarity[word] = idf * (_ASKING if word in ASKING else 1.0)
        kept = mask[places]
        places, counts = places[kept], counts[kept]
        docs[places] += idf * _weight(counts, shelf.lengths[places], shelf.mean_length)
        where, sums = _summed(shelf.turn_of[places], counts)
        turns[where] += idf * _weight(sums, shelf.turn_lengths[where], shelf.mean_turn)
        cover[where] += idf
        sums = np.bincount(shelf.session_of[places], weights=counts, minlength=len(sessions))
        where = np.flatnonzero(sums)
        sessions[where] += idf * _weight(sums[where], shelf.session_lengths[where], shelf.mean_session)
    total = sum(rarity.values())
    return Lexical(docs=docs, turns=turns, sessions=sessions, cover=cover / total if total else cover, terms=rarity)


def rarest(shelf: Shelf) -> float:
    """Return how rare a word is that one doc holds."""
    return _rarity(shelf, 1)


def _rarity(shelf: Shelf, count: int) -> float:
    return math.log(1 + (max(shelf.living, _YOUNG) - count + 0.5) / (count + 0.5))


def _telling(shelf: Shelf, terms: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the words worth looking for, rarest first: in a large store the common ones cost much and tell little."""
    if shelf.count <= _LARGE:
        return terms
    held = shelf.frequencies(sorted({each for group in terms.values() for each in group}))
    counts = {word: sum(held.get(each, 0) for each in group) for word, group in terms.items()}
    kept: dict[str, list[str]] = {}
    left = _READ
    for word in sorted(terms, key=lambda word: counts[word]):
        left -= counts[word]
        if left >= 0 or len(kept) < _LEAST:
            kept[word] = terms[word]
    return kept


def _weight(counts: Array, lengths: Array, mean: float) -> Array:
    saturated: Array = counts * (_K1 + 1) / (counts + _K1 * (1 - _B + _B * lengths / mean))
    return saturated


def _joined(found: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return the postings of several terms as those of one word."""
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    if len(found) == 1:
        return found[0][0], found[0][1].astype(np.float32)
    return _summed(np.concatenate([docs for docs, _ in found]), np.concatenate([counts for _, counts in found]))


def _summed(places: Array, counts: Array) -> tuple[Array, Array]:
    """Return each place once, with the sum of its counts."""
    if not len(places):
        return places, counts.astype(np.float32)
    order = np.argsort(places, kind="stable")  # they come nearly in order, which this sort makes use of
    places, counts = places[order], counts[order]
    heads = np.flatnonzero(np.diff(places, prepend=places[0] - 1))
    return places[heads], np.add.reduceat(counts.astype(np.float32), heads)
