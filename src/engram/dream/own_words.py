"""Recognize our own text when it comes back as if a user had written it. Pure.

Eight words in a row shared by two texts are a quote, not a coincidence. An answer that refers to injected text quotes a
line of it among its own words; a transcript that includes injected text as part of a message is mostly ours. So the
limit is one half, chosen from such examples, not from a corpus.
"""

from __future__ import annotations

from engram.dream.similarity import hash_runs, split_words
from engram.search.briefing import MARKERS

_RUN = 8  # words
_FEWEST = 5  # runs; shorter texts prove nothing
_MOSTLY = 0.5


def hash_own_text(text: str) -> frozenset[int]:
    """Return the hashes by which a text of ours is recognized."""
    return hash_runs(split_words(text), _RUN)


def is_echo(text: str, own_runs: frozenset[int]) -> bool:
    """Check whether a message is mostly text that was injected before, or contains a whole block of ours."""
    if any(mark in text for mark in MARKERS):
        return True
    text_runs = hash_runs(split_words(text), _RUN)
    return len(text_runs) >= _FEWEST and len(text_runs & own_runs) / len(text_runs) >= _MOSTLY
