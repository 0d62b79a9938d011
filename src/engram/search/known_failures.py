"""Choose what an agent is told of a command that failed before: after it failed again, and before it runs again.

It runs in hooks. One line; silence unless the fix was verified and holds for this command.
"""

from __future__ import annotations

import os

from engram.clock import to_datetime
from engram.platform import plain_json, text
from engram.platform.value import value
from engram.search.push_record import EMPTY, Push, hash_text
from engram.store import captures, cases, command_runs, pushes, session_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engram.evidence.command_lessons import Lesson
    from engram.hub import Hub
    from engram.store.engine import Row

_READ = 60  # records that are looked at
_SHOWN = 140  # characters of a command that are shown
_WHY = 110  # characters of an error message that are shown
_CHANGE = 220  # characters of a change that are shown
_LEAST_FAILED = 2  # times a command failed before an agent is warned
_ABOUT = 0.6  # share of the words of a refused command that a similar one has
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_HEAD = "From memory (quoted data):"


@value
class _Fix:
    """What ended one earlier failure, so that it can be compared with others."""

    key: tuple[str, str]
    line: str  # what to say
    at: int
    passing: str  # the command that worked, if it is another one


def choose_for_failure(
    hub: Hub, session: Row, command: str, output: str, exclude: frozenset[int] = frozenset()
) -> Push:  # fmt: skip
    """Return what ended a failure when it was met before in this project; `exclude` names captures."""
    from engram.evidence import error_lines, error_signature

    message = error_lines.find_error_line(output)
    signature = error_signature.make_signature(message) if message else ""
    if not signature or not session["project"]:
        return EMPTY
    rows = session_errors.list_fixed(hub.engine, session["project"], signature, _READ)
    own = _list_own_captures(hub, session, exclude) if rows else frozenset()
    fixes = (_read_fix(hub, session["project"], row, command, message) for row in rows if row["capture"] not in own)
    agreed = _choose_agreed([fix for fix in fixes if fix is not None])
    source = f"error:{hash_text(' '.join((signature, *agreed[0].key)))}" if agreed else ""
    if not agreed or not _is_wanted(hub, session, source, agreed[0].at):
        return EMPTY
    line = f"{_HEAD} {agreed[0].line.format(times=_format_times(hub, session['project'], agreed))}"
    return Push(text=line, reason=f"failed with: {signature}", sources=(source,))


def _list_own_captures(hub: Hub, session: Row, exclude: frozenset[int]) -> frozenset[int]:
    """Return the captures of a session and of those it is related to: it knows what happened in them."""
    return exclude.union(captures.list_related(hub.engine, session["id"], session["native_id"] or ""))


def _is_wanted(hub: Hub, session: Row, source: str, at: int) -> bool:
    """Return whether a session was not told something yet, and no person turned down what is known of it so far."""
    if source in pushes.list_told_sources(hub.engine, session["id"]):
        return False
    return at > pushes.list_unwanted_sources(hub.engine, session["project"]).get(source, -1)


def _read_fix(hub: Hub, project: str, row: Row, command: str, message: str) -> _Fix | None:
    """Return what ended an earlier failure, if that holds for a command."""
    from engram.evidence import command_lessons, fixes

    facts = plain_json.loads(row["facts"])
    if row["fix_kind"] == fixes.REPLACED:
        lesson = command_lessons.find_lesson(facts["command"], facts["passing"], command, row["signature"])
        if lesson is None or not _has_all(hub, project, lesson):
            return None
        if lesson.kind == command_lessons.OTHER and not _is_about(row, command):
            return None  # in the wrong directory every program fails alike
        key, line = (lesson.kind, lesson.target), _describe_lesson(lesson, row, facts["command"])
        passing = lesson.target if lesson.kind in (command_lessons.OTHER, command_lessons.MISSING) else ""
    elif _is_same_message(row["line"], message) and _is_about(row, command):
        key, line, passing = ("change", row["fix"]), _describe_change(facts, row["fix"]), ""
    else:
        return None
    return _Fix(key=key, line=line, at=row["at"], passing=passing)


def _has_all(hub: Hub, project: str, lesson: Lesson) -> bool:
    """Return whether a directory has what a command is about, if that is all that tells that it is the right one.

    It may have been seen there only by other checkouts or on another machine.
    """
    place = os.path.basename(lesson.target.rstrip("/\\"))
    return all(
        os.path.exists(os.path.join(lesson.target, name))
        or cases.knows_directory(hub.engine, project, f"{place}/{name}")
        for name in lesson.needs
    )


