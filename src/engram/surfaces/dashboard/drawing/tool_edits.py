"""Extract the file changes of a tool call as a diff, for any agent."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from engram.platform.value import value
from engram.surfaces.dashboard.drawing.diff import ADDED, FILE, HUNK, REMOVED, SAME, DiffLine, parse_diff

_BEFORE = ("old_string", "old_str", "oldText", "old_text", "oldString", "search")
_AFTER = ("new_string", "new_str", "newText", "new_text", "newString", "replace", "insert_text")
_WHOLE = ("content", "file_text", "contents", "new_source", "code_edit")
_PATCHES = ("patch", "diff", "input", "command", "cmd")
_PATCH = "*** Begin Patch"
_SIDE = {"+": ADDED, "-": REMOVED}
_MAX_SIDE_CHARS = 100_000  # longest side that is compared
_MAX_LINE_PAIRS = 250_000  # larger comparisons take seconds; both sides are then shown in full


@value
class ToolEdit:
    """The change a call makes: diff lines, and the numbers of added and removed lines."""

    diff: tuple[DiffLine, ...]
    added: int
    removed: int


def find_edit(arguments: Any) -> ToolEdit | None:
    """Return the file changes in a call's arguments, or None."""
    arguments_dict = arguments if isinstance(arguments, dict) else {"input": arguments}
    diff_lines = tuple(_find_lines(arguments_dict))
    if not diff_lines:
        return None
    kinds = [diff_line.kind for diff_line in diff_lines]
    return ToolEdit(diff=diff_lines, added=kinds.count(ADDED), removed=kinds.count(REMOVED))


def is_diff(text: str) -> bool:
    """Return whether a text is a unified diff."""
    start = text[:4000]
    return start.startswith(("diff --git ", "--- ")) and "\n@@ -" in start


def _find_lines(arguments: dict[str, Any]) -> Iterator[DiffLine]:
    edits = arguments.get("edits")
    if isinstance(edits, list):
        for item in edits:
            yield from _diff_replacement(item) if isinstance(item, dict) else ()
        return
    patch = next((item for item in map(_to_text, map(arguments.get, _PATCHES)) if _is_patch(item)), "")
    yield from _parse_patch(patch) if patch else _diff_replacement(arguments)


def _is_patch(text: str) -> bool:
    return _PATCH in text or is_diff(text) or next(_find_blocks(text), None) is not None


def _parse_patch(text: str) -> Iterator[DiffLine]:
    if _PATCH in text:
        yield from map(
            _parse_patch_line, text.partition(_PATCH)[2].partition("*** End Patch")[0].strip("\n").split("\n")
        )
    elif is_diff(text):
        yield from parse_diff(text)
    else:
        for before, after in _find_blocks(text):
            yield from _diff_texts(before, after)


def _find_blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield old and new text of SEARCH/REPLACE blocks, which `<<<<<`, `=====` and `>>>>>` lines delimit."""
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


def _parse_patch_line(text: str) -> DiffLine:
    """Return a line of a `*** Begin Patch` patch, whose hunks have no line counts."""
    if text.startswith("*** "):
        return DiffLine(FILE, text.removeprefix("*** "))
    return DiffLine(HUNK, text) if text.startswith("@@") else DiffLine(_SIDE.get(text[:1], SAME), text)


def _diff_replacement(arguments: dict[str, Any]) -> Iterator[DiffLine]:
    """Yield the diff of a replacement or of a complete new file."""
    before, after = _first_text(arguments, _BEFORE), _first_text(arguments, _AFTER)
    whole_text = _first_text(arguments, _WHOLE)
    if before is not None or after is not None:
        yield from _diff_texts(before or "", after or "")
    elif whole_text is not None:
        yield from (DiffLine(ADDED, f"+{line}") for line in whole_text[:_MAX_SIDE_CHARS].splitlines())


def _diff_texts(before: str, after: str) -> Iterator[DiffLine]:
    old, new = (text[:_MAX_SIDE_CHARS].splitlines() for text in (before, after))
    if len(old) * len(new) > _MAX_LINE_PAIRS:
        yield from (DiffLine(REMOVED, f"-{line}") for line in old)
        yield from (DiffLine(ADDED, f"+{line}") for line in new)
        return
    unified = difflib.unified_diff(old, new, n=3, lineterm="")
    shown_lines = [line for line in unified if not line.startswith(("--- ", "+++ "))] or [f" {line}" for line in new]
    yield from (
        DiffLine(HUNK, "@@") if line.startswith("@@") else DiffLine(_SIDE.get(line[:1], SAME), line)
        for line in shown_lines
    )


def _first_text(arguments: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((arguments[name] for name in names if isinstance(arguments.get(name), str)), None)


def _to_text(argument: object) -> str:
    if isinstance(argument, list):
        return "\n".join(line for line in argument if isinstance(line, str))
    return argument if isinstance(argument, str) else ""
