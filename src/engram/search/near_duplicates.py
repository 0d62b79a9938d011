"""Find hits that say the same, and statements replaced by newer ones. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from engram.platform.value import value

_SAME = 0.9  # share of the words of both texts
_ABOUT = 0.6  # share of the shorter text's words: two statements on one subject
_STATEMENT = 60  # maximum words of a statement


@value
class ComparedText:
    """A text prepared for comparison."""

    words: frozenset[str]
    at: int
    statement: bool  # a user's own short statement, not a question


def find_copies(texts: Sequence[ComparedText]) -> dict[int, int]:
    """Map each text that repeats an earlier one to the position of that one."""
    copy_of: dict[int, int] = {}
    for later, text in enumerate(texts):
        for earlier in range(later):
            if earlier not in copy_of and _compute_overlap(text.words, texts[earlier].words) >= _SAME:
                copy_of[later] = earlier
                break
    return copy_of


def find_replaced(texts: Sequence[ComparedText], query_words: frozenset[str] = frozenset()) -> dict[int, int]:
    """Map each statement to the newest one that replaces it.

    Both must contain the words the question asks for: the address of another server replaces nothing.
    """
    replacements: dict[int, int] = {}
    for old_index, old in enumerate(texts):
        for new_index, new in enumerate(texts):
            if (
                _is_replacement(new, old)
                and query_words & old.words <= new.words
                and (old_index not in replacements or texts[replacements[old_index]].at < new.at)
            ):
                replacements[old_index] = new_index
    return replacements


def _is_replacement(new: ComparedText, old: ComparedText) -> bool:
    if not (new.statement and old.statement and new.at > old.at):
        return False
    if max(len(new.words), len(old.words)) > _STATEMENT or min(len(new.words), len(old.words)) < 3:
        return False
    shared = len(new.words & old.words) / min(len(new.words), len(old.words))
    return shared >= _ABOUT and _compute_overlap(new.words, old.words) < _SAME


def _compute_overlap(first: frozenset[str], second: frozenset[str]) -> float:
    both = len(first | second)
    return len(first & second) / both if both else 1.0


def raise_newer(scores: Sequence[float], newer: dict[int, int]) -> list[float]:
    """Return scores in which each statement ranks below the one that replaces it."""
    raised = list(scores)
    for old, new in newer.items():
        raised[new] = max(raised[new], scores[old] + 1e-3)
    return raised
