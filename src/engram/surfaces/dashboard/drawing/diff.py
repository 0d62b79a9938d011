"""Parse a unified diff into lines for display."""

from __future__ import annotations

import re

from engram.platform.value import value

ADDED, REMOVED, SAME, HUNK, FILE = "add", "del", "same", "hunk", "file"
_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")


@value
class DiffLine:
    """One line of a diff: its kind, and its text with the sign."""

    kind: str
    text: str


def parse_diff(unified: str) -> list[DiffLine]:
    """Return the lines of a unified diff; hunk headers give the line counts, so `---` inside a hunk is not a file."""
    diff_lines: list[DiffLine] = []
    old = new = 0  # remaining lines of this hunk, per side
    for text in unified.split("\n")[: -1 if unified.endswith("\n") else None]:
        counts = _HUNK.match(text) if old <= 0 and new <= 0 else None
        if counts:
            old, new = (int(count) if count is not None else 1 for count in counts.groups())
            kind = HUNK
        elif old <= 0 and new <= 0:
            kind = SAME if text.startswith("\\") else FILE
        else:
            kind = {"+": ADDED, "-": REMOVED}.get(text[:1], SAME)
            old, new = _count_remaining(text, old, new)
        diff_lines.append(DiffLine(kind=kind, text=text))
    return diff_lines if unified else []


def _count_remaining(text: str, old: int, new: int) -> tuple[int, int]:
    """Return the remaining lines of each side after this one."""
    if text.startswith("\\"):  # "\ No newline at end of file" is not a line of the file
        return old, new
    return old - (not text.startswith("+")), new - (not text.startswith("-"))
