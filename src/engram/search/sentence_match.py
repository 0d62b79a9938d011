"""Match the words of a question against the sentences of the best candidates. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from engram.platform.value import value

_LONGEST = 6_000  # characters read of a text
_ENDING = 4  # letters a stem may lack
_BREAK = re.compile(r"(?<=[.!?])\s+|\n+")
_MARKS = (". ", "! ", "? ", "\n")  # the same, matched from the end
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|mine|we|we're|we've|we'd|we'll|our|ours)\b")


@value
class SentenceMatch:
    """The best match in a text."""

    sentence: float  # the largest share of the question's words in one sentence
    statement: bool  # that sentence is a statement by the user about themselves, not a question


class SentenceMatcher:
    """Match the words of one question in many texts with one regular expression."""

    def __init__(self, rarity: Mapping[str, float]) -> None:
        self._rarity = dict(rarity)
        self._total = sum(rarity.values()) or 1.0
        stems = sorted(self._rarity, key=len, reverse=True)
        joined = "|".join(map(re.escape, stems))
        self._pattern = re.compile(rf"(?<!\w)({joined})(?:\w{{0,{_ENDING}}})(?!\w)") if stems else None

    def match_text(self, text: str) -> SentenceMatch:
        """Return the best match among the sentences of a text."""
        plain = text[:_LONGEST].lower()
        best, sentence = 0.0, ""
        for start, end, stems in self._iter_sentences(plain):
            weight = sum(self._rarity[stem] for stem in stems)
            if weight > best or (weight == best and not _is_statement(sentence)):
                best, sentence = weight, plain[start:end]
        return SentenceMatch(sentence=best / self._total, statement=_is_statement(sentence))

    def _iter_sentences(self, plain: str) -> Iterator[tuple[int, int, set[str]]]:
        """Yield each sentence that contains words of the question, with those words."""
        start, end, stems = 0, -1, set[str]()
        for match in self._pattern.finditer(plain) if self._pattern else ():
            if match.start() >= end:
                if stems:
                    yield start, end, stems
                stems = set()
                start = max(end, *(plain.rfind(mark, max(end, 0), match.start()) + 1 for mark in _MARKS))
                after = _BREAK.search(plain, match.end())
                end = after.start() if after else len(plain)
            stems.add(match[1])
        if stems:
            yield start, end, stems


def _is_statement(sentence: str) -> bool:
    return bool(sentence) and not sentence.rstrip().endswith("?") and bool(_FIRST_PERSON.search(sentence))


def match_texts(rarity: Mapping[str, float], texts: Sequence[str]) -> list[SentenceMatch]:
    """Match every text against the words of a question."""
    matcher = SentenceMatcher(rarity)
    return [matcher.match_text(text) for text in texts]
