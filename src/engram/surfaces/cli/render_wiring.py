"""Wiring and its findings as text for people."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

import click

from engram import text
from engram.model import Capture, Ingested
from engram.surfaces.cli.render import LISTS, ago, render
from engram.wiring.agents import agent_of
from engram.wiring.finding import Finding
from engram.wiring.init import Rewritten, Wired

_LEVEL = {"ok": ("✓", "green"), "warning": ("⚠", "yellow"), "problem": ("✗", "red")}
_DIFF = {"+": "green", "-": "red", "@": "cyan"}
_BEGINNING = 12  # lines of a file that is a program, not settings
_PROJECTS = 8  # of the last work that are shown


@render.register
def _(wired: Wired) -> str:
    parts = [_who(wired), *map(render, wired.files)]
    parts += [click.style(f"✗ {problem}", fg="red") for problem in wired.problems]
    parts += [click.style(f"⚠ {note}", fg="yellow") for note in wired.notes]
    return "\n\n".join(part for part in parts if part)


def _who(wired: Wired) -> str:
    if not wired.program:
        return ""
    here = ", ".join(agent_of(flavor).title for flavor in wired.agents) or "none"
    lines = [f"Agents found: {here}."]
    if wired.absent and wired.program:
        missing = ", ".join(agent_of(flavor).title for flavor in wired.absent)
        lines.append(click.style(f"Not found: {missing}.", dim=True))
    return "\n".join(lines)


@render.register
def _(file: Rewritten) -> str:
    head = click.style(f"{agent_of(file.flavor).title}: {file.why}", bold=True)
    lines = file.diff.splitlines()
    more = len(lines) - _BEGINNING if file.why == "plugin" else 0
    shown = [*map(_coloured, lines[: len(lines) - max(more, 0)])]
    if more > 0:
        shown.append(click.style(f"… {more} more lines; --json shows them all.", dim=True))
    return "\n".join([head, *shown])


def _coloured(line: str) -> str:
    plain = line.startswith(("+++", "---"))
    return click.style(line, bold=True) if plain else click.style(line, fg=_DIFF.get(line[:1]))


def _findings(found: Sequence[Finding]) -> str:
    lines = []
    for each in found:
        sign, colour = _LEVEL[each.level]
        lines.append(f"{click.style(sign, fg=colour)} {each.subject}: {each.text}")
        if each.mend:
            lines.append(f"    {click.style('→', dim=True)} {click.style(each.mend, fg='cyan')}")
    return "\n".join(lines)


def taken_in(found: Ingested) -> str:
    """Return in a line or two what came of reading the history."""
    lines = [f"{found.events:,} events of {found.sessions:,} sessions taken in." if found.events else "Nothing is new."]
    if found.redacted:
        lines.append(f"{sum(found.redacted.values()):,} secrets were left out: {', '.join(sorted(found.redacted))}.")
    lines += [click.style(f"✗ {path}: {why}", fg="red") for path, why in found.failures.items()]
    return "\n".join(lines)


def past_work(found: Sequence[Capture], most: int) -> str:
    """Return what a user's own sessions say: how many of whom, and the last work on each project."""
    counts = Counter(each.session.flavor for each in found)
    told = ", ".join(f"{count:,} of {flavor}" for flavor, count in counts.most_common())
    more = " (the newest)" if len(found) == most else ""
    last: dict[str, Capture] = {}
    for each in found:
        last.setdefault(each.session.project, each)
    lines = [f"Remembered sessions: {told}{more}. Your last work:"]
    width = max(len(os.path.basename(project)) for project in list(last)[:_PROJECTS])
    for project, each in list(last.items())[:_PROJECTS]:
        when = ago(each.last_at) if each.last_at else ""
        about = text.one_line(each.title or each.session.summary, 80)
        outcome = f" [{each.outcome}]" if each.outcome and each.outcome != "unclear" else ""
        lines.append(f"  {os.path.basename(project).ljust(width)}  {when:>10}  {each.session.flavor}: {about}{outcome}")
    if len(last) > _PROJECTS:
        lines.append(click.style(f"  … and {len(last) - _PROJECTS} more projects.", dim=True))
    return "\n".join(lines)


LISTS[Finding] = _findings
