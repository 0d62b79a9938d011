"""Long answers in parts: a budget of tokens, and a cursor that says where the next part begins."""

from __future__ import annotations

from engram.errors import InvalidInput
from engram.text import cut

TOKENS = 1800  # of one answer; with what stands around them about 2,000
_MARK = "from-"
_FAR = 12  # digits; nothing we keep is longer


def start(cursor: str | None) -> int:
    """Return where the part begins that a cursor names."""
    if not cursor:
        return 0
    digits = cursor.removeprefix(_MARK)
    if not (cursor.startswith(_MARK) and digits.isascii() and digits.isdecimal() and len(digits) <= _FAR):
        raise InvalidInput(field="cursor", reason="it is none that was given out; leave it away to begin anew.")
    return int(digits)


def cursor_at(place: int) -> str:
    """Return the cursor of a place."""
    return f"{_MARK}{place}"


def part(whole: str, cursor: str | None, budget: int = TOKENS) -> tuple[str, str | None]:
    """Return the piece of a text that a cursor names, and the cursor of the next one."""
    begin = start(cursor)
    whole = "\n".join(whole.splitlines())  # as `cut` counts lines
    rest = whole[begin:]
    kept = cut(rest, budget)
    if len(kept) == len(rest):
        return kept, None
    end = begin + len(kept)
    return kept, cursor_at(end + (whole[end : end + 1] == "\n"))
