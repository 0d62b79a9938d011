"""The errors of a session, each joined to what ended it. No I/O."""

from __future__ import annotations

import re
from typing import Any

from engram.evidence import purposes, shell_commands
from engram.evidence.actions import CallAction
from engram.evidence.content_words import extract_content_words
from engram.platform.text import to_one_line

_KEPT = 24
_TRIVIAL = re.compile(  # looking for something that is not there is no error
    r"^(?:ls|cat|head|tail|find|grep|rg|ag|which|where|command|type|stat|test|\[|diff|cmp|fd|tree|wc|file|Get-ChildItem|dir)\b"
)
_TOOL_ERROR_TAG = re.compile(r"</?tool_use_error>")


def record(state: dict[str, Any], action: CallAction, text: str, key: int, episode: int) -> None:
    """Record a failed call; the same failure of the same thing counts once."""
    line = shell_commands.find_error_line(_TOOL_ERROR_TAG.sub("", text))
    if not line or _is_trivial(action, line):
        return
    signature, subject = shell_commands.normalize_error(line), find_subject(action)
    about = shell_commands.get_command_key(action.subject) if action.kind == "run" else action.subject
    for error in state["errors"]:
        if error["known"] == signature:
            error.update(
                times=error["times"] + 1, open=True, turn=state["turn"], about=about, subject=subject, since=[], fix="",
                episode=episode,
            )  # fmt: skip
            return
    command = shell_commands.shorten_command(action.subject, 200) if action.kind == "run" else ""
    state["errors"].append(
        {
            "known": signature, "line": to_one_line(line, 160), "about": about, "times": 1, "open": True, "fix": "",
            "turn": state["turn"], "since": [], "key": key, "command": command, "cause": "", "subject": subject,
            "episode": episode,
        }
    )  # fmt: skip
    if len(state["errors"]) > _KEPT:
        state["errors"].pop(next((n for n, error in enumerate(state["errors"]) if not error["open"]), 0))


def mark_fixed(state: dict[str, Any], action: CallAction, key: int) -> set[int]:
    """Note what was changed since an error, and mark it fixed when the same thing passes.

    Return the numbers of the episodes whose errors were fixed.
    """
    fixed: set[int] = set()
    subject, command = find_subject(action), ""
    if action.kind == "run":
        command = shell_commands.shorten_command(action.subject, 200)
    for error in state["errors"]:
        if not error["open"]:
            continue
        if error.get("subject") == subject or (command and _replaces(command, error.get("command", ""))):
            fixed.add(_close(error, command, key))
        elif action.changes:
            _note_change(error, action)
    return fixed


def note_cause(state: dict[str, Any], cause: str) -> None:
    """Join a cause the agent states to the errors it is looking at."""
    for error in state["errors"]:
        if error["open"] and not error.get("cause"):
            error["cause"] = to_one_line(cause, 160)


def _close(error: dict[str, Any], command: str, key: int) -> int:
    error["open"], error["fixed_by"] = False, key
    changed = "; ".join(error["since"])
    ran = f"ran `{to_one_line(command, 100)}`" if command and command != error.get("command", "") else ""
    error["fix"] = "; ".join(filter(None, (changed, ran))) or "passed when repeated"
    return int(error.get("episode", -1))


def _note_change(error: dict[str, Any], action: CallAction) -> None:
    name = re.split(r"[/\\]", action.changes[0])[-1]
    change = f"changed {name}: {action.detail}" if action.detail else f"changed {name}"
    if change not in error["since"]:
        error["since"] = [*error["since"], to_one_line(change, 120)][-3:]


def find_subject(action: CallAction) -> str:
    """Return what a call is about: tests, a build, a command by its first words, or a file."""
    if action.kind != "run":
        return f"{action.kind} {action.subject}"
    purpose, run = purposes.find_run(action.subject)
    if run and purpose in (purposes.TEST, purposes.BUILD, purposes.LINT):
        return f"{purpose} {run.words[0]}"
    return shell_commands.get_command_key(action.subject)


def _is_trivial(action: CallAction, line: str) -> bool:
    """Return whether a failure only says that something looked for is not there."""
    if action.kind == "read":
        return True
    if action.kind != "run":
        return False
    bare = re.sub(r"^cd \S+ && ", "", action.subject.strip())
    return bool(_TRIVIAL.match(bare)) or (len(line.split()) <= 3 and line.lower().startswith("exit code"))


def _replaces(command: str, failed: str) -> bool:
    """Return whether a command does what a failed one was to do, in another way."""
    if not failed or command == failed:
        return bool(failed)
    new, old = extract_content_words(command), extract_content_words(failed)
    return len(new & old) >= 2 and len(new & old) >= 0.6 * len(old)
