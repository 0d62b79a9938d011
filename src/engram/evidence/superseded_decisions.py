"""Find the decisions that a later one of the session supersedes, or that the agent reports to have replaced. Pure."""

from __future__ import annotations

import re
from typing import Any

from engram.evidence import decisions, lasting
from engram.evidence.content_words import extract_content_words
from engram.evidence.decision_kinds import RECAP
from engram.evidence.reports import iter_statements
from engram.platform.text import to_one_line

_REPORTED = re.compile(  # the agent says that something else took the place of what was decided
    r"\breplac(?:es?|ed|ing) (?:the |that |its? )?(?:old|previous|earlier|former|original)\b|"
    r"\b(?:goes|went|going) back to\b|\brenamed\b.{1,80}(?:\bto\b|→|->)|"
    r"\binstead of (?:the )?(?:old|previous|earlier|former|original)\b",
    re.IGNORECASE,
)
_TAKES_OUT = re.compile(r"\b(?:remov|drop|delet|revert|replac|renam)\w*", re.IGNORECASE)  # what a report then tells
_NAME = re.compile(r"[A-Za-z_][\w.]*(?:-\w+)*")
_CODE = re.compile(r"`([^`\n]{3,80})`")
_SHORTEST = 5  # characters of a name that tells two decisions are about one thing
_SHARED = 3  # content words that a report and a decision share, beside the name
_LONGEST = 300  # characters of what is reported


def mark_replaced(episodes: list[dict[str, Any]], item: dict[str, Any]) -> None:
    """Mark the earlier decisions of a session that a newer one says it replaces."""
    if not decisions.replaces(item["text"]):
        return
    for episode in episodes:
        for older in episode["decisions"]:
            if older is not item and not older.get("by") and decisions.is_replaced(older["text"], item["text"]):
                older["by"], item["replaces"] = _describe(item), True


def mark_reported(episodes: list[dict[str, Any]], report: str, key: int) -> list[dict[str, Any]]:
    """Mark decisions that the agent reports to have replaced; return what replaced them, as decisions to add."""
    added: list[dict[str, Any]] = []
    for _, sentence in iter_statements(report) if _REPORTED.search(report) else ():
        if not _REPORTED.search(sentence):
            continue
        item = {"kind": RECAP, "text": to_one_line(sentence, _LONGEST), "about": "", "keys": [key], "replaces": True}
        replaced = [
            older for episode in episodes for older in episode["decisions"] if _is_about(older, sentence)
        ]  # fmt: skip
        for older in replaced:
            older["by"] = _describe(item)
        added += [item] if replaced else []
    return added


def _describe(item: dict[str, Any]) -> dict[str, Any]:
    return {"kind": item["kind"], "text": item["text"], "keys": item["keys"][:1]}


def _is_about(older: dict[str, Any], sentence: str) -> bool:
    """Return whether a report is about what a decision names, which itself does not replace or remove something."""
    if older.get("by") or older.get("replaces") or _TAKES_OUT.search(older["text"]):
        return False
    named = {name for code in _CODE.findall(sentence) for name in _NAME.findall(code) if len(name) >= _SHORTEST}
    known = {name for name in _NAME.findall(older["text"]) if len(name) >= _SHORTEST}
    shared = lasting.drop_steps(extract_content_words(sentence) & extract_content_words(older["text"]))
    return bool(named & known) and len(shared) >= _SHARED
