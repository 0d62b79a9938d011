"""Parse a daily log entry into sections: labels with a line or a list under each. Pure."""

from __future__ import annotations

import re

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LABEL = re.compile(
    r"^(?:\*\*(?P<bold>[^*\n]{1,40}?):?\*\*:?|#{4,6} +(?P<head>[^\n]{1,40}?):?[ \t]*$)[ \t]*(?P<rest>.*)$"
)
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)$")
_OMITTED = re.compile(r"^… \d+ more$")
_FAILED = re.compile(r"^(?P<what>.*?)(?: ×(?P<times>\d+))?(?: \[(?P<command>[^\]]*)\])?(?: (?:→|->) (?P<fix>.+))?$")
_PART_BY_LABEL = {
    "goal": "goal", "context": "goal", "asked": "asked", "key exchanges": "told", "told": "told", "notes": "told",
    "decided": "decided", "decisions": "decided", "decisions made": "decided", "lessons learned": "lessons",
    "lessons": "lessons", "corrected": "corrected", "changed": "changed", "files changed": "changed",
    "failed": "failed", "tests": "tests", "commits": "commits", "open": "open", "action items": "open",
    "ended": "ended",
}  # fmt: skip


@value
class EntryFailure:
    """A failure described in an entry."""

    what: str
    command: str
    fix: str
    text: str  # the whole line


def parse_sections(content: str) -> dict[str, list[str]]:
    """Return the lines of an entry by section name; lines without a label are `told`."""
    sections: dict[str, list[str]] = {}
    for part, line in _parse_lines(content):
        sections.setdefault(part, []).append(line)
    return sections


def parse_failure(text: str) -> EntryFailure:
    """Parse a failure into error, command and fix."""
    parts = _FAILED.match(text)
    if parts is None:
        return EntryFailure(what=text, command="", fix="", text=text)
    return EntryFailure(what=parts["what"].strip(), command=parts["command"] or "", fix=parts["fix"] or "", text=text)


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
