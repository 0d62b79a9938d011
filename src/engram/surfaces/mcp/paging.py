"""Split long answers into parts by a token budget; a cursor marks where the next part begins."""

from __future__ import annotations

from engram.errors import InvalidInput
from engram.platform.text import cut_to_tokens

TOKENS = 1800  # per answer; about 2,000 with the surrounding JSON
_CURSOR_PREFIX = "from-"
_MAX_DIGITS = 12  # longer offsets do not exist


def parse_cursor(cursor: str | None) -> int:
    """Return the offset that a cursor encodes."""
    if not cursor:
        return 0
    digits = cursor.removeprefix(_CURSOR_PREFIX)
    if not (
        cursor.startswith(_CURSOR_PREFIX) and digits.isascii() and digits.isdecimal() and len(digits) <= _MAX_DIGITS
    ):
        raise InvalidInput(
            field="cursor", reason="not a cursor from an earlier answer. Leave it out to start from the beginning."
        )
    return int(digits)


def make_cursor(offset: int) -> str:
    """Return the cursor for an offset."""
    return f"{_CURSOR_PREFIX}{offset}"


def read_part(full_text: str, cursor: str | None, budget: int = TOKENS) -> tuple[str, str | None]:
    """Return the part of a text that begins at a cursor, and the cursor of the next part."""
    begin = parse_cursor(cursor)
    full_text = "\n".join(full_text.splitlines())  # `cut_to_tokens` splits lines the same way
    rest = full_text[begin:]
    part_text = cut_to_tokens(rest, budget)
    if len(part_text) == len(rest):
        return part_text, None
    end = begin + len(part_text)
    return part_text, make_cursor(end + (full_text[end : end + 1] == "\n"))
