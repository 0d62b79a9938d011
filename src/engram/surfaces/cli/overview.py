"""`engram` without a command: running agents, latest work, spend this week, what needs attention, what to do next."""

from __future__ import annotations

import math
from functools import partial

import click

from engram.hub import Hub
from engram.platform import text
from engram.sessions.project_names import name_projects
from engram.surfaces.cli.output import print_text
from engram.surfaces.cli.render.layout import (
    Column,
    format_cost,
    format_table,
    format_unpriced,
    format_when,
    wrap_text,
)
from engram.surfaces.cli.render.project_labels import get_label, use_labels
from engram.surfaces.cli.render.session_list import format_mark
from engram.surfaces.cli.terminal import style
from engram.types import Cost, SessionEntry

_MAX_PROJECTS = 6
_MAX_NEEDS = 4
_SCANNED_SESSIONS = 300  # the newest, among which the last of every project is looked for
_DAYS = 7
_WELCOME = """\
Engram is one memory for every coding agent. It has no sessions yet.

  engram init      connect your agents and read their history
  engram demo      see how it works on a made-up history
  engram --help    list the commands"""


def show_overview() -> None:
    """Print the screen."""
    from engram.capture.digests.session_list import count_sessions, list_all_sessions

    with Hub() as hub:
        use_labels(partial(name_projects, hub))
        entries = list_all_sessions(hub, limit=_SCANNED_SESSIONS)
        if not entries:
            click.echo(_WELCOME)
            return
        needs = _list_needs(hub)
        parts = [
            _format_totals(entries, count_sessions(hub), _list_costs(hub)),
            f"{style('Latest work', bold=True)}\n{_format_work(entries)}",
            *([f"{style('Needs attention', bold=True)}\n" + "\n".join(needs)] if needs else []),
            _format_next_commands(entries),
        ]
    print_text("\n\n".join(parts))


def _format_totals(entries: list[SessionEntry], total: int, costs: list[Cost]) -> str:
    running = sum(entry.running for entry in entries)
    agents = f"{text.format_count(running, 'agent')} running" if running else "no agents running"
    unpriced = sorted({model for day in costs for model in day.unpriced})
    spent = f"{format_cost(math.fsum(day.money for day in costs), unpriced)} spent in {_DAYS} days"
    note = f" {format_unpriced(unpriced)}" if unpriced else ""
    return wrap_text(f"{text.format_count(total, 'session')}, {agents}, {spent}.{note}")


def _list_costs(hub: Hub) -> list[Cost]:
    from engram.capture.digests.cost import cost

    return cost(hub, days=_DAYS)


def _format_work(entries: list[SessionEntry]) -> str:
    """Return the last session of every project, and every running one."""
    last_by_project: dict[str, SessionEntry] = {}
    for entry in entries:
        key = entry.session.id if entry.running else entry.session.project
        last_by_project.setdefault(key, entry)
    shown_entries = list(last_by_project.values())[:_MAX_PROJECTS]
    columns = (
        Column(""), Column("project", min_width=8), Column("last", drop=2), Column("agent", drop=1), Column("session"),
        Column("title"),
    )  # fmt: skip
    return format_table(columns, [_format_row(entry) for entry in shown_entries])


def _format_row(entry: SessionEntry) -> tuple[str, ...]:
    return (
        format_mark(entry),
        get_label(entry.session.project) or "(none)",
        "now" if entry.session.presence == "here" else format_when(entry.last_at),
        entry.session.flavor,
        entry.session.id[-8:],
        text.to_one_line(entry.title),
    )


def _list_needs(hub: Hub) -> list[str]:
    """Return one line for everything a person should look at, with the command for it."""
    from engram.install.doctor import doctor
    from engram.patterns.rules.catalog import list_patterns

    findings = [finding for finding in doctor(hub, quick=True) if finding.level != "ok"]
    findings.sort(key=lambda finding: finding.level != "problem")
    needs = [f"{finding.text} ({finding.mend})" if finding.mend else finding.text for finding in findings]
    candidates = len(list_patterns(hub, "candidate", limit=1000))
    if candidates:
        needs.append(f"{text.format_count(candidates, 'recurring problem')} to review (engram patterns review)")
    more = [f"{len(needs) - _MAX_NEEDS} more (engram doctor)"] if len(needs) > _MAX_NEEDS else []
    return [wrap_text(need, "  ", "    ") for need in [*needs[:_MAX_NEEDS], *more]]


def _format_next_commands(entries: list[SessionEntry]) -> str:
    example = entries[0].session.id[-8:]
    commands = (
        (f"engram show {example}", "what happened in a session"),
        ("engram recall WORDS", "search everything your agents did"),
        ("engram ui", "the dashboard; `engram --help` lists all commands"),
    )
    return format_table(("", ""), [(command, style(purpose, dim=True)) for command, purpose in commands])
