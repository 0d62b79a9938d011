"""A fenced block of ours in another program's text. No I/O; text outside the fence is never changed."""

from __future__ import annotations

import re

_NOTE = "written by `engram init`; edits inside are lost"


def insert_block(text: str, name: str, block: str, note: str = _NOTE) -> str:
    """Return the text with the block between its fences: replaced in place, else appended."""
    newline = "\r\n" if "\r\n" in text else "\n"
    fenced = newline.join(
        (f"<!-- {_format_marker(name, 'begin')} ({note}) -->", *block.strip().splitlines(), _format_end_fence(name))
    )
    match = _find_block(text, name)
    if match:
        return text[: match.start()] + fenced + text[match.end() :]
    if not text:
        return fenced + newline
    return f"{text}{newline}{newline}{fenced}" if not text.endswith("\n") else f"{text}{newline}{fenced}{newline}"


def remove_block(text: str, name: str) -> str:
    """Return the text without the block, as it was before the block was added."""
    match = _find_block(text, name)
    if match is None:
        return text
    before, after = text[: match.start()], text[match.end() :]
    if not before:
        return re.sub(r"^\r?\n", "", after, count=1)
    if after:
        return re.sub(r"(?<=\n)\r?\n$", "", before, count=1) + re.sub(r"^\r?\n", "", after, count=1)
    return re.sub(r"(\r?\n){1,2}$", "", before, count=1)


def read_block(text: str, name: str) -> str | None:
    """Return the content of the block, or None if there is no block."""
    match = _find_block(text, name)
    return None if match is None else "\n".join(match.group().splitlines()[1:-1])


def read_note(text: str, name: str) -> str:
    """Return the note in the opening fence."""
    match = _find_block(text, name)
    return (match["note"] or "") if match else ""


def is_well_formed(text: str, name: str) -> bool:
    """Return whether a text has no block of this name, or one with exactly one begin and one end."""
    marks = [len(re.findall(rf"<!-- {_format_marker(name, side)}(?: \(| -->)", text)) for side in ("begin", "end")]
    return marks == [0, 0] or (marks == [1, 1] and _find_block(text, name) is not None)


def _find_block(text: str, name: str) -> re.Match[str] | None:
    begin, end = re.escape(_format_marker(name, "begin")), re.escape(_format_marker(name, "end"))
    return re.search(rf"<!-- {begin}(?: \((?P<note>[^\n]*?)\))? -->.*?<!-- {end} -->", text, re.DOTALL)


def _format_end_fence(name: str) -> str:
    return f"<!-- {_format_marker(name, 'end')} -->"


def _format_marker(name: str, side: str) -> str:
    return f"engram:{side}" if not name else f"engram:{side} {name}"
