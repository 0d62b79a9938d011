"""Extract the part of a text that answers a question best. Pure."""

from __future__ import annotations

import re

from engram.index.tokenizer import extract_terms
from engram.platform.text import to_one_line

LENGTH = 320  # characters of a snippet
_STEP = 80
_CHUNK = re.compile(r"\S+")


def extract_snippet(text: str, terms: frozenset[str], length: int = LENGTH) -> str:
    """Return the part of a text that contains most of the searched words."""
    if len(text) <= length:
        return to_one_line(text, length)
    start = _find_best_start(text, terms, length)
    piece = to_one_line(text[start : start + length], length)
    return f"{'…' if start else ''}{piece}{'…' if start + length < len(text) else ''}"


def _find_best_start(text: str, query_terms: frozenset[str], length: int) -> int:
    """Return the start of the part with the most different words; on a tie, the first."""
    matches = [
        (chunk.start(), terms)
        for chunk in _CHUNK.finditer(text[:200_000])
        if (terms := _match_terms(chunk, query_terms))
    ]
    best, start = 0, 0
    for number, (position, _) in enumerate(matches):
        held_terms: set[str] = set()
        for later, terms in matches[number : number + 60]:
            if later >= position + length - _STEP:
                break
            held_terms |= terms
        if len(held_terms) > best:
            best, start = len(held_terms), position
    return _find_word_start(text, max(0, start - _STEP)) if best else 0


def _match_terms(chunk: re.Match[str], terms: frozenset[str]) -> frozenset[str]:
    return terms.intersection(extract_terms(chunk.group()[:200]))


def _find_word_start(text: str, position: int) -> int:
    """Return the start of the word at a position."""
    gap = max(text.rfind(" ", 0, position), text.rfind("\n", 0, position))
    return gap + 1 if gap >= 0 and position - gap < 40 else position
