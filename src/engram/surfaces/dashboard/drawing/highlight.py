"""Highlight the words of a query in a text."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_WORD = re.compile(r"\w+")
_MIN_LETTERS = 3  # shortest query word that also matches as a prefix
_MAX_WORDS = 50  # query words that are highlighted
_COMMON = frozenset(
    (
        "a an and are as at be by did do does for from had has have how i in is it its me my not of on or our "
        "that the their them they this to was we were what when where which who why will with you your"
    ).split()
)


def highlighted(text: str, query: str) -> Markup:
    """Return a text as HTML with the query words marked and everything else escaped."""
    query_words = _query_words(query)
    if not query_words:
        return escape(text)
    stems, beginnings = (
        {_stem_word(query_word) for query_word in query_words},
        tuple(query_word for query_word in query_words if len(query_word) >= _MIN_LETTERS),
    )
    pieces: list[str] = []
    last = 0
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word in query_words or word.startswith(beginnings) or _stem_word(word) in stems:
            pieces += (escape(text[last : match.start()]), Markup("<mark>{}</mark>").format(match[0]))
            last = match.end()
    return Markup("").join([*pieces, escape(text[last:])])


def _query_words(query: str) -> frozenset[str]:
    """Return the query words without stop words, or all words if only stop words are left."""
    words = list(dict.fromkeys(query_word.lower() for query_word in _WORD.findall(query[: 40 * _MAX_WORDS])))
    return frozenset(
        [query_word for query_word in words if query_word not in _COMMON][:_MAX_WORDS] or words[:_MAX_WORDS]
    )


def _stem_word(word: str) -> str:
    for end in ("ings", "ing", "ied", "ies", "ed", "es", "s"):
        if word.endswith(end) and len(word) - len(end) >= _MIN_LETTERS:
            return word[: -len(end)]
    return word
