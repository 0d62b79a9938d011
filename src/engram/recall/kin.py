"""Hits that say the same, and statements a newer one has replaced. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from engram.value import value

_SAME = 0.9  # of all words of both
_ABOUT = 0.6  # of the words of the shorter one: two statements on one subject
_STATEMENT = 60  # words of a text that can be one statement


@value
class Said:
    """A text as kin are told by it."""

    words: frozenset[str]
    at: int
    statement: bool  # somebody's own short statement, not a question


def copies(said: Sequence[Said]) -> dict[int, int]:
    """Return for each text that says the same as an earlier one the place of that one."""
    found: dict[int, int] = {}
    for later, text in enumerate(said):
        for earlier in range(later):
            if earlier not in found and _alike(text.words, said[earlier].words) >= _SAME:
                found[later] = earlier
                break
    return found


def replaced(said: Sequence[Said], asked: frozenset[str] = frozenset()) -> dict[int, int]:
    """Return for each statement that a newer one on its subject replaces the place of the newest.

    What the question asks for by name must be in both: the address of another server replaces nothing.
    """
    found: dict[int, int] = {}
    for place, old in enumerate(said):
        for other, new in enumerate(said):
            if (
                _replaces(new, old)
                and asked & old.words <= new.words
                and (place not in found or said[found[place]].at < new.at)
            ):
                found[place] = other
    return found


def _replaces(new: Said, old: Said) -> bool:
    if not (new.statement and old.statement and new.at > old.at):
        return False
    if max(len(new.words), len(old.words)) > _STATEMENT or min(len(new.words), len(old.words)) < 3:
        return False
    shared = len(new.words & old.words) / min(len(new.words), len(old.words))
    return shared >= _ABOUT and _alike(new.words, old.words) < _SAME


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    both = len(one | other)
    return len(one & other) / both if both else 1.0


def raised(scores: Sequence[float], newer: dict[int, int]) -> list[float]:
    """Return scores by which each statement stands behind the one that replaces it."""
    found = list(scores)
    for old, new in newer.items():
        found[new] = max(found[new], scores[old] + 1e-3)
    return found
