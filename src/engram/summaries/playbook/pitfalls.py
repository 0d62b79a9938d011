"""Find the errors that come again in a project and are ended in the same way."""

from __future__ import annotations

import re

from engram.evidence import error_lines, task_commands
from engram.platform import plain_json
from engram.platform.text import to_one_line
from engram.platform.value import value
from engram.store import session_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.hub import Hub
    from engram.store.engine import Row

_LEAST_SESSIONS = 2
_VAGUE = frozenset(("no such file or directory",))  # says nothing without its file
_COMMAND = 100  # characters
_CD = re.compile(r"^cd (?P<directory>[^\s;&|]+)\s*(?:&&|;)\s*")


@value
class Pitfall:
    """An error that comes again, and what ends it."""

    line: str
    cause: str
    failing: str  # the command that fails; "" if it does not matter
    fix: str
    at: int
    sessions: tuple[str, ...]


def list_pitfalls(hub: Hub, project: str, count: int) -> list[Pitfall]:
    """Return the errors of several sessions that were ended in a way that passed, most frequent first."""
    groups: dict[str, list[Row]] = {}
    for row in session_errors.list_by_project(hub.engine, project):
        if row["shape"] and row["signature"] not in _VAGUE and not error_lines.is_test_failure(row["line"]):
            groups.setdefault(row["signature"], []).append(row)
    found = [pitfall for rows in groups.values() if (pitfall := _build_pitfall(rows, project)) is not None]
    return sorted(found, key=lambda pitfall: (-len(pitfall.sessions), -pitfall.at))[:count]


def _build_pitfall(rows: Sequence[Row], project: str) -> Pitfall | None:
    sessions = tuple(dict.fromkeys(row["session_id"] for row in sorted(rows, key=lambda row: -row["at"])))
    fixed = [row for row in rows if row["fix"] and row["verified"]]
    if len(sessions) < _LEAST_SESSIONS or not fixed:
        return None
    newest = max(fixed, key=lambda row: row["at"])
    facts = plain_json.loads(newest["facts"])
    is_command = newest["fix_kind"] == "command replaced" and facts["passing"]
    fix = to_one_line(newest["fix"], 200)
    if is_command and not all(map(task_commands.is_repeatable, (facts["command"], facts["passing"]))):
        return None
    if is_command:
        fix = _find_directory(facts["command"], facts["passing"], project) or f"run `{_shorten(facts['passing'])}`"
    if newest["fix_kind"] == "files changed" and len({row["session_id"] for row in fixed}) < _LEAST_SESSIONS:
        return None  # a mistake in one change
    return Pitfall(
        line=to_one_line(newest["line"], 160), cause=to_one_line(facts["cause"], 160),
        failing=_shorten(facts["command"]) if is_command else "", fix=fix, at=newest["at"], sessions=sessions,
    )  # fmt: skip


def _shorten(command: str) -> str:
    """Return a command on one line of limited length."""
    return to_one_line(command, _COMMAND)


def _find_directory(failing: str, passing: str, project: str) -> str | None:
    """Return where to run a command, if being elsewhere is all that differs from the one that failed."""
    moved = _CD.match(passing)
    if not moved or _CD.match(failing) or passing[moved.end() :].split()[:2] != failing.split()[:2]:
        return None
    directory = task_commands.locate(moved["directory"], project)
    if directory is None:
        return None
    return f"run it in `{directory}/`" if directory else "run it in the root of the repository"
