"""Signals of commands that fail, together with what works: the only errors a rule can be made of. Pure.

A fix comes from the errors of the session, where the same thing passed afterwards, or from its steps. Both are reduced
to one lesson, so that several errors with one cause are one signal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engram.evidence import command_lessons, command_shape, fixes, same_work, task_commands
from engram.patterns import command_replacements, step_problem
from engram.patterns.fingerprint import sanitize_line
from engram.patterns.fix_wording import DIRECTORY, INSTEAD, MISSING, ROOT, SETUP, THERE, format_fingerprint
from engram.patterns.signal import Signal, build_signal
from engram.patterns.steps import SessionStep, SessionTrace
from engram.platform import plain_json
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_COMMANDS = 3  # commands named in a lesson
_NOT_FOUND = "command not found: "
_SETUP_COMMAND = re.compile(r"^ran `([^`]+)`, then it passed")
# Programs that look at files or change them: where they run is a detail of one step.
_NOT_TASKS = frozenset("sed awk cat rm cp mv echo ls find grep rg head tail python python3 node bash sh touch".split())
_LOST = re.compile(
    r"no such file|pathspec|unknown revision|main module|not a git repository|cannot find|not found|"
    r"could not find|enoent",
    re.IGNORECASE,
)


@value
class KnownFix:
    """What one failure teaches: the lesson, the commands that failed, the command that works, and the message."""

    lesson: str
    failing: tuple[str, ...]
    passing: str
    line: str
    at: int


def find_known_fixes(trace: SessionTrace) -> Iterator[Signal]:
    """Yield each lesson of a session once, with the failures that teach it."""
    groups: dict[str, list[KnownFix]] = {}
    for fix in (*_read_errors(trace), *_read_steps(trace)):
        groups.setdefault(fix.lesson, []).append(fix)
    for lesson, found in groups.items():
        if lesson.startswith(f"{INSTEAD}: ") and _has_worked(trace, found[0].failing[0]):
            continue  # it works as well: the reason was another one
        failed_steps = _list_failed_steps(trace, {fix.at for fix in found})
        failing = list(dict.fromkeys(name for fix in found for name in fix.failing))[:_MAX_COMMANDS]
        works = f"; {found[-1].passing} works" if found[-1].passing else ""
        yield build_signal(
            trace, "known-fix", lesson, f"{', '.join(failing)} fails: {found[-1].line}{works}", failed_steps,
            fix=", ".join(failing), quote=found[-1].line, times=len({fix.at for fix in found}),
        )  # fmt: skip


def _has_worked(trace: SessionTrace, call: str) -> bool:
    return any(
        call in command_replacements.list_calls(step.command)
        for step in trace.steps
        if step.command and step.has_worked
    )


def _list_failed_steps(trace: SessionTrace, times: set[int]) -> list[SessionStep]:
    return [step for step in trace.steps if step.has_failed and (step.at in times or step.until in times)]


# ---- From the errors of the session


def _read_errors(trace: SessionTrace) -> Iterator[KnownFix]:
    for row in trace.errors:
        if not row["verified"]:
            continue
        facts = plain_json.loads(row["facts"])
        if row["fix_kind"] == fixes.SETUP:
            yield from _learn_setup(row, facts["command"])
        elif row["fix_kind"] == fixes.REPLACED and facts["command"] and facts["passing"]:
            yield from _learn_replacement(trace, row, facts["command"], facts["passing"])


def _learn_setup(row: dict[str, Any], command: str) -> Iterator[KnownFix]:
    """Yield the command that has to run first."""
    match = _SETUP_COMMAND.match(row["fix"])
    first = command_replacements.clean_shape(match[1]) if match else ""
    then = command_replacements.name_program(row["culprit"])
    is_same_line = first in command_replacements.list_calls(command)
    if first and then and not is_same_line and task_commands.is_repeatable(match[1] if match else ""):
        lesson = format_fingerprint(SETUP, first, then)
        yield KnownFix(lesson=lesson, failing=(then,), passing=first, line=_clean(row["line"]), at=row["at"])


def _learn_replacement(trace: SessionTrace, row: dict[str, Any], failed: str, passing: str) -> Iterator[KnownFix]:
    """Yield where a command has to run, or what has to run in its place."""
    before, bare_failed = command_lessons.split_directory(failed)
    after, bare_passing = command_lessons.split_directory(passing)
    if before != after and _runs_same_commands(bare_failed, bare_passing, row["culprit"]):
        yield from _learn_directory(trace, row, bare_failed, before, after)
    elif before == after or not after:
        pair = command_replacements.find_replacement(bare_failed, bare_passing, row["signature"])
        if pair:
            yield _build_replacement(pair, row["signature"], row["line"], row["at"])


def _runs_same_commands(failed: str, passing: str, culprit: str) -> bool:
    """Return whether a line runs what another one ran until it failed; a stored line may be cut off after that."""
    calls = command_replacements.list_calls(failed)
    names = [command_replacements.name_program(call) for call in calls]
    name = command_replacements.name_program(culprit)
    ran = calls[: names.index(name) + 1] if name in names else calls
    return bool(ran) and ran == command_replacements.list_calls(passing)[: len(ran)]


def _learn_directory(
    trace: SessionTrace, row: dict[str, Any], failed: str, before: str, after: str
) -> Iterator[KnownFix]:  # fmt: skip
    names, line = _list_tasks(failed, row["culprit"]), _clean(row["line"])
    place = task_commands.locate(after or before, trace.project)
    if not names or place is None or not _LOST.search(row["line"]):
        return
    kind = DIRECTORY if after else THERE
    lesson = format_fingerprint(kind, _name_project(trace.project), f"{place}/" if place else ROOT)
    yield KnownFix(lesson=lesson, failing=names, passing="", line=line, at=row["at"])


def _list_tasks(failed: str, culprit: str) -> tuple[str, ...]:
    """Return the commands of a line that serve the project, up to the one that failed."""
    names: list[str] = []
    for program, shape in command_shape.list_parts(failed):
        name = command_replacements.name_program(shape)
        if program not in _NOT_TASKS and name and name not in names:
            names.append(name)
        if shape == culprit:
            break
    return tuple(names[:_MAX_COMMANDS])


def _name_project(project: str) -> str:
    return project.replace("\\", "/").rstrip("/").rpartition("/")[2]


# ---- From the steps


def _read_steps(trace: SessionTrace) -> Iterator[KnownFix]:
    """Yield calls that could not work, such as a missing script, and the similar call that worked soon after."""
    for position, step in enumerate(trace.steps):
        if not step.command or not step_problem.is_setup_failure(step):
            continue
        error_print, line = step_problem.fingerprint_step_error(step), step_problem.find_problem_line(step)
        if not error_print or not same_work.is_call_error(line):
            continue
        pair = next(filter(None, _list_pairs(trace.steps, position, error_print)), None)
        if pair:
            yield _build_replacement(pair, error_print, line, step.until or step.at)


def _list_pairs(
    steps: Sequence[SessionStep], position: int, error_print: str
) -> Iterator[tuple[str, str] | None]:  # fmt: skip
    failed = steps[position].command
    for step in command_replacements.list_next_commands(steps, position):
        if step.has_worked and command_replacements.is_similar_command(failed, step.command):
            yield command_replacements.find_replacement(failed, step.command, error_print)


def _build_replacement(pair: tuple[str, str], signature: str, line: str, at: int) -> KnownFix:
    kind = MISSING if signature.startswith(_NOT_FOUND) else INSTEAD
    return KnownFix(
        lesson=format_fingerprint(kind, *pair), failing=(pair[0],), passing=pair[1], line=_clean(line), at=at
    )


def _clean(line: str) -> str:
    return sanitize_line(line, 200)
