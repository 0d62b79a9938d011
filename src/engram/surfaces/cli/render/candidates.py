"""Candidates for rules, as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engram.importers.session_memory_report import SessionMemoryImportReport
from engram.patterns.candidate import Candidate, CandidateEvidence, DetectResult
from engram.platform.text import format_count, format_duration
from engram.surfaces.cli.render import render
from engram.surfaces.cli.render.layout import wrap_text
from engram.surfaces.cli.terminal import style

if TYPE_CHECKING:
    from collections.abc import Iterator

_CROSS_FLAVOR_MARK = "[CROSS-FLAVOR]"  # the mark that session_memory uses


@render.register
def _(found: DetectResult) -> str:
    return render_candidates(found)


@render.register
def _(report: SessionMemoryImportReport) -> str:
    did = "Would import" if report.dry_run else "Imported"
    events = f"{format_count(report.events, 'event')} with {format_count(report.bodies, 'body', 'bodies')}"
    patterns = format_count(report.patterns, "pattern as a candidate", "patterns as candidates")
    counts = (
        f"{format_count(report.sessions, 'session')}, {format_count(report.digests, 'digest')}, {events}, {patterns}"
    )
    already_here = format_count(report.already_here, "row was", "rows were")
    lines = [f"{did} {counts} from {report.source}; {already_here} already here."]
    lines += [f"  {count} {what}" for what, count in report.mended.items()]
    if secrets := sum((report.redacted or {}).values()):
        lines.append(f"  Redacted {format_count(secrets, 'secret')}.")
    lines += [style(f"  left out: {why}", fg="yellow") for why in report.failed]
    return "\n".join([*lines, *(style(f"  left behind: {what}", dim=True) for what in report.left)])


def render_candidates(result: DetectResult) -> str:
    """Return candidates with their evidence, the best first."""
    lines = [_format_overview(result)]
    for number, candidate in enumerate(result.candidates, 1):
        lines += ["", *_format_candidate(number, candidate)]
    if result.candidates:
        more = f"{result.more} more; -n shows them. " if result.more else ""
        lines += ["", style(f"{more}Review them with `engram patterns review`.", dim=True)]
    for session, why in (result.failed or {}).items():
        lines.append(style(f"{session} could not be scanned: {why}", fg="red"))
    return "\n".join(lines)


def _format_overview(result: DetectResult) -> str:
    looked = f"Scanned {format_count(result.sessions, 'session')}"
    still = f", {result.open} still running" if result.open else ""
    count = len(result.candidates) + result.more
    candidate_note = f"{count} {'candidate' if count == 1 else 'candidates'}" if count else "no candidates yet"
    return f"{looked}: {result.signals} signals{still}; {candidate_note}."


def _format_candidate(number: int, candidate: Candidate) -> Iterator[str]:
    mark = f"{style(_CROSS_FLAVOR_MARK, fg='yellow', bold=True)} " if candidate.cross_flavor else ""
    yield f"{number}. {mark}{style(candidate.title, bold=True)}"
    yield style(wrap_text(f"{candidate.id} · {candidate.kind} · {_format_figures(candidate)}", "   "), dim=True)
    yield wrap_text(f"Rule: {candidate.rule}", "   ", "         ")
    yield from (_format_evidence(piece) for piece in candidate.evidence)
    if candidate.also:
        yield style(f"   Same events: {', '.join(candidate.also)}", dim=True)


def _format_figures(candidate: Candidate) -> str:
    spent = [f"{candidate.tokens:,} tokens"] if candidate.tokens else []
    spent += [format_duration(candidate.seconds * 1_000_000)] if candidate.seconds else []
    sessions = f"{candidate.sessions} {'session' if candidate.sessions == 1 else 'sessions'}, {candidate.times}×"
    return " · ".join(
        [
            sessions,
            ", ".join(candidate.flavors),
            *spent,
            f"{candidate.confidence:.0%} sure",
            f"score {candidate.score:.2f}",
        ]
    )


def _format_evidence(evidence: CandidateEvidence) -> str:
    event = f" {evidence.event}" if evidence.event else ""
    times = f" ({evidence.times}×)" if evidence.times > 1 else ""
    source = f"{evidence.at:%Y-%m-%d} {evidence.flavor} {evidence.session_id}{event}{times}"
    return wrap_text(f"– {source}: {evidence.quote}", "   ", "     ")
