"""A closer look at the best candidates: the sentence that answers, and whether somebody states it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from engram.value import value

_LONGEST = 6_000  # characters of a text that are looked at
_ENDING = 4  # letters a stem may have lost
_BREAK = re.compile(r"(?<=[.!?])\s+|\n+")
_MARKS = (". ", "! ", "? ", "\n")  # the same, looked for from behind
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|mine|we|we're|we've|we'd|we'll|our|ours)\b")


@value
class Look:
    """What a closer look at a text shows."""

    sentence: float  # the largest share of the question's words in one sentence
    statement: bool  # that sentence is somebody's word about themselves, not a question


class Looker:
    """Looks for the words of one question in many texts, by one pattern."""

    def __init__(self, rarity: Mapping[str, float]) -> None:
        self._rarity = dict(rarity)
        self._total = sum(rarity.values()) or 1.0
        stems = sorted(self._rarity, key=len, reverse=True)
        joined = "|".join(map(re.escape, stems))
        self._pattern = re.compile(rf"(?<!\w)({joined})(?:\w{{0,{_ENDING}}})(?!\w)") if stems else None

    def look(self, text: str) -> Look:
        """Return what the best sentence of a text holds."""
        plain = text[:_LONGEST].lower()
        best, place = 0.0, ""
        for start, end, stems in self._sentences(plain):
            held = sum(self._rarity[stem] for stem in stems)
            if held > best or (held == best and not _states(place)):
                best, place = held, plain[start:end]
        return Look(sentence=best / self._total, statement=_states(place))

    def _sentences(self, plain: str) -> Iterator[tuple[int, int, set[str]]]:
        """Yield the sentences that hold words of the question, and which; the others are passed over."""
        start, end, stems = 0, -1, set[str]()
        for found in self._pattern.finditer(plain) if self._pattern else ():
            if found.start() >= end:
                if stems:
                    yield start, end, stems
                stems = set()
                start = max(end, *(plain.rfind(mark, max(end, 0), found.start()) + 1 for mark in _MARKS))
                after = _BREAK.search(plain, found.end())
                end = after.start() if after else len(plain)
            stems.add(found[1])
        if stems:
            yield start, end, stems


def _states(sentence: str) -> bool:
    return bool(sentence) and not sentence.rstrip().endswith("?") and bool(_FIRST_PERSON.search(sentence))


def looks(rarity: Mapping[str, float], texts: Sequence[str]) -> list[Look]:
    """Look closer at texts."""
    looker = Looker(rarity)
    return [looker.look(text) for text in texts]
