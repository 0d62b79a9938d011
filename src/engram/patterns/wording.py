"""Build the title and the proposed rule of a pattern from its facts. Pure."""

from __future__ import annotations

from engram.patterns import tool_misuse
from engram.patterns.fingerprint import pattern_id, sanitize_line
from engram.patterns.fix_wording import word_fix
from engram.patterns.person_words import quote_words, word_order, word_statement
from engram.platform.text import to_one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_RULE_CHARS = 400  # maximum characters of a rule
_TITLE_CHARS = 100

# Confidence in a kind: what a program reports is certain, what is inferred from a sequence of steps is not.
_TRUST = {
    "tool-misuse": 0.95, "failing-command": 0.9, "denied": 0.9, "error": 0.85, "interrupt": 0.8, "correction": 0.8,
    "context-blowup": 0.8, "test-loop": 0.8, "reverted": 0.75, "passing-sequence": 0.7, "reread": 0.7, "reedit": 0.6,
    "wasted-tokens": 0.6, "short-path": 0.6, "abandoned": 0.5, "known-fix": 0.9, "standing-rule": 0.9,
}  # fmt: skip

_ADVICE = {
    "failing-command": "Do not run it this way.",
    "error": "Fix the cause before you continue.",
    "test-loop": "After the second failure, read the error and the code under test before you edit again.",
    "reread": "Read only the part you need, and remember it.",
    "reedit": "Decide on the content before you write it.",
    "correction": "Follow this without being told again.",
    "standing-rule": "Follow this without being told again.",
    "interrupt": "Say briefly what you are going to do before you start.",
    "reverted": "Confirm the approach before you change files, and commit what works.",
    "denied": "Ask first, or use an allowed alternative.",
    "tool-misuse": "Check its requirements before you call it.",
    "context-blowup": "Request less at a time: filter, limit, or write the output to a file and read part of it.",
    "abandoned": "Split such a task into steps that each produce something useful.",
    "wasted-tokens": "Stop early and ask if you make no progress.",
    "short-path": "Use these steps for such a task.",
}
_MISSING = "command not found: "
_USER_DENIED = ("You did not allow", "A person")  # the second in rows of older versions
_ERRORS = {
    "no such file or directory": "Check that a path exists, relative to the current directory, before you use it in a"
    " command.",
}


def pick_speaker(pattern: str, signal_rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the signal that provides the wording of a pattern: of its seed, with a fix, the newest."""
    return max(
        signal_rows,
        key=lambda row: (
            pattern_id(row["kind"], row["fingerprint"]) == pattern, bool(row["fix"]), row["at"], row["session_id"],
            row["fingerprint"],
        ),
    )  # fmt: skip


def _only_letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def build_title(row: dict[str, Any], signal_rows: Sequence[dict[str, Any]], counts: dict[str, Any]) -> str:
    """Return the title of a pattern: what to do if that is known, else what happened."""
    if row["kind"] == "correction" and counts["times"] > 1:
        said = f"You told agents {counts['times']} times: "
        return f"{said}{quote_words(sanitize_line(row['quote'], 200), _TITLE_CHARS - len(said))}"
    if row["kind"] == "context-blowup":
        return sanitize_line(row["text"], _TITLE_CHARS)
    order = _find_order(row, signal_rows, _TITLE_CHARS)
    return to_one_line(order, _TITLE_CHARS) if order else _describe_event(row, signal_rows)


def _describe_event(row: dict[str, Any], signal_rows: Sequence[dict[str, Any]]) -> str:
    """Return what happened; if the errors of a pattern differ, name what they have in common."""
    if row["kind"] == "error" and len({signal_row["quote"] for signal_row in signal_rows}) > 1:
        fingerprint_words = f"{row['fingerprint']} (such as: {row['quote']})"
        same = _only_letters(row["fingerprint"]) == _only_letters(row["quote"])
        return sanitize_line(f"Recurring error: {row['quote'] if same else fingerprint_words}", _TITLE_CHARS)
    return sanitize_line(row["text"], _TITLE_CHARS)


def _find_order(row: dict[str, Any], signal_rows: Sequence[dict[str, Any]], length: int) -> str:
    """Return what to do as one imperative sentence, or "" if that is not known."""
    kind, fingerprint = row["kind"], row["fingerprint"]
    if kind == "known-fix":
        return word_fix(signal_rows, length)
    if kind == "tool-misuse":
        tool, _, name = fingerprint.partition(": ")
        if name == tool_misuse.NO_SUCH_TOOL:
            return f"Do not call '{sanitize_line(tool, 60)}': there is no such tool."
        return tool_misuse.ADVICE.get(name, "")
    if kind in ("correction", "standing-rule"):
        words = sanitize_line(row["quote"], 240)
        return word_order(words) or (word_statement(words) if kind == "standing-rule" else "")
    command = fingerprint.removeprefix("run ").removeprefix("output of ")
    if kind == "denied" and command != fingerprint and row["text"].startswith(_USER_DENIED):
        return f"Ask before you run `{sanitize_line(command, 70)}`."
    if kind == "context-blowup" and command != fingerprint:
        return f"Limit the output of `{sanitize_line(command, 70)}`: filter it, or write it to a file and read parts."
    return ""


def estimate_confidence(kind: str, sessions: int, has_fix: bool) -> float:
    """Estimate the confidence in a pattern from its kind, its number of sessions and whether a fix is known."""
    return round(min(0.99, _TRUST[kind] * (1 - 0.5**sessions) + (0.05 if has_fix else 0)), 3)


def propose_rule(
    row: dict[str, Any], title_text: str, signal_rows: Sequence[dict[str, Any]]
) -> tuple[str, str]:  # fmt: skip
    """Return the proposed rule of a pattern, and its fix if known."""
    order = _find_order(row, signal_rows, _RULE_CHARS)
    if order:
        return order, ""
    kind, fix = row["kind"], sanitize_line(row["fix"], 240)
    advice = _find_fixed_advice(kind, row["fingerprint"])
    if advice:
        # General advice does not need a single command as its fix.
        return advice, fix if _MISSING in row["fingerprint"] else ""
    if kind == "passing-sequence":
        return f"Before you finish, {_end_sentence(fix)}", ""
    if kind in ("correction", "standing-rule"):
        return f"The user said: “{sanitize_line(row['quote'], 240)}” {_ADVICE[kind]}", fix
    fact = _end_sentence(_name_user(title_text))
    if kind == "denied" and row["text"].startswith(_USER_DENIED):
        return f"{fact} Say what you want to do and why, and wait for approval.", fix
    words = f"{fact} {_ADVICE[kind]}"
    return (f"{words} What worked: {_end_sentence(fix)}" if fix else words)[:_RULE_CHARS], fix


def _find_fixed_advice(kind: str, fingerprint: str) -> str:
    """Return the advice that applies to a fingerprint in every case."""
    missing = fingerprint.partition(_MISSING)[2]
    if kind == "error" and missing:
        return f"{sanitize_line(missing, 60)} is not installed or not on the PATH. Use what the project uses instead."
    return _ERRORS.get(fingerprint, "") if kind == "error" else ""


def _name_user(title_text: str) -> str:
    """Replace "You", the reader of a title, by "The user": a rule is read by an agent."""
    return f"The user {title_text[4:]}" if title_text.startswith("You ") else title_text


def _end_sentence(words: str) -> str:
    return words if words.endswith((".", "!", "?", "…")) else f"{words}."
