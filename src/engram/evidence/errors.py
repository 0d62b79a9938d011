"""The errors of a session, each joined to what ended it. No I/O."""

from __future__ import annotations

import re
from typing import Any

from engram.evidence import purposes, shell_commands
from engram.evidence.actions import CallAction
from engram.evidence.content_words import extract_content_words
from engram.platform.text import to_one_line

_KEPT = 24
_COMMAND = 400  # characters of a command that are compared
_SHOWN = 160  # characters of a command in a fix
_SOON = 3  # calls within which another attempt at the same thing is recognized more easily
_TRIVIAL = re.compile(  # looking for something that is not there is no error
    r"^(?:ls|cat|head|tail|find|grep|rg|ag|which|where|command|type|stat|test|\[|diff|cmp|fd|tree|wc|file|"
    r"Get-ChildItem|dir)\b"
)
_LOOKING = re.compile(
    r"^(?:cd \S+ && )?(?:ls|cat|head|tail|find|grep|rg|gh (?:api|run|pr (?:view|checks)|issue)|git (?:log|status|"
    r"show|diff|branch|remote)|which|"
    r"npm (?:view|ls)|tree|pwd|echo)\b"
)
_TOOL_ERROR_TAG = re.compile(r"</?tool_use_error>")


def record(state: dict[str, Any], action: CallAction, text: str, key: int, episode: int) -> None:
    """Record a failed call; the same failure of the same thing counts once."""
    line = shell_commands.find_error_line(_TOOL_ERROR_TAG.sub("", text))
    if not line or _is_trivial(action, line) or (action.kind == "run" and not shell_commands.names_error(line)):
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
    command = to_one_line(action.subject, _COMMAND) if action.kind == "run" else ""
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
    """Note what was done since an error, and mark it fixed when the same thing passes.

    Return the numbers of the episodes whose errors were fixed.
    """
    fixed: set[int] = set()
    subject = find_subject(action)
    command = to_one_line(action.subject, _COMMAND) if action.kind == "run" else ""
    for error in state["errors"]:
        if not error["open"]:
            continue
        error["age"] = error.get("age", 0) + 1
        if error.get("subject") == subject or (command and _replaces(command, error)):
            fixed.add(_close(error, action, command, key))
        else:
            _note_step(error, action, command)
    return fixed


def note_cause(state: dict[str, Any], cause: str) -> None:
    """Join a cause the agent states to the errors it is looking at."""
    for error in state["errors"]:
        if error["open"] and not error.get("cause") and error.get("command"):
            error["cause"] = to_one_line(cause, 160)


def _close(error: dict[str, Any], action: CallAction, command: str, key: int) -> int:
    """Mark an error fixed, and say by what: the changes since, else the steps since and how the call differs."""
    error["open"], error["fixed_by"] = False, key
    changes = [step for step in error["since"] if step.startswith("changed")]
    named = [step for step in changes if step.split(":")[0].removeprefix("changed ") in error["line"]]
    steps = named[-2:] or changes[-3:] or error["since"][-2:]
    ran = _find_difference(command, error.get("command", ""))
    if action.kind == "other" and action.detail:
        ran = f"called {action.subject} with {action.detail}"
    elif action.kind == "edit":
        ran = (
            f"changed {_get_file_name(action)}: {action.detail}"
            if action.detail
            else f"changed {_get_file_name(action)}"
        )
    error["fix"] = "; ".join(filter(None, (*steps, ran))) or "passed when repeated"
    return int(error.get("episode", -1))


def _find_difference(command: str, failed: str) -> str:
    """Return the command that passed, if it is another one; of a long line, the part that changed."""
    if not command or command == failed:
        return ""
    if len(command) <= _SHOWN:
        return f"ran `{command}`"
    start = next((n for n, (one, other) in enumerate(zip(command, failed, strict=False)) if one != other), 0)
    start = command.rfind(" ", 0, max(start - 20, 0)) + 1
    return f"ran `{to_one_line(('…' if start else '') + command[start:], _SHOWN)}`"


def _note_step(error: dict[str, Any], action: CallAction, command: str) -> None:
    if action.changes and action.kind == "edit":
        step = (
            f"changed {_get_file_name(action)}: {action.detail}"
            if action.detail
            else f"changed {_get_file_name(action)}"
        )
    elif action.kind == "read":
        step = f"read {_get_file_name(action)}"
    elif command:
        step = f"ran `{to_one_line(command, 80)}`"
    else:
        return
    if step not in error["since"]:
        error["since"] = [*error["since"], to_one_line(step, 140)][-4:]


def _get_file_name(action: CallAction) -> str:
    return re.split(r"[/\\]", (*action.changes, *action.reads, action.subject)[0])[-1]


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


def _replaces(command: str, error: dict[str, Any]) -> bool:
    """Return whether a command does what a failed one was to do, in another way."""
    failed = error.get("command", "")
    if not failed or error["subject"].startswith((purposes.TEST, purposes.BUILD, purposes.LINT)):
        return False
    if command == failed:
        return True
    if _LOOKING.match(command):
        return False  # a look is no fix
    new, old = extract_content_words(command), extract_content_words(failed)
    least = 0.35 if error.get("age", 0) <= _SOON else 0.6
    return len(new & old) >= 2 and len(new & old) >= least * len(old)
