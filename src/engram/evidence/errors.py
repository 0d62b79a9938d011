"""The errors of a session, each joined to what ended it. No I/O.

A check (tests, a build, a linter) ends an error when it passes on the same thing; a command when it or another command
does the same job. What was done in between is in `state["trail"]`, which all open errors share.
"""

from __future__ import annotations

import re
from typing import Any

from engram.evidence import command_shape, error_lines, fixes, purposes, same_work, shell_commands
from engram.evidence.actions import CallAction
from engram.evidence.content_words import extract_content_words, measure_overlap
from engram.evidence.error_signature import make_signature
from engram.evidence.run_output import has_build_failed
from engram.platform.text import to_one_line
from engram.types import Event

CHECK, COMMAND, EDIT, CALL = "check", "command", "edit", "call"

_KEPT = 40
_COMMAND = 400  # characters of a command that are compared
_SHARED_WORDS = 2  # words that the other way has in common with what failed and what was announced
_ANNOUNCED = 1  # steps within which an agent says what it does instead
_SOON = 6  # steps within which a tool is called again
_CONTINUED = frozenset("write_stdin bash_output read_bash bashoutput task agent".split())  # say nothing of their own
_TRAIL = 60  # steps that are remembered
_CAUSE_SOON = 3  # steps within which a stated cause is about the error before it
_ABOUT = 0.4  # share of an error's words that a cause has which comes later
_STATEMENT = re.compile(r"^\S+(?: \S+)?: \S")  # `gh: …`, `pattern x: …`, unlike a person's words
_SHORT = 3  # lines of an output that say why a command failed, whatever their words
_SEARCHES = frozenset(
    "grep glob ls list_directory search_files codebase_search find read cat webfetch web_fetch fetch websearch".split()
)

_NOT_AN_ERROR = re.compile(
    r"sibling tool call|operation (?:was )?(?:cancelled|canceled|aborted)|request (?:was )?aborted|permission prompt|"
    r"granted it yet|already stopped|is not running, so cannot|doesn't want to (?:proceed|take)|exceeds maximum|"
    r"tool use was denied|use was rejected|requires? approval",
    re.IGNORECASE,
)
_LOOKED = re.compile(r"^(?:ls|cat|head|tail|find|grep|rg|stat|wc|diff|cmp|file|tree): ")
_STASHED = re.compile(
    r"\bgit (?:-C \S+ )?stash\b(?! (?:pop|apply|list|drop))"
)  # a check without the change fails on purpose
_PASTED_CHECKS = re.compile(r"^(?:.{0,60}\s)?(?:fail|failing|pending|pass)\s+\d+[ms]\b|\bhttps://\S+/actions/runs/")


def record(state: dict[str, Any], action: CallAction, event: Event, key: int, episode: int) -> set[int]:
    """Record a failed call; the same failure of the same thing counts once.

    Return the numbers of the episodes whose errors this failure shows to be gone: the check now fails on others.
    """
    text = event.text
    line = error_lines.find_error_line(text)
    if not line or _is_no_error(action, text, line):
        return set()
    fixed = _close_replaced(state, action, text, key) if action.kind == "run" else set()
    signature = make_signature(line)
    known = next((error for error in state["errors"] if _is_repeated(error, action, signature, line)), None)
    if known is None:
        known = {"known": signature, "times": 0, "keys": [], "key": key}
        state["errors"].append(known)
    known.update(_describe(state, action, text, line), episode=episode, at=event.at, times=known["times"] + 1)
    known["keys"] = [*known["keys"], key][-4:]
    if len(state["errors"]) > _KEPT:
        state["errors"].pop(next((n for n, error in enumerate(state["errors"]) if not error["open"]), 0))
    return fixed


def _is_repeated(error: dict[str, Any], action: CallAction, signature: str, line: str) -> bool:
    """Return whether a failure is one seen before; a slip in how something is called is one of that command only."""
    if error["known"] != signature:
        return False
    if action.kind != "run" or not same_work.is_call_error(line) or not error["open"]:
        return True
    return bool(error["shape"] == command_shape.shape_call(action.subject))


def _describe(state: dict[str, Any], action: CallAction, text: str, line: str) -> dict[str, Any]:
    """Return the facts of an error that has just occurred."""
    is_run = action.kind == "run"
    return {
        "line": to_one_line(line, 200), "sort": _find_sort(action, line), "open": True, "fix": "", "how": "",
        "passing": "", "verified": False, "cause": "", "turn": state["turn"], "step": _count_step(state),
        "command": to_one_line(action.subject, _COMMAND) if is_run else "",
        "shape": command_shape.shape_call(action.subject) if is_run else "",
        "part": list(same_work.find_failed_part(action.subject, line)) if is_run else ["", ""],
        "subject": f"{action.kind} {action.subject}"[:200],
        "about": shell_commands.get_command_key(action.subject) if is_run else action.subject[:120],
        "detail": action.detail[:200],
        "names": _list_names(text, line),
    }  # fmt: skip


