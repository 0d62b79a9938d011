"""The words of a text that carry its meaning, to tell whether two texts say the same. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+(?:\.\d+)?")
_ENDING = re.compile(r"(?:ations?|ings?|ments?|ions?|ers?|ies|ied|ed|es|ly|s|e|y)$")
_EMPTY = frozenset(
    """a an the and or but if then than that this these those it its is are was were be been being am do does did done
    doing to of in on at by for from with without into onto over under as so no not yes ok we you i he she they them
    our your my me us can could should would will shall may might must have has had having just also only too very
    more most some any all each every both either neither here there now when where which what who how why let get
    got make made use used using want need like one two new same other another about after before because while via
    per up down out off again still already already yet think know see look sure well right good great""".split()
)


@lru_cache(maxsize=1024)
def extract_content_words(text: str) -> frozenset[str]:
    """Return the stems of the words that carry the meaning of a text."""
    words = (match[0].lower() for match in _WORD.finditer(text))
    return frozenset(_ENDING.sub("", word) if len(word) > 4 else word for word in words if word not in _EMPTY)


def measure_overlap(text: str, other: str) -> float:
    """Return which share of a text's content words another text has."""
    words = extract_content_words(text)
    return len(words & extract_content_words(other)) / len(words) if words else 0.0
