"""Patterns in words: the sentence one reads as, and the rule it suggests, made of facts alone. Pure."""

from __future__ import annotations

from engram.patterns import misuse
from engram.patterns.fingerprint import pattern_id, safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_RULE = 400  # characters

# How far a kind can be trusted: what a program said is sure, what is read from a course of things is not.
_TRUST = {
    "tool-misuse": 0.95, "failing-command": 0.9, "denied": 0.9, "error": 0.85, "interrupt": 0.8, "correction": 0.8,
    "context-blowup": 0.8, "test-loop": 0.8, "reverted": 0.75, "passing-sequence": 0.7, "reread": 0.7, "reedit": 0.6,
    "wasted-tokens": 0.6, "short-path": 0.6, "abandoned": 0.5,
}  # fmt: skip

_ADVICE = {
    "failing-command": "Do not run it that way again.",
    "error": "Rule out its cause before you go on.",
    "test-loop": "After the second failure read the error and the code under test before the next edit.",
    "reread": "Keep what you need of it the first time; read only the part you need.",
    "reedit": "Settle what it should say before you write it.",
    "correction": "Do it as they said, without being told again.",
    "interrupt": "Say what you are about to do, and keep it short.",
    "reverted": "Make sure of the approach before you change files; commit what works.",
    "denied": "Do not try it; ask first, or take a way that is allowed.",
    "tool-misuse": "Look before you call it.",
    "context-blowup": "Ask for less at a time: filter, limit, or write it to a file and read a part.",
    "abandoned": "Break such a task into steps that each end with something of use.",
    "wasted-tokens": "Stop early and ask when nothing comes of it.",
    "short-path": "Take this path for such a task.",
}
_MISSING = "command not found: "
_ERRORS = {
    "no such file or directory": "Make sure that a path exists, from the directory you are in, before you use it in a"
    " command.",
}


def speaker(pattern: str, told: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the signal that stands for its pattern: one of the seed with a fix, the newest."""
    return max(
        told,
        key=lambda row: (
            pattern_id(row["kind"], row["fingerprint"]) == pattern, bool(row["fix"]), row["at"], row["session_id"],
            row["fingerprint"],
        ),
    )  # fmt: skip


def _letters(said: str) -> str:
    return "".join(filter(str.isalnum, said.lower()))


def title(row: dict[str, Any], told: Sequence[dict[str, Any]]) -> str:
    """Return the sentence a pattern reads as; where its signals differ, it says what is the same about them."""
    if row["kind"] == "error" and len({each["quote"] for each in told}) > 1:
        alike = f"{row['fingerprint']} (such as: {row['quote']})"
        same = _letters(row["fingerprint"]) == _letters(row["quote"])
        return safe(f"The same error comes up: {row['quote'] if same else alike}", 200)
    return safe(row["text"], 200)


def confidence(kind: str, sessions: int, mended: bool) -> float:
    """Return how sure a pattern is one: by its kind, by how many sessions tell it, and whether they know a way out."""
    return round(min(0.99, _TRUST[kind] * (1 - 0.5**sessions) + (0.05 if mended else 0)), 3)


def rule(row: dict[str, Any], said: str) -> tuple[str, str]:
    """Return the rule a pattern suggests, and what to do instead where that is known."""
    kind, fix = row["kind"], safe(row["fix"], 240)
    advice = _known(kind, row["fingerprint"])
    if advice:
        return advice, fix if _MISSING in row["fingerprint"] else ""  # what goes for all is not mended by one command
    if kind == "passing-sequence":
        return f"Before you call it done, {_ended(fix)}", ""
    if kind == "correction":
        return f"People said: “{safe(row['quote'], 240)}” {_ADVICE[kind]}", fix
    if kind == "denied" and row["text"].startswith("A person"):
        return f"{_ended(said)} Say what you want to do and why, and wait for their word.", fix
    words = f"{_ended(said)} {_ADVICE[kind]}"
    return (f"{words} What worked: {_ended(fix)}" if fix else words)[:_RULE], fix


def _known(kind: str, fingerprint: str) -> str:
    """Return the advice that goes for a fingerprint whatever the case."""
    if kind == "tool-misuse":
        return misuse.ADVICE.get(fingerprint.partition(": ")[2], "")
    missing = fingerprint.partition(_MISSING)[2]
    if kind == "error" and missing:
        return f"{safe(missing, 60)} is not installed here or not on the PATH; use what the project uses instead."
    return _ERRORS.get(fingerprint, "") if kind == "error" else ""


def _ended(words: str) -> str:
    return words if words.endswith((".", "!", "?", "…")) else f"{words}."
