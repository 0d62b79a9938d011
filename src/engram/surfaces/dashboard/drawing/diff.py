"""A unified diff as lines that are coloured."""

from __future__ import annotations

import re

from engram.value import value

ADDED, REMOVED, SAME, HUNK, FILE = "add", "del", "same", "hunk", "file"
_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")


@value
class Line:
    """One line of a diff: of which kind it is, and what it says with its sign."""

    kind: str
    text: str


def lines(unified: str) -> list[Line]:
    """Return a unified diff line by line; what a hunk's head counts decides, so `---` in a text is no file."""
    found: list[Line] = []
    old = new = 0  # lines of this hunk still to come, of each side
    for text in unified.split("\n")[: -1 if unified.endswith("\n") else None]:
        counts = _HUNK.match(text) if old <= 0 and new <= 0 else None
        if counts:
            old, new = (int(each) if each is not None else 1 for each in counts.groups())
            kind = HUNK
        elif old <= 0 and new <= 0:
            kind = SAME if text.startswith("\\") else FILE
        else:
            kind = {"+": ADDED, "-": REMOVED}.get(text[:1], SAME)
            old, new = _left(text, old, new)
        found.append(Line(kind=kind, text=text))
    return found if unified else []


def _left(text: str, old: int, new: int) -> tuple[int, int]:
    """Return how many lines of each side are still to come after this one."""
    if text.startswith("\\"):  # no newline at the end of the file: no line of its own
        return old, new
    return old - (not text.startswith("+")), new - (not text.startswith("-"))
