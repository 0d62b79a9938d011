"""Invisible characters, which can hide words from a person who reads a rule but not from a model. Pure."""

from __future__ import annotations

import re

# Letters, marks and symbols that Unicode lets a screen omit: fillers, blanks and selectors.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0e\uffa0\U000e0100-\U000e01ef]")
_SPACES = "\u00a0\u202f\u3000"  # visible, as blanks
_EMOJI = re.compile("(?<=[^ -~\ufe0f])\ufe0f(?!\ufe0f)")  # one selector after a symbol only chooses how it is drawn


def find_invisible(line: str) -> str:
    """Return the first invisible character of a line, or an empty string."""
    bare = _EMOJI.sub("", line)
    return next((c for c in bare if _is_invisible(c)), "")


def strip_invisible(line: str) -> str:
    """Remove invisible characters from a line."""
    return "".join(c for c in line if not _is_invisible(c))


def _is_invisible(character: str) -> bool:
    printed = character.isprintable() or character in _SPACES
    return not printed or character == "\ufe0f" or bool(_BLANK.match(character))
