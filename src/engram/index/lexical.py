"""Keyword scores: BM25 over docs, turns and sessions, all from one set of postings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engram.index.snapshot import IndexSnapshot
from engram.index.tokenizer import QUESTION_WORDS
from engram.platform.value import value

Array = np.ndarray[Any, Any]

_K1 = 1.2  # BM25 k1: saturation of repeated words
_LARGE = 50_000  # from this many docs on, common words of a question are skipped
_READ = 300_000  # postings read in that case
_LEAST = 2  # words always searched, however common
_QUESTION_WEIGHT = 0.3  # weight of words that belong to asking, not to the subject
_YOUNG = 40  # with fewer docs, it is unknown which words are common
_B = 0.75  # BM25 b: penalty for long texts


@value
class KeywordScores:
    """Keyword scores, and how much of the question each turn covers."""

    docs: Any  # per doc
    turns: Any  # per turn
    sessions: Any  # per session
    cover: Any  # per turn: the share of the question's words, weighted by rarity
    terms: dict[str, float]  # the words searched, and how rare each is


def score_keywords(snapshot: IndexSnapshot, terms: dict[str, list[str]], mask: Array) -> KeywordScores:
    """Score all docs by the words of a question, each given with its possible terms."""
    terms = _select_rare_words(snapshot, terms)
    postings = snapshot.read_postings(sorted({term for group in terms.values() for term in group}))
    docs, turns = np.zeros(snapshot.count, np.float32), np.zeros(snapshot.turns, np.float32)
    sessions, cover = np.zeros(len(snapshot.session_numbers), np.float32), np.zeros(snapshot.turns, np.float32)
    rarity: dict[str, float] = {}
    for word, group in terms.items():
        positions, counts = _join_postings([postings[term] for term in group if term in postings])
        idf = _compute_rarity(snapshot, len(positions))
        idf = rarity[word] = idf * (_QUESTION_WEIGHT if word in QUESTION_WORDS else 1.0)
        is_wanted = mask[positions]
        positions, counts = positions[is_wanted], counts[is_wanted]
        docs[positions] += idf * _weigh_counts(counts, snapshot.lengths[positions], snapshot.mean_length)
        where, sums = _sum_by_place(snapshot.turn_of[positions], counts)
        turns[where] += idf * _weigh_counts(sums, snapshot.turn_lengths[where], snapshot.mean_turn)
        cover[where] += idf
        sums = np.bincount(snapshot.session_of[positions], weights=counts, minlength=len(sessions))
        where = np.flatnonzero(sums)
        sessions[where] += idf * _weigh_counts(sums[where], snapshot.session_lengths[where], snapshot.mean_session)
    total = sum(rarity.values())
    return KeywordScores(
        docs=docs, turns=turns, sessions=sessions, cover=cover / total if total else cover, terms=rarity
    )


def compute_max_rarity(snapshot: IndexSnapshot) -> float:
    """Return the rarity of a word that occurs in one doc."""
    return _compute_rarity(snapshot, 1)


def _compute_rarity(snapshot: IndexSnapshot, count: int) -> float:
    return math.log(1 + (max(snapshot.living_count, _YOUNG) - count + 0.5) / (count + 0.5))


def _select_rare_words(snapshot: IndexSnapshot, terms: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the words worth searching, rarest first: in a large store common words cost much and help little."""
    if snapshot.count <= _LARGE:
        return terms
    frequencies = snapshot.read_frequencies(sorted({term for group in terms.values() for term in group}))
    counts = {word: sum(frequencies.get(term, 0) for term in group) for word, group in terms.items()}
    chosen: dict[str, list[str]] = {}
    budget = _READ
    for word in sorted(terms, key=lambda word: counts[word]):
        budget -= counts[word]
        if budget >= 0 or len(chosen) < _LEAST:
            chosen[word] = terms[word]
    return chosen


def _weigh_counts(counts: Array, lengths: Array, mean: float) -> Array:
    saturated: Array = counts * (_K1 + 1) / (counts + _K1 * (1 - _B + _B * lengths / mean))
    return saturated


def _join_postings(postings: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return the postings of several terms merged as those of one word."""
    if not postings:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    if len(postings) == 1:
        return postings[0][0], postings[0][1].astype(np.float32)
    return _sum_by_place(
        np.concatenate([docs for docs, _ in postings]), np.concatenate([counts for _, counts in postings])
    )


def _sum_by_place(positions: Array, counts: Array) -> tuple[Array, Array]:
    """Return each position once, with the sum of its counts."""
    if not len(positions):
        return positions, counts.astype(np.float32)
    order = np.argsort(positions, kind="stable")  # nearly sorted already, which this algorithm exploits
    positions, counts = positions[order], counts[order]
    heads = np.flatnonzero(np.diff(positions, prepend=positions[0] - 1))
    return positions[heads], np.add.reduceat(counts.astype(np.float32), heads)
