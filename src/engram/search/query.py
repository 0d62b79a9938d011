"""Parse a question into words, phrases, prefixes and the time it asks about. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engram.index.tokenizer import QUESTION_WORDS, extract_terms, fold_text, looks_like_hash
from engram.platform.value import value
from engram.search.time_expressions import Window, find_window

if TYPE_CHECKING:
    from datetime import datetime

_PHRASE = re.compile(r'"([^"\n]{2,200})"')
_BEGINNING = re.compile(r"([^\s\"*]{2,64})\*")
_HAPPENING = frozenset(("happen", "work", "went", "go", "going", "new"))
_MOST = 48  # maximum words and prefixes; of a longer text only the first are searched


@value
class Question:
    """A parsed question."""

    text: str
    words: tuple[str, ...]
    phrases: tuple[str, ...]  # folded; must occur in the text
    beginnings: tuple[str, ...]  # term prefixes
    window: Window | None  # the time it asks about
    subjects: tuple[str, ...] = ()  # its words without those that say when

    @property
    def only_time(self) -> bool:
        """Whether it asks only about a time, such as "what happened last week"."""
        certain = self.window is not None and self.window.certain
        return certain and not self.phrases and not set(self.subjects) - QUESTION_WORDS - _HAPPENING


def parse_question(text: str, now: datetime) -> Question:
    """Parse a question; any text is valid."""
    span = find_window(text, now)
    without_time = f"{text[: span.words[0]]} {text[span.words[1] :]}" if span else text
    phrases = tuple(" ".join(fold_text(term).split()) for term in _PHRASE.findall(text) if term.strip())
    beginnings = tuple(fold_text(term) for term in _BEGINNING.findall(text))
    subjects = tuple(dict.fromkeys(extract_terms(_BEGINNING.sub(" ", without_time))))
    terms = dict.fromkeys(subjects or extract_terms(text))
    hashes = tuple(term for term in terms if looks_like_hash(term))
    return Question(
        text=text, words=tuple(terms)[:_MOST], phrases=phrases, beginnings=(*beginnings, *hashes)[:_MOST], window=span,
        subjects=subjects[:_MOST],
    )  # fmt: skip