def _is_about(row: Row, command: str) -> bool:
    """Return whether a command runs the program that failed."""
    from engram.evidence import command_shape

    bare = _drop_options(row["culprit"])
    return any(_drop_options(shape) == bare for _, shape in command_shape.list_parts(command)) or (
        row["signature"].startswith("command not found: ")
    )


def _drop_options(shape: str) -> str:
    return " ".join(word for word in shape.split() if not word.startswith("-"))


def _is_same_message(message: str, other: str) -> bool:
    """Return whether two messages differ in nothing but numbers."""
    one, two = ("".join(c for c in text.to_one_line(item, 200) if not c.isdigit()) for item in (message, other))
    return one == two


def _describe_lesson(lesson: Lesson, row: Row, command: str) -> str:
    """Return a line about a command that was replaced, with a place for how often that worked.

    It shows the command of the earlier session: secrets were removed from it before it was stored.
    """
    from engram.evidence import command_lessons

    failed, target = _show(command), _show(lesson.target)
    if lesson.kind == command_lessons.ELSEWHERE:
        return f"`{failed}` failed like this before; it worked after `cd {target}` ({{times}})."
    if lesson.kind == command_lessons.STAYED:
        return f"`{failed}` failed like this before; it worked without `cd {target}` ({{times}})."
    if lesson.kind == command_lessons.MISSING:
        missing = f"`{row['program']}` was not found here before"
        return f"{missing}; `{target}` worked instead of `{failed}` ({{times}})."
    return f"`{failed}` failed like this before; `{target}` worked ({{times}})."


def _describe_change(facts: Row, fix: str) -> str:
    cause = f"the cause was: {_show(facts['cause'], _CHANGE)} " if facts["cause"] else ""
    return f"this failed before ({{times}}); {cause}it passed after: {_show(fix, _CHANGE)}."


def _show(content: str, length: int = _SHOWN) -> str:
    """Return a text of a session on one line in which no brace is ours."""
    return text.escape_inline(content, length).replace("{", "{{").replace("}", "}}")


def _choose_agreed(found: list[_Fix]) -> list[_Fix]:
    """Return the fixes that agree: those that recur, else the newest change; none if commands disagree."""
    groups: dict[tuple[str, str], list[_Fix]] = {}
    for fix in sorted(found, key=lambda fix: -fix.at):
        groups.setdefault(fix.key, []).append(fix)
    ranked = sorted(groups.values(), key=lambda group: (-_count_sessions(group), -group[0].at))
    if not ranked:
        return []
    is_tied = len(ranked) > 1 and _count_sessions(ranked[0]) == _count_sessions(ranked[1])
    return [] if is_tied and any(group[0].key[0] != "change" for group in ranked) else ranked[0]


def _count_sessions(group: Iterable[_Fix]) -> int:
    return len({(fix.at, fix.passing) for fix in group})  # a fork repeats what happened at one time


def _format_times(hub: Hub, project: str, agreed: list[_Fix]) -> str:
    """Return how often something worked and when last."""
    times, last = _count_sessions(agreed), max(fix.at for fix in agreed)
    if agreed[0].passing:
        ran, ran_last = _count_passed(hub, project, agreed[0].passing)
        times, last = max(times, ran), max(last, ran_last)
    return f"{text.format_count(times, 'time')}, last {_format_day(last)}"


def _count_passed(hub: Hub, project: str, command: str) -> tuple[int, int]:
    """Return how often a command worked in a project and when last, if its shape says all of it."""
    from engram.evidence import command_shape, same_work

    parts = command_shape.list_parts(command)
    if len(parts) != 1 or parts[0][1] != same_work.strip_command(command):
        return 0, 0
    rows = command_runs.count_by_shape(hub.engine, project, [parts[0][1]])
    return (int(rows[0]["runs"] - rows[0]["failed"]), rows[0]["passed_at"]) if rows else (0, 0)


def _format_day(at: int) -> str:
    day = to_datetime(at)
    return f"{_MONTHS[day.month - 1]} {day.day}"


# ---- Before it runs