def _list_names(text: str, line: str) -> list[str]:
    lines = "\n".join([line, *error_lines.list_error_lines(text)[:6]])
    return list(dict.fromkeys([*error_lines.extract_names(lines), *error_lines.list_places(text)]))[:16]


def _find_sort(action: CallAction, line: str) -> str:
    if action.kind == "edit":
        return EDIT
    if action.kind != "run":
        return CALL
    is_found = error_lines.is_test_failure(line) or error_lines.names_place(line)
    is_found = is_found and "no such file" not in line.lower()
    if same_work.find_check(action.subject) and (is_found or not same_work.is_call_error(line)):
        return CHECK
    return COMMAND


def _is_no_error(action: CallAction, text: str, line: str) -> bool:
    """Return whether a failure only says that something looked for is not there, or that it was stopped."""
    if _NOT_AN_ERROR.search(line) or action.kind == "read" or action.subject in _SEARCHES:
        return True
    if action.kind != "run":
        return False
    check = same_work.find_check(action.subject)
    if not (check or _says_error(text, line)) or _PASTED_CHECKS.search(line) or _LOOKED.match(line):
        return True
    if check and (_STASHED.search(action.subject) or (check[0] == purposes.TEST and not _tells_failure(line))):
        return True
    return same_work.is_search(action.subject) and not (error_lines.STOPPED.match(line) or _is_crash(text, line))


def _is_crash(text: str, line: str) -> bool:
    """Return whether a program that was only to tell something broke down."""
    return "Traceback (most recent call last)" in text and error_lines.get_rank(line) <= error_lines.EXCEPTION


def _says_error(text: str, line: str) -> bool:
    """Return whether a line says that something is wrong, unlike a count or an empty result."""
    if error_lines.get_rank(line) <= error_lines.STATED or shell_commands.names_error(line):
        return True
    return error_lines.count_lines(text) <= _SHORT and bool(_STATEMENT.match(line))


def _tells_failure(line: str) -> bool:
    """Return whether a line of a test run says what failed, unlike the warnings of a noisy suite."""
    return same_work.is_call_error(line) or error_lines.get_rank(line) <= error_lines.STATED


def is_hidden_failure(action: CallAction, text: str) -> bool:
    """Return whether a call whose status says nothing wrote an error message first of all."""
    return action.kind == "run" and error_lines.is_error_message(text)


def note_done(state: dict[str, Any], action: CallAction, key: int, passed: bool | None, text: str = "") -> set[int]:
    """Note a call that did not fail, and close the errors that it ends.

    `passed` is None if it is not known whether the call did what it was to do; `text` is its output. Return the numbers
    of the episodes whose errors were closed.
    """
    _count_step(state)
    closed = {
        _close(state, error, action, key, passed)
        for error in state["errors"]
        if error["open"] and (_ends(state, error, action, passed, text) or _is_way_round(error, action, passed))
    }
    _add_to_trail(state, action, state["step"])
    return closed


def _is_way_round(error: dict[str, Any], action: CallAction, passed: bool | None) -> bool:
    """Return whether a call is what the agent announced to do instead of what had just failed."""
    if not error.get("way") or error["sort"] not in (COMMAND, CALL) or action.kind != "run" or passed is False:
        return False
    error["way_steps"] = int(error.get("way_steps", 0)) + 1
    if error["way_steps"] > _SOON or same_work.is_looking_only(action.subject):
        return False
    told = extract_content_words(f"{error['way']} {error['command']} {error['detail']}")
    least = 1 if error["sort"] == CALL else _SHARED_WORDS
    return len(told & extract_content_words(to_one_line(action.subject, _COMMAND))) >= least


def note_way_round(state: dict[str, Any], text: str) -> None:
    """Note what an agent announces to do instead of what has just failed."""
    last = state["errors"][-1] if state["errors"] else None
    if last is None or not last["open"] or state.get("step", 0) - last["step"] > _ANNOUNCED:
        return
    way = fixes.find_way_round(text)
    if way:
        last["way"] = way


def _ends(state: dict[str, Any], error: dict[str, Any], action: CallAction, passed: bool | None, text: str) -> bool:
    """Return whether a call does what an error prevented."""
    sort, age = error["sort"], state["step"] - error["step"]
    if sort in (EDIT, CALL):
        return _ends_refused_call(error, action, age)
    if action.kind != "run":
        return False
    command = to_one_line(action.subject, _COMMAND)
    if sort == CHECK:
        return passed is True and _passes_check(error, command, text)
    if same_work.is_same_command(command, error["command"]):
        return passed is not False
    if passed is False:
        return False
    return same_work.replaces(command, error["command"], error["line"], age) or bool(
        fixes.find_written_script(state["trail"], error, command)
    )


