"""Find the cases, episodes and commits, whose problem is like a text. It runs in hooks: plain SQL, no vectors."""

from __future__ import annotations

import math

from engram.evidence import anchors
from engram.index.tokenizer import QUESTION_WORDS, extract_terms
from engram.platform.value import value
from engram.store import cases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.store.engine import Row

_TERMS = 64  # words of a text that are searched
_OFTEN = 0.3  # share of the cases above which a word says nothing
_FEW = 8  # cases below which every word counts
_POSTINGS = 5_000  # cases read for one word
_NAMED = 30  # cases read for one symbol or file
_LENGTH = 0.4  # how much a case with many words is held back
_FREE_NAMES = 4  # cases that may name a symbol before it becomes a common one


@value
class CaseMatch:
    """A case, and what of a text it matches."""

    case: int
    score: float  # sum of the weights of the shared words, less for long cases
    words: float  # the score in words that no other case has
    cover: float  # share of the weight of the text's words that the case has
    names: tuple[str, ...]  # rare symbols and files of the text that the case is about
    lead: float  # how far its score is above the next one's


def find_cases(
    hub: Hub, text: str, project: str | None, limit: int = 8, exclude: frozenset[int] = frozenset()
) -> list[CaseMatch]:  # fmt: skip
    """Return the cases that share the most telling words with a text, best first."""
    sizes = {case: size for case, size in cases.list_sizes(hub.engine, project).items() if case not in exclude}
    if not sizes:
        return []
    terms = [term for term in dict.fromkeys(extract_terms(text)) if term not in QUESTION_WORDS][:_TERMS]
    weights, postings = _weigh_terms(hub, terms, sizes)
    scores, cover = _score(weights, postings, sizes)
    named = _find_named(hub, text, project, sizes)
    for case, names in named.items():
        if case in sizes:
            scores[case] = scores.get(case, 0.0) + len(names) * _weigh(1, len(sizes))
    total = sum(weights.values()) or 1.0
    ranked = sorted(scores, key=lambda case: (-scores[case], -case))[: limit + 1]
    return [
        _build_match(case, ranked, scores, cover.get(case, 0.0) / total, named, len(sizes)) for case in ranked[:limit]
    ]


def _build_match(
    case: int, ranked: list[int], scores: dict[int, float], cover: float, named: dict[int, list[str]], total: int
) -> CaseMatch:
    following = ranked[ranked.index(case) + 1 :][:1]
    lead = scores[case] / scores[following[0]] if following else math.inf
    return CaseMatch(
        case=case, score=scores[case], words=scores[case] / _weigh(1, total), cover=cover,
        names=tuple(named.get(case, ())), lead=lead,
    )  # fmt: skip


def _weigh(count: int, total: int) -> float:
    """Return the weight of a word that some of all cases have."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))


def _weigh_terms(
    hub: Hub, terms: list[str], sizes: dict[int, int]
) -> tuple[dict[str, float], dict[str, list[int]]]:  # fmt: skip
    """Return the weight of each word, and the cases that have it; common words are left out."""
    weights: dict[str, float] = {}
    postings: dict[str, list[int]] = {}
    for term in terms:
        found = [case for case in cases.find_word(hub.engine, term, _POSTINGS) if case in sizes]
        if len(found) <= max(_FEW, _OFTEN * len(sizes)):
            weights[term], postings[term] = _weigh(len(found), len(sizes)), found
    return weights, postings


def _score(
    weights: dict[str, float], postings: dict[str, list[int]], sizes: dict[int, int]
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the score of each case, and the weight of the words it has."""
    average = sum(sizes.values()) / len(sizes) or 1.0
    scores: dict[int, float] = {}
    cover: dict[int, float] = {}
    for term, found in postings.items():
        for case in found:
            cover[case] = cover.get(case, 0.0) + weights[term]
            scores[case] = scores.get(case, 0.0) + weights[term] / (1 - _LENGTH + _LENGTH * sizes[case] / average)
    return scores, cover


def _find_named(hub: Hub, text: str, project: str | None, sizes: dict[int, int]) -> dict[int, list[str]]:
    """Return the rare symbols and files that a text names, by the cases that settled something about them."""
    named: dict[int, list[str]] = {}
    if project is None:
        return named
    wanted = [("symbol", symbol, symbol.lower()) for symbol in anchors.find_symbols(text)]
    wanted += [("file", path, anchors.get_leaf(path)) for path in anchors.find_paths(text)]
    for kind, name, leaf in wanted[:_TERMS]:
        rows = cases.list_anchored(hub.engine, project, kind, leaf, _NAMED)
        if rows and _is_rare(hub, leaf, rows, sizes):
            for row in rows:
                if kind == "symbol" or anchors.is_same_file(name, row["name"]):
                    named.setdefault(row["id"], []).append(name)
    return {case: list(dict.fromkeys(names)) for case, names in named.items()}


def _is_rare(hub: Hub, name: str, rows: list[Row], sizes: dict[int, int]) -> bool:
    """Return whether few cases are about a symbol or a file, or talk of it."""
    found = {row["id"] for row in rows} | set(cases.find_word(hub.engine, name, _POSTINGS))
    return len(found & sizes.keys()) <= max(_FREE_NAMES, len(sizes) // 20)
