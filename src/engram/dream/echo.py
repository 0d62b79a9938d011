"""Tell our own words when they come back as if somebody had said them. Pure.

Eight words in a row that two texts share are quoted, not chosen twice. An answer that takes up what it was told quotes
a line of it among words of its own; a transcript that writes down what a hook told as part of what was said is ours
for the most part. So half is the line, chosen by such examples and not on a corpus.
"""

from __future__ import annotations

from engram.dream.likeness import runs, words
from engram.recall.briefing import MARKERS

_RUN = 8  # words
_FEWEST = 5  # runs; what is shorter proves nothing
_MOSTLY = 0.5


def ours(told: str) -> frozenset[int]:
    """Return what a text of ours is known again by."""
    return runs(words(told), _RUN)


def is_echo(said: str, told: frozenset[int]) -> bool:
    """Tell whether what was said is mostly what was told before, or holds a block of ours as it stood."""
    if any(mark in said for mark in MARKERS):
        return True
    found = runs(words(said), _RUN)
    return len(found) >= _FEWEST and len(found & told) / len(found) >= _MOSTLY
