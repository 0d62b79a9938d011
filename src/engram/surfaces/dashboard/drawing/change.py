"""What a call would change in files, as diffs, whichever agent made it. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from engram.surfaces.dashboard.drawing.diff import ADDED, FILE, HUNK, REMOVED, SAME, Line, lines
from engram.value import value

_BEFORE = ("old_string", "old_str", "oldText", "old_text", "oldString", "search")
_AFTER = ("new_string", "new_str", "newText", "new_text", "newString", "replace", "insert_text")
_WHOLE = ("content", "file_text", "contents", "new_source", "code_edit")
_PATCHES = ("patch", "diff", "input", "command", "cmd")
_PATCH = "*** Begin Patch"
_SIDE = {"+": ADDED, "-": REMOVED}
_LARGEST = 100_000  # characters of one side that are shown
_PAIRS = 250_000  # of lines that are compared; more take seconds, and are shown one side after the other


@value
class Change:
    """What a call changes: lines with their kind, and how many come and go."""

    diff: tuple[Line, ...]
    added: int
    removed: int


def change(arguments: Any) -> Change | None:
    """Return what a call changes in files; None if it does not say."""
    given = arguments if isinstance(arguments, dict) else {"input": arguments}
    found = tuple(_found(given))
    if not found:
        return None
    kinds = [each.kind for each in found]
    return Change(diff=found, added=kinds.count(ADDED), removed=kinds.count(REMOVED))


def is_diff(text: str) -> bool:
    """Tell whether a text is a unified diff, as commands print it."""
    start = text[:4000]
    return start.startswith(("diff --git ", "--- ")) and "\n@@ -" in start


def _found(given: dict[str, Any]) -> Iterator[Line]:
    edits = given.get("edits")
    if isinstance(edits, list):
        for each in edits:
            yield from _pair(each) if isinstance(each, dict) else ()
        return
    patch = next((each for each in map(_text, map(given.get, _PATCHES)) if _is_patch(each)), "")
    yield from _patched(patch) if patch else _pair(given)


def _is_patch(text: str) -> bool:
    return _PATCH in text or is_diff(text) or next(_blocks(text), None) is not None


def _patched(text: str) -> Iterator[Line]:
    if _PATCH in text:
        yield from map(_line, text.partition(_PATCH)[2].partition("*** End Patch")[0].strip("\n").split("\n"))
    elif is_diff(text):
        yield from lines(text)
    else:
        for before, after in _blocks(text):
            yield from _compared(before, after)


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield what is searched and what replaces it, in blocks between lines of `<<<<<`, `=====` and `>>>>>`."""
    sides: list[list[str]] = []
    for line in text.split("\n") if "SEARCH" in text and "REPLACE" in text else ():
        if line.startswith("<<<<<") and "SEARCH" in line:
            sides = [[]]
        elif len(sides) == 1 and line.startswith("=====") and not line.strip("= "):
            sides.append([])
        elif len(sides) == 2 and line.startswith(">>>>>") and "REPLACE" in line:
            yield "\n".join(sides[0]), "\n".join(sides[1])
            sides = []
        elif sides:
            sides[-1].append(line)


def _line(text: str) -> Line:
    """Return a line of a patch in the shape models write: files and hunks are named, lines not counted."""
    if text.startswith("*** "):
        return Line(FILE, text.removeprefix("*** "))
    return Line(HUNK, text) if text.startswith("@@") else Line(_SIDE.get(text[:1], SAME), text)


def _pair(given: dict[str, Any]) -> Iterator[Line]:
    """Yield a replaced text, or a file that is written whole."""
    before, after = _first(given, _BEFORE), _first(given, _AFTER)
    whole = _first(given, _WHOLE)
    if before is not None or after is not None:
        yield from _compared(before or "", after or "")
    elif whole is not None:
        yield from (Line(ADDED, f"+{line}") for line in whole[:_LARGEST].splitlines())


def _compared(before: str, after: str) -> Iterator[Line]:
    old, new = (text[:_LARGEST].splitlines() for text in (before, after))
    if len(old) * len(new) > _PAIRS:
        yield from (Line(REMOVED, f"-{line}") for line in old)
        yield from (Line(ADDED, f"+{line}") for line in new)
        return
    unified = difflib.unified_diff(old, new, n=3, lineterm="")
    shown = [line for line in unified if not line.startswith(("--- ", "+++ "))] or [f" {line}" for line in new]
    yield from (Line(HUNK, "@@") if line.startswith("@@") else Line(_SIDE.get(line[:1], SAME), line) for line in shown)


def _first(given: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((given[name] for name in names if isinstance(given.get(name), str)), None)


def _text(given: object) -> str:
    if isinstance(given, list):
        return "\n".join(each for each in given if isinstance(each, str))
    return given if isinstance(given, str) else ""
