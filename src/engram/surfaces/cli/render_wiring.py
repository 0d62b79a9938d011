"""Wiring and its findings as text for people."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from textwrap import wrap

import click

from engram import text
from engram.model import Capture, Ingested
from engram.surfaces.cli.render import LISTS, ago, render
from engram.surfaces.cli.table import table, width
from engram.wiring.agents import agent_of
from engram.wiring.finding import Finding
from engram.wiring.init import Rewritten, Wired

_LEVEL = {"ok": ("✓", "green"), "warning": ("⚠", "yellow"), "problem": ("✗", "red")}
_DIFF = {"+": "green", "-": "red", "@": "cyan"}
_BEGINNING = 12  # lines of a file that is a program, not settings
_SEVERAL = 2  # files from which on a list of them stands below their changes


@render.register
def _(wired: Wired) -> str:
    return "\n\n".join(part for part in (who(wired), changes(wired)) if part)


def who(wired: Wired) -> str:
    """Return which agents are here and which are not; nothing where they are unwired."""
    if not wired.program:
        return ""
    here = ", ".join(agent_of(flavor).title for flavor in wired.agents) or "none"
    lines = [fitted(f"Agents found: {here}.")]
    if wired.absent:
        missing = ", ".join(agent_of(flavor).title for flavor in wired.absent)
        lines.append(click.style(fitted(f"Not found: {missing}."), dim=True))
    return "\n".join(lines)


def changes(wired: Wired) -> str:
    """Return what is written into which file, a list of them, and what to know about it."""
    parts = [*map(render, wired.files), _in_short(wired.files)]
    parts += [click.style(fitted(f"✗ {problem}", "  "), fg="red") for problem in wired.problems]
    parts += [click.style(fitted(f"⚠ {note}", "  "), fg="yellow") for note in wired.notes]
    return "\n\n".join(part for part in parts if part)


def _in_short(files: Sequence[Rewritten]) -> str:
    """Return the list of files, since their changes may be longer than a screen."""
    if len(files) < _SEVERAL:
        return ""
    rows = [(agent_of(file.flavor).title, tilde(file.path), file.why) for file in files]
    return table(("agent", "file", "for"), rows)


def tilde(path: str) -> str:
    """Return a path as people write it, from their home."""
    home = os.path.expanduser("~").rstrip(os.sep)
    return f"~{path[len(home) :]}" if home and path.startswith(home + os.sep) else path


def fitted(words: str, indent: str = "") -> str:
    """Return a sentence in lines that fit the terminal; piped, as it is."""
    if not sys.stdout.isatty():
        return words
    columns = shutil.get_terminal_size().columns
    return "\n".join(wrap(words, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))


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
    if found.unread:
        lines.append(f"{len(found.unread):,} files could not be read; `engram doctor` names them.")
    return "\n".join(lines)


def past_work(found: Sequence[Capture], last: Sequence[tuple[Capture, str]], most: int) -> str:
    """Return what a user's own sessions say: how many of whom, how they ended, and what was asked last."""
    lines = [fitted(_counted(found, most)), "", "Your last work:", *_rows(last)]
    more = len({each.session.project for each in found} - {each.session.project for each, _ in last})
    if more > 0:
        lines.append(click.style(f"  … and {more} more projects: `engram sessions --captured`.", dim=True))
    return "\n".join(lines)


def _counted(found: Sequence[Capture], most: int) -> str:
    """Return in two sentences how many sessions there are of whom, and how they ended."""
    told = ", ".join(f"{count:,} of {name}" for name, count in Counter(c.session.flavor for c in found).most_common())
    ends = Counter(each.outcome for each in found if each.outcome not in (None, "unclear")).most_common()
    first = min((each.began for each in found if each.began), default=None)
    since = f" since {first:%Y-%m-%d}" if first else ""
    newest = " (the newest)" if len(found) == most else ""
    ended = f" {', '.join(f'{count:,} {outcome}' for outcome, count in ends)}; the rest is unclear." if ends else ""
    return f"Remembered sessions{since}: {told}{newest}.{ended}"


def _rows(last: Sequence[tuple[Capture, str]]) -> list[str]:
    """Return a line for each piece of work; on a terminal what was asked gives way to the rest."""
    names = _names([each.session.project for each, _ in last])
    longest = max(map(len, names))
    heads = [
        f"  {name.ljust(longest)}  {ago(each.last_at) if each.last_at else '':>10}  {each.session.flavor}: "
        for name, (each, _) in zip(names, last, strict=True)
    ]
    ends = [f" [{each.outcome}]" if each.outcome and each.outcome != "unclear" else "" for each, _ in last]
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else 200
    return [
        head + text.one_line(asked, max(columns - width(head) - len(end), 20)) + end
        for head, end, (_, asked) in zip(heads, ends, last, strict=True)
    ]


def _names(projects: Sequence[str]) -> list[str]:
    """Return short names of projects; of two that end alike, with the folder they lie in."""
    ways = [[part for part in re.split(r"[\\/]+", project) if part] for project in projects]
    ends = Counter(way[-1] for way in {tuple(way) for way in ways} if way)
    return ["/".join(way[-2:] if ends[way[-1]] > 1 else way[-1:]) if way else "(none)" for way in ways]


LISTS[Finding] = _findings
