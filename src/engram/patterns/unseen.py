"""Characters nobody sees, in which words can be hidden from whoever reads a rule but not from a model. Pure."""

from __future__ import annotations

import re

# What Unicode lets a screen leave out though it counts as a letter, mark or symbol: fillers, blanks and selectors.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0e\uffa0\U000e0100-\U000e01ef]")
_SPACES = "\u00a0\u202f\u3000"  # these are seen, as blanks
_EMOJI = re.compile("(?<=[^ -~\ufe0f])\ufe0f(?!\ufe0f)")  # one selector after a sign only says how the sign is drawn


def first_unseen(line: str) -> str:
    """Return the first character of a line that nobody sees, or nothing."""
    bare = _EMOJI.sub("", line)
    return next((c for c in bare if _hides(c)), "")


def seen(line: str) -> str:
    """Return a line without the characters nobody sees."""
    return "".join(c for c in line if not _hides(c))


def _hides(character: str) -> bool:
    printed = character.isprintable() or character in _SPACES
    return not printed or character == "\ufe0f" or bool(_BLANK.match(character))
