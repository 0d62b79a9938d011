"""Parse a daily log entry into sections: labels with a line or a list under each. Pure."""

from __future__ import annotations

import re

from engram.index.tokenizer import extract_terms
from engram.platform.text import to_one_line
from engram.wiki.vault.links import escape_links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LABEL = re.compile(
    r"^(?:\*\*(?P<bold>[^*\n]{1,40}?):?\*\*:?|#{4,6} +(?P<head>[^\n]{1,40}?):?[ \t]*$)[ \t]*(?P<rest>.*)$"
)
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)$")
_OMITTED = re.compile(r"^… \d+ more$")
_GOAL_CHARS = 160
_MIN_TELLING_WORDS = 3  # distinct words a line needs to make sense by itself
_PART_BY_LABEL = {
    "goal": "goal", "context": "goal", "asked": "asked", "key exchanges": "told", "told": "told", "notes": "told",
    "decided": "decided", "decisions": "decided", "decisions made": "decided", "lessons learned": "lessons",
    "lessons": "lessons", "corrected": "corrected", "changed": "changed", "files changed": "changed",
    "failed": "failed", "tests": "tests", "commits": "commits", "open": "open", "action items": "open",
    "ended": "ended",
}  # fmt: skip


def parse_sections(content: str) -> dict[str, list[str]]:
    """Return the lines of an entry by section name; lines without a label are `told`."""
    sections: dict[str, list[str]] = {}
    for part, line in _parse_lines(content):
        sections.setdefault(part, []).append(line)
    return sections


def find_goal(parts: dict[str, list[str]]) -> str:
    """Return the goal of an entry in a line, or its result if the goal says too little."""
    lines = [
        _strip_marks(line) for part in ("goal", "asked", "commits", "ended", "told") for line in parts.get(part, ())
    ]
    lines = [re.split(r"\s#{1,6} ", line, maxsplit=1)[0] for line in lines]
    telling = next((line for line in lines if len(set(extract_terms(line))) >= _MIN_TELLING_WORDS), None)
    return to_one_line(telling or next(iter(lines), ""), _GOAL_CHARS)


def _strip_marks(line: str) -> str:
    """Remove markdown markers from a line."""
    return escape_links(re.sub(r"^(?:#+|>+|Implement the following plan:) *", "", line.replace("**", "").strip()))


def _parse_lines(content: str) -> Iterator[tuple[str, str]]:
    part = "told"
    for line in content.splitlines():
        label = _LABEL.match(line)
        if label:
            part = _PART_BY_LABEL.get((label["bold"] or label["head"]).strip().casefold(), "told")
            line = label["rest"] or ""
        item = _ITEM.match(line)
        text = " ".join((item[1] if item else line).split())
        if text and not _OMITTED.match(text):
            yield part, text
