"""Say what an edit changed: old and new line if they are short. Pure."""

from __future__ import annotations

import re
from typing import Any

from engram.platform.text import to_one_line
from engram.platform.value import value

_NEW = ("new_string", "new_str", "newString", "new_text", "replace")
_OLD = ("old_string", "old_str", "oldString", "old_text", "search")
_WHOLE = ("content", "file_text", "contents")
_READ = 4_000  # characters of an edit that are looked at
_KEPT = 1_200  # characters of changed lines that are kept to find out what they touch
_LINE = 90  # characters of a line that is shown
_MANY = 3  # short added lines that are shown
_FILE = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_COMMENT = re.compile(r"^(?://|#|/?\*|--|<!--|\"\"\"|'''|;)")
_TRIVIAL = re.compile(r"^[\W_]*$")


@value
class EditSummary:
    """What an edit of one file changed."""

    text: str  # `old` → `new`, added `line`, removed `line`, or ""
    lines: str  # the lines it changed


def summarize_edit(fields: dict[str, Any]) -> EditSummary:
    """Summarize the arguments of an edit of one file."""
    edits = fields.get("edits")
    parts = [part for part in edits[:4] if isinstance(part, dict)] if isinstance(edits, list) else [fields]
    found = [_compare(_find_text(part, _OLD), _find_text(part, _NEW)) for part in parts]
    whole = _find_text(fields, _WHOLE)
    if whole and not any(item.lines for item in found):
        return EditSummary(text="", lines=whole[:_KEPT])
    text = "; ".join(item.text for item in found[:2] if item.text)
    return EditSummary(text=text, lines="\n".join(item.lines for item in found)[:_KEPT])


def summarize_patch(patch: str) -> dict[str, EditSummary]:
    """Summarize a patch, by file."""
    pieces = _FILE.split(patch[: 4 * _READ])
    summaries = {}
    for path, hunks in zip(pieces[1::2], pieces[2::2], strict=False):
        lines = hunks.splitlines()
        removed = "\n".join(line[1:] for line in lines if line.startswith("-"))
        added = "\n".join(line[1:] for line in lines if line.startswith("+"))
        summaries[path.strip()] = _compare(removed, added)
    return summaries


def _find_text(fields: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((fields[name] for name in names if isinstance(fields.get(name), str)), "")[:_READ]


def _compare(old: str, new: str) -> EditSummary:
    """Compare two versions of a part of a file by their lines."""
    before, after = _list_lines(old), _list_lines(new)
    removed = [line for line in before if line not in set(after)]
    added = [line for line in after if line not in set(before)]
    return EditSummary(text=_describe(removed, added), lines="\n".join([*removed, *added])[:_KEPT])


def _list_lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _describe(removed: list[str], added: list[str]) -> str:
    old, new = _pick_line(removed), _pick_line(added)
    if old and new and len(old) <= _LINE and len(new) <= _LINE and len(removed) <= 3 and len(added) <= 3:
        return f"`{old}` → `{new}`"
    if new:
        return _describe_added(new, added)
    return f"removed `{to_one_line(old, _LINE)}`" if old else ""


def _describe_added(first: str, added: list[str]) -> str:
    """Name the first lines that were added, and how many more there are."""
    telling = [line for line in added if not _TRIVIAL.match(line) and not _COMMENT.match(line)] or [first]
    shown = telling[: _MANY if sum(map(len, telling[:_MANY])) <= 2 * _LINE else 1]
    more = len(telling) - len(shown)
    lines = ", ".join(f"`{to_one_line(line, _LINE)}`" for line in shown)
    return f"added {lines}" + (f" and {more} more line{'s' * (more > 1)}" if more else "")


def _pick_line(lines: list[str]) -> str:
    """Return the first line that says something: code rather than a comment or a bracket."""
    telling = [line for line in lines if not _TRIVIAL.match(line)]
    return next((line for line in telling if not _COMMENT.match(line)), telling[0] if telling else "")