def choose_for_command(
    hub: Hub, session: Row, programs: Sequence[str], command: str, exclude: frozenset[int] = frozenset(), *,
    only_refused: bool = False,
) -> Push:  # fmt: skip
    """Return that a person refused a command, or that it is known to fail here and what works instead.

    `programs` are words of the command for which something is known; `exclude` names captures.
    """
    warning = _warn_of_refusal(hub, session, programs, command, exclude)
    if warning is None and not only_refused:
        warning = _warn_of_failure(hub, session, programs, command, exclude)
    return warning or EMPTY


def _warn_of_refusal(
    hub: Hub, session: Row, programs: Sequence[str], command: str, exclude: frozenset[int]
) -> Push | None:  # fmt: skip
    from engram.evidence import command_shape
    from engram.evidence.content_words import measure_overlap

    rows = [
        row for program in programs for row in command_runs.list_refused(hub.engine, session["project"], program, _READ)
    ]
    if not rows:
        return None
    shapes = {shape for _, shape in command_shape.list_parts(command)}
    own = _list_own_captures(hub, session, exclude)
    for row in rows:
        source = f"refused:{hash_text(row['command'])}"
        is_same = row["shape"] in shapes and measure_overlap(row["command"], command) >= _ABOUT
        is_news = is_same and row["capture"] not in own and _is_wanted(hub, session, source, row["at"])
        if is_news and not _ran_since(hub, session, row):
            line = (
                f"{_HEAD} a person refused `{text.escape_inline(row['command'], _SHOWN)}` here on "
                f"{_format_day(row['at'])}: “{text.escape_inline(row['reason'], _CHANGE)}”"
            )
            return Push(text=line, reason="a person refused it", sources=(source,))
    return None


def _ran_since(hub: Hub, session: Row, row: Row) -> bool:
    """Return whether a refused command was let through later."""
    counted = command_runs.count_by_shape(hub.engine, session["project"], [row["shape"]])
    return any(count["passed_at"] > row["at"] for count in counted)


def _warn_of_failure(
    hub: Hub, session: Row, programs: Sequence[str], command: str, exclude: frozenset[int]
) -> Push | None:  # fmt: skip
    for program in programs:
        rows = [
            row
            for row in session_errors.list_replaced(hub.engine, session["project"], program, _READ)
            if _is_about(row, command) and not _is_finding(row["line"])
        ]
        if not rows:
            continue
        own = _list_own_captures(hub, session, exclude)
        rows = [row for row in rows if row["capture"] not in own]
        fixes = [
            fix for row in rows if (fix := _read_fix(hub, session["project"], row, command, row["line"])) is not None
        ]
        agreed = [fix for fix in _choose_agreed(fixes) if fix.passing]
        source = f"command:{hash_text(' '.join(agreed[0].key))}" if agreed else ""
        if not agreed or not _is_wanted(hub, session, source, agreed[0].at):
            continue
        counts = _count_failed(hub, session["project"], rows, command)
        if counts is not None:
            line = _describe_warning(rows[0], agreed[0], counts)
            return Push(text=line, reason=f"`{rows[0]['culprit']}` failed most times", sources=(source,))
    return None


def _is_finding(message: str) -> bool:
    """Return whether a message is what a check found in the code, so that the command itself was right."""
    from engram.evidence import error_lines

    return error_lines.is_test_failure(message) or error_lines.names_place(message)


def _describe_warning(row: Row, fix: _Fix, counts: tuple[int, int]) -> str:
    command = text.escape_inline(plain_json.loads(row["facts"])["command"], _SHOWN)
    return (
        f"{_HEAD} `{command}` failed here {counts[0]} of {counts[1]} times ({text.escape_inline(row['line'], _WHY)}); "
        f"`{text.escape_inline(fix.passing, _SHOWN)}` worked, last {_format_day(fix.at)}."
    )


def _count_failed(hub: Hub, project: str, rows: list[Row], command: str) -> tuple[int, int] | None:
    """Return how often a command failed and ran; None if it mostly worked or has worked since."""
    from engram.evidence import command_shape

    culprits = {row["culprit"] for row in rows}
    bare = {_drop_options(culprit) for culprit in culprits}
    shapes = {shape for _, shape in command_shape.list_parts(command) if _drop_options(shape) in bare}
    counted = command_runs.count_by_shape(hub.engine, project, sorted(culprits | shapes))
    failed, runs = (sum(int(count[name]) for count in counted) for name in ("failed", "runs"))
    if failed < _LEAST_FAILED or failed * 2 <= runs:
        return None
    works_again = max(count["passed_at"] for count in counted) > max(count["failed_at"] for count in counted)
    return None if works_again else (failed, runs)
