"""A question as it is searched: its words, phrases and beginnings, and the time it speaks of. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engram.index.words import ASKING, fold, looks_like_hash, words
from engram.recall.when import Window, window
from engram.value import value

if TYPE_CHECKING:
    from datetime import datetime

_PHRASE = re.compile(r'"([^"\n]{2,200})"')
_BEGINNING = re.compile(r"([^\s\"*]{2,64})\*")
_HAPPENING = frozenset(("happen", "work", "went", "go", "going", "new"))
_MOST = 48  # words of a question, and beginnings of words; a whole page is asked by its first


@value
class Question:
    """What is asked."""

    text: str
    words: tuple[str, ...]
    phrases: tuple[str, ...]  # as they must stand in the text, folded
    beginnings: tuple[str, ...]  # of terms
    window: Window | None  # the time it speaks of

    @property
    def only_time(self) -> bool:
        """Tell whether it asks for a time and nothing else: what happened last week."""
        certain = self.window is not None and self.window.certain
        return certain and not self.phrases and not set(self.words) - ASKING - _HAPPENING


def question(text: str, now: datetime) -> Question:
    """Read a question; any text is one."""
    said = window(text, now)
    rest = f"{text[: said.words[0]]} {text[said.words[1] :]}" if said else text
    phrases = tuple(" ".join(fold(each).split()) for each in _PHRASE.findall(text) if each.strip())
    beginnings = tuple(fold(each) for each in _BEGINNING.findall(text))
    found = dict.fromkeys(words(_BEGINNING.sub(" ", rest)) or words(text))
    hashes = tuple(each for each in found if looks_like_hash(each))
    return Question(
        text=text, words=tuple(found)[:_MOST], phrases=phrases, beginnings=(*beginnings, *hashes)[:_MOST], window=said
    )  # fmt: skip