def _passes_check(error: dict[str, Any], command: str, text: str) -> bool:
    """Return whether a command that passed runs the check again, alone or as one of several none of which complains."""
    failed, names = error["command"], _get_text(error)
    if same_work.is_same_check(command, failed, names):
        return True
    return same_work.includes_check(command, failed, names) and not has_build_failed(text)


def note_seen(state: dict[str, Any], action: CallAction, text: str, key: int) -> set[int]:
    """Close the errors that the same check, its status hidden, no longer reports after a change to what they name."""
    gone = [
        error
        for error in state["errors"]
        if error["open"] and error["sort"] == CHECK and error["line"][:60] not in text
        and same_work.is_same_command(to_one_line(action.subject, _COMMAND), error["command"])
        and fixes.list_responsible(state["trail"], error)
    ]  # fmt: skip
    return {_close(state, error, action, key, None) for error in gone}


def _ends_refused_call(error: dict[str, Any], action: CallAction, age: int) -> bool:
    """Return whether a refused edit was made, or a refused call accepted soon after with other arguments."""
    if f"{action.kind} {action.subject}"[:200] != error["subject"] or action.subject in _CONTINUED:
        return False
    return error["sort"] == EDIT or age <= _SOON


def _get_text(error: dict[str, Any]) -> str:
    return " ".join([error["line"], *error["names"]])


def _close_replaced(state: dict[str, Any], action: CallAction, text: str, key: int) -> set[int]:
    """Close the errors that a check no longer reports, though it fails on others, after a change to what they name.

    A command that could not be found is closed as well when it runs, whatever it finds.
    """
    gone = [error for error in state["errors"] if error["open"] and _is_gone(state, error, action, text)]
    return {_close(state, error, action, key, None) for error in gone}


def _is_gone(state: dict[str, Any], error: dict[str, Any], action: CallAction, text: str) -> bool:
    """Return whether a failed check shows that an earlier error is gone."""
    if error["sort"] == CHECK:
        return _reports_others(state, error, action, text)
    return error["sort"] == COMMAND and bool(same_work.find_check(error["command"])) and _runs_now(error, action, text)


def _reports_others(state: dict[str, Any], error: dict[str, Any], action: CallAction, text: str) -> bool:
    lines = error_lines.list_error_lines(text)
    own = error_lines.is_test_failure if error_lines.is_test_failure(error["line"]) else error_lines.names_place
    command = to_one_line(action.subject, _COMMAND)
    return (
        bool(lines) and own(lines[0]) and own(error["line"]) and len(lines) < 10
        and make_signature(error["line"]) not in {make_signature(line) for line in lines}
        and same_work.strip_command(command) == same_work.strip_command(error["command"])
        and bool(fixes.list_touching(state["trail"], error))
    )  # fmt: skip


def _runs_now(error: dict[str, Any], action: CallAction, text: str) -> bool:
    lines = error_lines.list_error_lines(text)
    is_found = bool(lines) and (error_lines.is_test_failure(lines[0]) or error_lines.names_place(lines[0]))
    failed, check = same_work.find_check(error["command"]), same_work.find_check(action.subject)
    return is_found and bool(failed and check) and failed[1].words[0] == check[1].words[0]  # type: ignore[index]


def _close(state: dict[str, Any], error: dict[str, Any], action: CallAction, key: int, passed: bool | None) -> int:
    """Mark an error as ended, and say by what."""
    fix = fixes.describe_fix(state["trail"], error, action)
    error.update(
        open=False, fixed_by=key, fix=fix.text, how=fix.kind, passing=fix.passing,
        verified=bool(passed) and fix.is_sure,
    )  # fmt: skip
    return int(error.get("episode", -1))


def note_cause(state: dict[str, Any], cause: str) -> None:
    """Join a cause the agent states to the error it is about: the one just seen, or the one whose words it has."""
    waiting = [error for error in state["errors"] if error["open"] and not error["cause"] and error["sort"] != EDIT]
    for error in waiting:
        is_next = error is waiting[-1] and state["step"] - error["step"] <= _CAUSE_SOON
        named = any(name in cause for name in error["names"]) or measure_overlap(error["line"], cause) >= _ABOUT
        if is_next or named:
            error["cause"] = to_one_line(cause, 200)


def _count_step(state: dict[str, Any]) -> int:
    state["step"] = state.get("step", 0) + 1
    return int(state["step"])


def _add_to_trail(state: dict[str, Any], action: CallAction, step: int) -> None:
    """Remember what a call did, while an error is open."""
    if action.kind not in ("edit", "run", "read") or not any(error["open"] for error in state["errors"]):
        return
    item = {
        "step": step, "kind": action.kind, "files": list((action.changes or action.reads)[:6]),
        "text": action.detail, "lines": action.lines[:600],
        "command": to_one_line(action.subject, _COMMAND) if action.kind == "run" else "",
    }  # fmt: skip
    state["trail"] = [*state["trail"], item][-_TRAIL:]
