"""Metrics of a ranking; pure functions."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass


def any_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1 if one of the gold ids is among the first k."""
    return float(any(item in gold for item in ranked[:k]))


def all_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1 if every gold id is among the first k."""
    return float(set(gold) <= set(ranked[:k]))


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the share of the gold ids that are among the first k."""
    return len(set(gold) & set(ranked[:k])) / len(set(gold))


def ndcg_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the discounted gain of the first k, divided by that of the best order."""
    gained = sum(1 / math.log2(place + 2) for place, item in enumerate(ranked[:k]) if item in gold)
    best = sum(1 / math.log2(place + 2) for place in range(min(k, len(set(gold)))))
    return gained / best


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """Return one over the rank of the first gold id, or 0."""
    return next((1 / rank for rank, item in enumerate(ranked, 1) if item in gold), 0.0)


def percentile(values: Iterable[float], share: float) -> float:
    """Return a percentile by nearest rank; `share` is between 0 and 1."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else math.nan


def distinct(ids: Iterable[str]) -> list[str]:
    """Return the distinct ids in order of first appearance."""
    return list(dict.fromkeys(ids))


@dataclass(frozen=True)
class Scores:
    """The mean metrics of several rankings."""

    count: int
    any_1: float
    any_5: float
    any_10: float
    all_5: float
    all_10: float
    recall_5: float
    recall_10: float
    ndcg_10: float
    mrr: float


def scores(rankings: Iterable[tuple[Sequence[str], Collection[str]]]) -> Scores:
    """Return the mean metrics of rankings, each with its gold ids."""
    rows = [
        (
            any_at(ranked, gold, 1), any_at(ranked, gold, 5), any_at(ranked, gold, 10),
            all_at(ranked, gold, 5), all_at(ranked, gold, 10),
            recall_at(ranked, gold, 5), recall_at(ranked, gold, 10),
            ndcg_at(ranked, gold, 10), reciprocal_rank(ranked, gold),
        )
        for ranked, gold in rankings
        if gold
    ]  # fmt: skip
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)] if rows else [math.nan] * 9
    return Scores(len(rows), *means)
