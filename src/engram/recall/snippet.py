"""The part of a text that answers a question best. Pure."""

from __future__ import annotations

import re

from engram.index.words import words
from engram.text import one_line

LENGTH = 320  # characters of a snippet
_STEP = 80
_CHUNK = re.compile(r"\S+")


def snippet(text: str, wanted: frozenset[str], length: int = LENGTH) -> str:
    """Return the stretch of a text that holds most of the words that are looked for."""
    if len(text) <= length:
        return one_line(text, length)
    start = _best(text, wanted, length)
    piece = one_line(text[start : start + length], length)
    return f"{'…' if start else ''}{piece}{'…' if start + length < len(text) else ''}"


def _best(text: str, wanted: frozenset[str], length: int) -> int:
    """Return where the stretch begins that holds most different words; the first of equals."""
    places = [(found.start(), terms) for found in _CHUNK.finditer(text[:200_000]) if (terms := _known(found, wanted))]
    best, start = 0, 0
    for number, (place, _) in enumerate(places):
        held: set[str] = set()
        for later, terms in places[number : number + 60]:
            if later >= place + length - _STEP:
                break
            held |= terms
        if len(held) > best:
            best, start = len(held), place
    return _word_before(text, max(0, start - _STEP)) if best else 0


def _known(found: re.Match[str], wanted: frozenset[str]) -> frozenset[str]:
    return wanted.intersection(words(found.group()[:200]))


def _word_before(text: str, place: int) -> int:
    """Return where the word at a place begins."""
    gap = max(text.rfind(" ", 0, place), text.rfind("\n", 0, place))
    return gap + 1 if gap >= 0 and place - gap < 40 else place
