"""A fenced block of ours in a text that belongs to somebody else. Pure; what is outside the fence is never touched."""

from __future__ import annotations

import re

_NOTE = "written by `engram init`; edits inside are lost"


def put(text: str, name: str, block: str, note: str = _NOTE) -> str:
    """Return the text with the block between its fences: replaced where it stands, else at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    fenced = newline.join((f"<!-- {_mark(name, 'begin')} ({note}) -->", *block.strip().splitlines(), _closed(name)))
    found = _find(text, name)
    if found:
        return text[: found.start()] + fenced + text[found.end() :]
    if not text:
        return fenced + newline
    return f"{text}{newline}{newline}{fenced}" if not text.endswith("\n") else f"{text}{newline}{fenced}{newline}"


def remove(text: str, name: str) -> str:
    """Return the text without the block, as it was before it came."""
    found = _find(text, name)
    if found is None:
        return text
    before, after = text[: found.start()], text[found.end() :]
    if not before:
        return re.sub(r"^\r?\n", "", after, count=1)
    if after:
        return re.sub(r"(?<=\n)\r?\n$", "", before, count=1) + re.sub(r"^\r?\n", "", after, count=1)
    return re.sub(r"(\r?\n){1,2}$", "", before, count=1)


def held(text: str, name: str) -> str | None:
    """Return what stands between the fences, or None without them."""
    found = _find(text, name)
    return None if found is None else "\n".join(found.group().splitlines()[1:-1])


def note(text: str, name: str) -> str:
    """Return what the opening fence says beside its name."""
    found = _find(text, name)
    return (found["note"] or "") if found else ""


def whole(text: str, name: str) -> bool:
    """Tell whether a text has no block of that name, or one that begins once and ends once."""
    marks = [len(re.findall(rf"<!-- {_mark(name, side)}(?: \(| -->)", text)) for side in ("begin", "end")]
    return marks == [0, 0] or (marks == [1, 1] and _find(text, name) is not None)


def _find(text: str, name: str) -> re.Match[str] | None:
    begin, end = re.escape(_mark(name, "begin")), re.escape(_mark(name, "end"))
    return re.search(rf"<!-- {begin}(?: \((?P<note>[^\n]*?)\))? -->.*?<!-- {end} -->", text, re.DOTALL)


def _closed(name: str) -> str:
    return f"<!-- {_mark(name, 'end')} -->"


def _mark(name: str, side: str) -> str:
    return f"engram:{side}" if not name else f"engram:{side} {name}"
