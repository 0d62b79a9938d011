"""WordPiece: the pieces of words that BERT-like models read. Pure but for the vocabulary file."""

from __future__ import annotations

import os
import re
import unicodedata

WEIGHTS = os.path.join(os.path.dirname(__file__), "weights")

UNKNOWN, START, END = 100, 101, 102
_LONGEST = 100  # characters of a word; a longer one is unknown to the model as well
_KEPT = 200_000  # words whose pieces are remembered

# A word, or one sign; ideographs stand alone.
_WORD = re.compile(r"[^\W_\u3400-\u9fff\uf900-\ufaff]+|[^\w\s]|_|[\u3400-\u9fff\uf900-\ufaff]")


class WordPiece:
    """Splits text into the numbers of known pieces, in small letters without accents."""

    def __init__(self, path: str | None = None) -> None:
        with open(path or os.path.join(WEIGHTS, "vocab.txt"), encoding="utf-8") as file:
            self._numbers = {line.rstrip("\n"): number for number, line in enumerate(file)}
        self._words: dict[str, list[int]] = {}

    def __call__(self, text: str, limit: int) -> list[int]:
        """Return the pieces of a text, at most so many."""
        found: list[int] = []
        for word in _WORD.findall(_folded(text)):
            found += self._pieces(word)
            if len(found) >= limit:
                return found[:limit]
        return found

    def _pieces(self, word: str) -> list[int]:
        pieces = self._words.get(word)
        if pieces is None:
            pieces = self._split(word)
            if len(self._words) >= _KEPT:
                self._words.clear()
            self._words[word] = pieces
        return pieces

    def _split(self, word: str) -> list[int]:
        """Return the longest known pieces from left to right; a word with an unknown one is unknown."""
        if len(word) > _LONGEST:
            return [UNKNOWN]
        found, start = [], 0
        while start < len(word):
            end = self._longest(word, start)
            if end == start:
                return [UNKNOWN]
            found.append(self._numbers[("##" if start else "") + word[start:end]])
            start = end
        return found

    def _longest(self, word: str, start: int) -> int:
        mark = "##" if start else ""
        for end in range(len(word), start, -1):
            if mark + word[start:end] in self._numbers:
                return end
        return start


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    spread = unicodedata.normalize("NFD", text.lower())
    return "".join(c for c in spread if not unicodedata.combining(c))
