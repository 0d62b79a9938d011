"""What an entry of a daily log says, part by part: labels with a line or a list under each. Pure."""

from __future__ import annotations

import re

from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LABEL = re.compile(
    r"^(?:\*\*(?P<bold>[^*\n]{1,40}?):?\*\*:?|#{4,6} +(?P<head>[^\n]{1,40}?):?[ \t]*$)[ \t]*(?P<rest>.*)$"
)
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)$")
_MORE = re.compile(r"^… \d+ more$")
_FAILED = re.compile(r"^(?P<what>.*?)(?: ×(?P<times>\d+))?(?: \[(?P<command>[^\]]*)\])?(?: (?:→|->) (?P<fix>.+))?$")
_PARTS = {
    "goal": "goal", "context": "goal", "asked": "asked", "key exchanges": "told", "told": "told", "decided": "decided",
    "decisions": "decided", "decisions made": "decided", "lessons learned": "lessons", "lessons": "lessons",
    "corrected": "corrected", "changed": "changed", "files changed": "changed", "failed": "failed", "tests": "tests",
    "commits": "commits", "open": "open", "action items": "open", "ended": "ended",
}  # fmt: skip


@value
class Failure:
    """Something that went wrong, as an entry tells it."""

    what: str
    command: str
    fix: str
    text: str  # all of it


def said(content: str) -> dict[str, list[str]]:
    """Return what an entry says under each label, in our names for them; what stands under none is `told`."""
    found: dict[str, list[str]] = {}
    for part, line in _lines(content):
        found.setdefault(part, []).append(line)
    return found


def failure(text: str) -> Failure:
    """Return the parts of a failure: what, in which command, and what helped."""
    parts = _FAILED.match(text)
    if parts is None:
        return Failure(what=text, command="", fix="", text=text)
    return Failure(what=parts["what"].strip(), command=parts["command"] or "", fix=parts["fix"] or "", text=text)


def _lines(content: str) -> Iterator[tuple[str, str]]:
    part = "told"
    for line in content.splitlines():
        label = _LABEL.match(line)
        if label:
            part = _PARTS.get((label["bold"] or label["head"]).strip().casefold(), "told")
            line = label["rest"] or ""
        item = _ITEM.match(line)
        text = " ".join((item[1] if item else line).split())
        if text and not _MORE.match(text):
            yield part, text
