"""Choose the commands by which a project is set up, built, tested, linted, run and released."""

from __future__ import annotations

from engram.evidence.task_commands import LINT, PURPOSES, RELEASE, RUN, TEST
from engram.platform.value import value
from engram.store import task_runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.hub import Hub
    from engram.store.engine import Row

_SHOWN = {LINT: 4}  # commands of a purpose; others have two
_MOST = 2
_LEAST_RUNS = 2  # of a command that never passed for certain
_DIRECTORY_SHARE = 0.3  # of the runs that name no directory; an agent's shell often is there already
_STALE_FAILURES = 3  # failures since the last pass after which a command does not work any more
_RARE = 0.2  # share of the runs of the most frequent command that another one must have


@value
class ProjectCommand:
    """A command that serves a purpose in a project, and how it went."""

    purpose: str  # setup, build, test, lint, run, release
    command: str
    directory: str  # relative to the project; "" for its root
    is_whole: bool  # not limited to some files or tests
    passed: int
    failed: int
    runs: int
    passed_at: int  # microseconds; 0 if never
    failed_at: int
    sessions: tuple[str, ...]  # newest first


def list_project_commands(hub: Hub, project: str, purpose: str = "") -> list[ProjectCommand]:
    """Return the commands that work best for each purpose, or for one."""
    rows = task_runs.list_by_project(hub.engine, project)
    chosen = [item for name in PURPOSES for item in _choose([row for row in rows if row["purpose"] == name], name)]
    return [command for command in _agree_on_directory(chosen, rows) if purpose in ("", command.purpose)]


def rank_commands(hub: Hub, project: str, purpose: str) -> list[ProjectCommand]:
    """Return every command that works for a purpose, on all of the project or on a part, best first."""
    rows = [row for row in task_runs.list_by_project(hub.engine, project) if row["purpose"] == purpose]
    return sorted(filter(_works, map(_sum_up, _group(rows))), key=_rank, reverse=True)


def _agree_on_directory(commands: list[ProjectCommand], rows: Sequence[Row]) -> list[ProjectCommand]:
    """Fill in the directory where it is not sure, if the other commands agree on one and this one ran there too."""
    named = {command.directory for command in commands if command.directory and len(command.sessions) > 1}
    if len(named) != 1:
        return commands
    (shared,) = named

    def runs_there(command: ProjectCommand) -> bool:
        key = _get_key(command.command)
        used = {row["directory"] for row in rows if row["directory"] and _get_key(row["command"]) == key}
        return used == {shared}

    return [
        ProjectCommand(**{**vars(command), "directory": shared})
        if not command.directory and runs_there(command)
        else command
        for command in commands
    ]


def _choose(rows: Sequence[Row], purpose: str) -> list[ProjectCommand]:
    """Return the best commands for the whole project; without one, the most frequent command for a part of it."""
    commands = [_sum_up(group) for group in _group(rows)]
    working = [command for command in commands if _works(command)]
    whole = sorted((command for command in working if command.is_whole), key=_rank, reverse=True)
    chosen = _drop_rare(_keep_distinct(whole), purpose)[: _SHOWN.get(purpose, _MOST)]
    if purpose == TEST or not chosen:
        parts = sorted((command for command in working if not command.is_whole), key=_rank, reverse=True)
        chosen += [part for part in parts if len(part.sessions) > 1 or not chosen][:1]
    return chosen


def _group(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows of each command, whatever its options."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(_get_key(row["command"]), []).append(row)
    return list(groups.values())


def _get_key(command: str) -> tuple[str, ...]:
    return tuple(word for word in command.split() if not word.startswith("-"))


def _sum_up(rows: Sequence[Row]) -> ProjectCommand:
    """Return a command with the counts of all its runs, as it was typed most often."""
    spellings: dict[str, int] = {}
    for row in rows:
        spellings[row["command"]] = spellings.get(row["command"], 0) + _count(row)
    newest = sorted(rows, key=lambda row: -max(row["passed_at"], row["failed_at"]))
    return ProjectCommand(
        purpose=rows[0]["purpose"], command=max(spellings, key=lambda command: (spellings[command], -len(command))),
        directory=_find_directory(rows), is_whole=bool(rows[0]["is_whole"]),
        passed=sum(row["passed"] for row in rows), failed=sum(row["failed"] for row in rows),
        runs=sum(map(_count, rows)), passed_at=max(row["passed_at"] for row in rows),
        failed_at=max(row["failed_at"] for row in rows),
        sessions=tuple(dict.fromkeys(row["session_id"] for row in newest)),
    )  # fmt: skip


def _count(row: Row) -> int:
    return int(row["passed"] + row["failed"] + row["unknown"])


def _find_directory(rows: Sequence[Row]) -> str:
    """Return the directory in which a command runs: the one that most lines name, if enough do."""
    runs: dict[str, int] = {}
    for row in rows:
        runs[row["directory"]] = runs.get(row["directory"], 0) + _count(row)
    unnamed = runs.pop("", 0)
    best = max(runs, key=lambda name: runs[name], default="")
    return best if best and runs[best] >= _DIRECTORY_SHARE * unnamed and 2 * runs[best] > sum(runs.values()) else ""


def _works(command: ProjectCommand) -> bool:
    """Return whether a command is known to do what it is for."""
    if command.purpose in (RUN, RELEASE) and command.passed < _LEAST_RUNS:
        return False  # what ran once may have been an experiment
    if command.passed_at and (command.passed_at >= command.failed_at or command.failed < _STALE_FAILURES):
        return True
    return (bool(command.passed) and command.passed > command.failed) or (
        not command.failed and command.runs >= _LEAST_RUNS and len(command.sessions) > 1
    )


def _rank(command: ProjectCommand) -> tuple[float, int]:
    """Return how sure it is that this is the command to use: many sessions, passed often, lately."""
    return len(command.sessions) * (1 + min(command.passed, 10)), command.passed_at


def _keep_distinct(commands: list[ProjectCommand]) -> list[ProjectCommand]:
    """Drop a command that only adds or leaves out something of a better one."""
    kept: list[ProjectCommand] = []
    for command in commands:
        words = {word for word in _get_key(command.command) if "=" not in word}
        others = [{word for word in _get_key(other.command) if "=" not in word} for other in kept]
        if not any(words <= other or other <= words for other in others):
            kept.append(command)
    return kept


def _drop_rare(commands: list[ProjectCommand], purpose: str) -> list[ProjectCommand]:
    """Drop commands that ran seldom beside the first one: they were tried, not used."""
    if not commands:
        return []
    least = _RARE * commands[0].runs if purpose != LINT else 2
    return [command for command in commands if command.runs >= least]
