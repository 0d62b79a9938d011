"""Answer "how do I run the tests": the command that works best, how often and when it last passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engram.clock import to_datetime
from engram.index.tokenizer import extract_terms
from engram.platform.text import format_count
from engram.store import task_runs
from engram.summaries.playbook.project_commands import ProjectCommand, list_project_commands, rank_commands
from engram.types import Hit

if TYPE_CHECKING:
    from datetime import tzinfo

    from engram.hub import Hub
    from engram.search.filter import Filter

_OTHERS = 3  # other commands that are named


def find_commands(
    hub: Hub, purpose: str, part: frozenset[str], filters: Filter, zone: tzinfo | None
) -> list[Hit]:  # fmt: skip
    """Return one hit for each project: the command that serves a purpose, on a part of the project if one is named."""
    projects = [filters.project] if filters.project else task_runs.list_projects(hub.engine, purpose)
    found = [(project, _choose(hub, project, purpose, part)) for project in projects]
    hits = [_build_hit(project, commands, zone) for project, commands in found if commands]
    return sorted(hits, key=lambda hit: -hit.why["sessions"])


def _choose(hub: Hub, project: str, purpose: str, part: frozenset[str]) -> list[ProjectCommand]:
    """Return the commands of a project for a purpose, best first; those that name a part come before the others."""
    usual = list_project_commands(hub, project, purpose)
    named = [command for command in rank_commands(hub, project, purpose) if part & set(extract_terms(command.command))]
    return [*named[:1], *(command for command in usual if command not in named[:1])]


def _build_hit(project: str, commands: list[ProjectCommand], zone: tzinfo | None) -> Hit:
    best, *others = commands
    lines = [_describe(best, zone), *(f"Also: {_describe(command, zone)}" for command in others[:_OTHERS])]
    return Hit(
        id="", tier="command", session_id=best.sessions[0], role="", at=to_datetime(best.passed_at or best.failed_at),
        snippet="\n".join(lines), score=1.0, why={"sessions": float(len(best.sessions))}, project=project,
        origin="tool", name=best.command, read_on=f"engram show {best.sessions[0]}",
    )  # fmt: skip


def _describe(command: ProjectCommand, zone: tzinfo | None) -> str:
    """Return a command with where it runs, how often it passed and when last."""
    where = f"in {command.directory}/; " if command.directory else ""
    day = to_datetime(command.passed_at).astimezone(zone).date().isoformat() if command.passed_at else ""
    passed = f"passed {format_count(command.passed, 'time')}, last {day}" if day else "result unknown"
    return f"{command.command} ({where}{passed}, in {format_count(len(command.sessions), 'session')})"
