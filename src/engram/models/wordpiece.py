"""WordPiece: split words into pieces as BERT-like models do. Pure but for the vocabulary file."""

from __future__ import annotations

import os
import re
import unicodedata

WEIGHTS = os.path.join(os.path.dirname(__file__), "weights")

UNKNOWN, START, END = 100, 101, 102
_LONGEST = 100  # characters of a word; a longer one is unknown
_KEPT = 200_000  # words whose pieces are cached

# A word or a single symbol; ideographs stand alone.
_WORD = re.compile(r"[^\W_\u3400-\u9fff\uf900-\ufaff]+|[^\w\s]|_|[\u3400-\u9fff\uf900-\ufaff]")

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


class WordPiece:
    """Splits text into numbers of known pieces, lower-cased and without accents."""

    def __init__(self, path: str | None = None) -> None:
        with open(path or os.path.join(WEIGHTS, "vocab.txt"), encoding="utf-8") as file:
            self._numbers = {line.rstrip("\n"): number for number, line in enumerate(file)}
        self._words: dict[str, list[int]] = {}

    def __call__(self, text: str, limit: int) -> list[int]:
        """Return the pieces of a text, up to a limit."""
        pieces: list[int] = []
        known = self._words
        for word in _WORD.findall(_fold_text(text)):
            pieces += known.get(word) or self._add_word(word)
            if len(pieces) >= limit:
                return pieces[:limit]
        return pieces

    def _add_word(self, word: str) -> list[int]:
        if len(self._words) >= _KEPT:
            self._words.clear()
        pieces = self._words[word] = self._split_word(word)
        return pieces

    def _split_word(self, word: str) -> list[int]:
        """Return the longest known pieces from left to right; a word with an unknown piece is unknown."""
        if len(word) > _LONGEST:
            return [UNKNOWN]
        numbers, start = [], 0
        while start < len(word):
            end = self._find_longest(word, start)
            if end == start:
                return [UNKNOWN]
            numbers.append(self._numbers[("##" if start else "") + word[start:end]])
            start = end
        return numbers

    def _find_longest(self, word: str, start: int) -> int:
        mark = "##" if start else ""
        for end in range(len(word), start, -1):
            if mark + word[start:end] in self._numbers:
                return end
        return start


def _fold_text(text: str) -> str:
    if text.isascii():
        return text.lower()
    return _NOT_ASCII.sub(_strip_accents, text.lower())


def _strip_accents(run: re.Match[str]) -> str:
    spread = unicodedata.normalize("NFD", run[0])
    return "".join(c for c in spread if not unicodedata.combining(c))
