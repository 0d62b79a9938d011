"""Signals of files: repeated reads, rewrites, discarded work, and edit-test-fail loops. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engram.evidence import command_shape, purposes, shell_commands
from engram.patterns import step_problem
from engram.patterns.fingerprint import relative_file_name
from engram.patterns.signal import Signal, build_signal
from engram.patterns.steps import SessionStep, SessionTrace

_MIN_READS = 4  # reads of the same lines while nothing changed them
_MIN_REWRITES = 3  # rewrites of lines the session itself had written
_MIN_EDITS = 12  # edits of one file for one request
_MIN_FAILS = 3  # failures in a row, each after an edit
_MIN_LINE_CHARS = 12  # shortest line that is compared
_RANGE_KEYS = (
    "offset",
    "limit",
    "start_line",
    "end_line",
    "view_range",
    "line_start",
    "line_end",
    "lines",
    "pages",
    "range",
)
_WORDS = re.compile(r"[\w.@+-]+")
_GROWING_FILE = re.compile(r"\.(?:log|out|output|jsonl|tmp|pid)$|/tmp/|\btasks/", re.IGNORECASE)
_DISCARD = re.compile(
    r"\bgit (?:reset --hard|checkout (?:HEAD )?(?:-- )?(?=\.|\S+[./]|-- )\S|restore (?!--staged)|clean -\w*f|"
    r"stash drop|revert\b)"
)  # fmt: skip
_SET_ASIDE = re.compile(
    r"\bgit (?:branch|tag|stash(?: push| save)?)\b(?! drop| -[dD])"
)  # work that was set aside first is not lost
_USER_REVERT, _AGENT_REVERT = "the user asked for it", "the agent chose so"  # parts of fingerprints


def find_rereads(trace: SessionTrace) -> Iterator[Signal]:
    """Yield files whose unchanged lines were read many times."""
    reads_by_word: dict[
        str, dict[tuple[str, str], list[SessionStep]]
    ] = {}  # by the word a command would use for the file
    rereads_by_path: dict[str, list[SessionStep]] = {}
    for step in trace.steps:
        if step.kind == "compaction":
            reads_by_word.clear()  # after a compaction, reading again is right
        if step.done is None or not step.has_worked:
            continue
        for path in step.done.changes:
            reads_of_file = reads_by_word.get(_file_word(path), {})
            reads_by_word[_file_word(path)] = {
                key: reads for key, reads in reads_of_file.items() if not _is_same_file(key[0], path)
            }
        if step.command and not step.done.reads:
            for word in _WORDS.findall(step.command):
                reads_by_word.pop(word, None)  # it may have changed the file
        for path in step.done.reads:
            if not _GROWING_FILE.search(path):
                reads = reads_by_word.setdefault(_file_word(path), {}).setdefault((path, _describe_range(step)), [])
                reads.append(step)
                if len(reads) >= _MIN_READS and len(reads) > len(rereads_by_path.get(path, ())):
                    rereads_by_path[path] = list(reads)
    for path, reads in rereads_by_path.items():
        name = relative_file_name(path, trace.project, trace.cwd)
        yield build_signal(
            trace, "reread", name, f"{name} is read repeatedly although it did not change", reads, quote=path
        )


def _describe_range(step: SessionStep) -> str:
    arguments = step.given if isinstance(step.given, dict) else {}
    return (
        shell_commands.shorten_command(step.command, 400)
        if step.command
        else repr([arguments.get(name) for name in _RANGE_KEYS])
    )


def _file_word(path: str) -> str:
    """Return the word by which a command would name a file: its base name."""
    return next(reversed(_WORDS.findall(_base_name(path))), "")


def _base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _is_same_file(first_path: str, second_path: str) -> bool:
    return first_path == second_path or (
        _base_name(first_path) == _base_name(second_path)
        and (first_path.endswith(second_path) or second_path.endswith(first_path))
    )


def find_reedits(trace: SessionTrace) -> Iterator[Signal]:
    """Yield files in which the session rewrote its own lines several times."""
    written: dict[str, set[str]] = {}
    rewrites: dict[str, list[SessionStep]] = {}
    at_once: dict[str, list[SessionStep]] = {}
    many: dict[str, list[SessionStep]] = {}
    for step in trace.steps:
        if step.kind == "asked":
            at_once = {}
        if step.done is None or step.done.kind != "edit" or not step.has_worked:
            continue
        old, new = split_edit_lines(step.given)
        for path in step.done.changes[:1]:
            if (old or is_whole_write(step.given)) and (
                old & written.get(path, set()) or (not old and written.get(path))
            ):
                rewrites.setdefault(path, []).append(step)
            written.setdefault(path, set()).update(new)
            at_once.setdefault(path, []).append(step)
            if len(at_once[path]) >= _MIN_EDITS:
                many[path] = at_once[path]
    chosen = {path: edit_steps for path, edit_steps in rewrites.items() if len(edit_steps) >= _MIN_REWRITES}
    for path, edit_steps in {**many, **chosen}.items():
        name = relative_file_name(path, trace.project, trace.cwd)
        yield build_signal(
            trace,
            "reedit",
            name,
            f"{name} is rewritten repeatedly",
            edit_steps,
            quote=path,
        )


def split_edit_lines(arguments: Any) -> tuple[set[str], set[str]]:
    """Return the lines an edit removes and adds, without short ones."""
    if isinstance(arguments, str):
        arguments = {"input": arguments}
    if not isinstance(arguments, dict):
        return set(), set()
    old, new = "", ""
    for part in (arguments, *(candidate for candidate in arguments.get("edits") or () if isinstance(candidate, dict))):
        old += "\n" + _first_text(part, "old_string", "old_str", "oldString", "oldText", "search")
        new += "\n" + _first_text(
            part, "new_string", "new_str", "newString", "newText", "replace", "content", "file_text"
        )
    for patch in (
        candidate for candidate in arguments.values() if isinstance(candidate, str) and "*** Begin Patch" in candidate
    ):
        old += "\n" + "\n".join(line[1:] for line in patch.splitlines() if line.startswith("-"))
        new += "\n" + "\n".join(line[1:] for line in patch.splitlines() if line.startswith("+"))
    return _long_lines(old), _long_lines(new)


def is_whole_write(arguments: Any) -> bool:
    """Check whether a call writes a whole file."""
    return isinstance(arguments, dict) and bool(_first_text(arguments, "content", "file_text"))


def _first_text(arguments: dict[str, Any], *names: str) -> str:
    return next((arguments[name] for name in names if isinstance(arguments.get(name), str)), "")


def _long_lines(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines() if len(line.strip()) >= _MIN_LINE_CHARS}


def find_test_loops(trace: SessionTrace) -> Iterator[Signal]:
    """Yield checks that failed repeatedly, each time after another edit."""
    loops: dict[str, list[SessionStep]] = {}
    edits: list[str] = []
    for step in trace.steps:
        if step.done is not None and step.done.changes and step.has_worked:
            edits += step.done.changes
        passed = step_problem.has_passed(step)
        if passed is None:
            continue
        name = shape_check(step.command)
        if passed:
            yield from _build_loop(trace, name, loops.pop(name, []), edits)
            edits = []
        elif edits or name not in loops:
            loops.setdefault(name, []).append(step)
            edits = []
    for name, failed_runs in loops.items():
        yield from _build_loop(trace, name, failed_runs, [])


def _build_loop(trace: SessionTrace, name: str, failed_runs: list[SessionStep], edits: list[str]) -> Iterator[Signal]:
    if len(failed_runs) < _MIN_FAILS:
        return
    fix = f"change {', '.join(dict.fromkeys(_base_name(path) for path in edits))}" if edits else ""
    text = f"'{name}' keeps failing after edits" + ("" if edits else " and never passes")
    yield build_signal(
        trace,
        "test-loop",
        name,
        text,
        failed_runs,
        fix=fix,
        quote=step_problem.find_problem_line(failed_runs[-1]),
        through=True,
    )


def shape_check(command: str) -> str:
    """Return the shape of the part of a command line that checks something."""
    for part in command_shape.split_commands(command):
        line = " ".join(part)
        if purposes.find_purpose(line) in ("test", "build"):
            return command_shape.shape_command(line) or shell_commands.shorten_command(line, 40)
    return command_shape.shape_command(command) or "check"


def find_reverts(trace: SessionTrace) -> Iterator[Signal]:
    """Yield work that was done and then discarded."""
    reverts_by_name: dict[str, list[SessionStep]] = {}
    edits: list[SessionStep] = []
    last_request = ""
    for step in trace.steps:
        last_request = step.text if step.kind == "asked" else last_request
        if step.done is None or not step.has_worked:
            continue
        discards = _DISCARD.search(step.command) if step.command and not _SET_ASIDE.search(step.command) else None
        if discards and edits:
            who = _USER_REVERT if _is_revert_request(last_request) else _AGENT_REVERT
            name = f"{' '.join(discards[0].split()[:2])}: {who}"
            reverts_by_name.setdefault(name, []).extend([edits[0], step])
            edits = []
        elif step.done.kind == "edit" or purposes.find_purpose(step.command) == "commit":
            edits.append(step)
    for name, revert_steps in reverts_by_name.items():
        verb, _, who = name.partition(": ")
        text = (
            f"Work was discarded with {verb} at the user's request"
            if who == _USER_REVERT
            else f"The agent discarded its work with {verb}"
        )
        yield build_signal(
            trace,
            "reverted",
            name,
            text,
            revert_steps,
            quote=shell_commands.shorten_command(revert_steps[-1].command),
            times=len(revert_steps) // 2,
            through=True,
        )


def _is_revert_request(request_text: str) -> bool:
    return bool(
        re.search(
            r"\b(?:revert|undo|roll ?back|throw|discard|reset|drop|restore|get rid)\b", request_text, re.IGNORECASE
        )
    )
