"""What detect found, as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from engram.patterns.candidate import Candidate, Detected, Evidence
from engram.patterns.import_session_memory import ForgeTaken
from engram.surfaces.cli.render import render
from engram.text import duration

if TYPE_CHECKING:
    from collections.abc import Iterator

CROSS = "[CROSS-FLAVOR]"


@render.register
def _(found: Detected) -> str:
    return detected(found)


@render.register
def _(taken: ForgeTaken) -> str:
    did = "Would take over" if taken.dry_run else "Took over"
    counts = (
        f"{taken.sessions:,} sessions, {taken.digests:,} digests, {taken.events:,} events with {taken.bodies:,} bodies,"
        f" {taken.patterns:,} patterns as candidates"
    )
    lines = [f"{did} {counts} from {taken.source}; {taken.already_here:,} were here already."]
    lines += [f"  {count} {what}" for what, count in taken.mended.items()]
    if secrets := sum((taken.redacted or {}).values()):
        lines.append(f"  Redacted {secrets:,} secrets.")
    lines += [click.style(f"  left out: {why}", fg="yellow") for why in taken.failed]
    return "\n".join([*lines, *(click.style(f"  left behind: {what}", dim=True) for what in taken.left)])


def detected(found: Detected) -> str:
    """Return candidates, the best first, each with its evidence."""
    lines = [_overview(found)]
    for number, each in enumerate(found.candidates, 1):
        lines += ["", *_candidate(number, each)]
    if found.candidates:
        more = f"{found.more} more: --limit shows them. " if found.more else ""
        lines += ["", click.style(f"{more}Decide about them: `engram patterns review`.", dim=True)]
    for session, why in (found.failed or {}).items():
        lines.append(click.style(f"{session} could not be looked through: {why}", fg="red"))
    return "\n".join(lines)


def _overview(found: Detected) -> str:
    looked = f"Looked through {found.sessions} {'session' if found.sessions == 1 else 'sessions'}"
    still = f", {found.open} of them still going on" if found.open else ""
    count = len(found.candidates) + found.more
    kept = f"{count} {'candidate' if count == 1 else 'candidates'}" if count else "no candidates yet"
    return f"{looked}: {found.signals} signals{still}; {kept}."


def _candidate(number: int, each: Candidate) -> Iterator[str]:
    mark = f"{click.style(CROSS, fg='yellow', bold=True)} " if each.cross_flavor else ""
    yield f"{number}. {mark}{click.style(each.title, bold=True)}"
    yield click.style(f"   {each.id} · {each.kind} · {_figures(each)}", dim=True)
    yield f"   Rule: {each.rule}"
    yield from (_piece(piece) for piece in each.evidence)
    if each.also:
        yield click.style(f"   The same events: {', '.join(each.also)}", dim=True)


def _figures(each: Candidate) -> str:
    spent = [f"{each.tokens:,} tokens"] if each.tokens else []
    spent += [duration(each.seconds * 1_000_000)] if each.seconds else []
    sessions = f"{each.sessions} {'session' if each.sessions == 1 else 'sessions'}, {each.times}×"
    return " · ".join(
        [sessions, ", ".join(each.flavors), *spent, f"sure {each.confidence:.2f}", f"score {each.score:.2f}"]
    )


def _piece(piece: Evidence) -> str:
    event = f" {piece.event}" if piece.event else ""
    times = f" ({piece.times}×)" if piece.times > 1 else ""
    return f"   – {piece.at:%Y-%m-%d} {piece.flavor} {piece.session_id}{event}{times}: {piece.quote}"
