"""Marks where the words of a question stand in a text."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_WORD = re.compile(r"\w+")
_LEAST = 3  # letters from which the beginning of a word counts as the word
_MOST = 50  # words of a query that are marked
_COMMON = frozenset(
    (
        "a an and are as at be by did do does for from had has have how i in is it its me my not of on or our "
        "that the their them they this to was we were what when where which who why will with you your"
    ).split()
)


def highlighted(text: str, query: str) -> Markup:
    """Return a text with the words of a query marked; all else is only text."""
    wanted = _wanted(query)
    if not wanted:
        return escape(text)
    stems, beginnings = {_stem(each) for each in wanted}, tuple(each for each in wanted if len(each) >= _LEAST)
    shown: list[str] = []
    last = 0
    for found in _WORD.finditer(text):
        word = found[0].lower()
        if word in wanted or word.startswith(beginnings) or _stem(word) in stems:
            shown += (escape(text[last : found.start()]), Markup("<mark>{}</mark>").format(found[0]))
            last = found.end()
    return Markup("").join([*shown, escape(text[last:])])


def _wanted(query: str) -> frozenset[str]:
    """Return the words that say something; all of them where none does."""
    words = list(dict.fromkeys(each.lower() for each in _WORD.findall(query[: 40 * _MOST])))
    return frozenset([each for each in words if each not in _COMMON][:_MOST] or words[:_MOST])


def _stem(word: str) -> str:
    for end in ("ings", "ing", "ied", "ies", "ed", "es", "s"):
        if word.endswith(end) and len(word) - len(end) >= _LEAST:
            return word[: -len(end)]
    return word
