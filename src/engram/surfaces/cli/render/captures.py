"""Transcripts as text for people: what was ingested, events, costs, days, checks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engram.capture.digests.daily_activity import Day
from engram.capture.digests.rebuild_report import RebuiltDigests
from engram.capture.digests.transcript import Outline
from engram.capture.ingest_report import Ingested, Retention
from engram.clock import to_datetime
from engram.platform import text
from engram.surfaces.cli.render import LIST_RENDERERS, render
from engram.surfaces.cli.render.layout import (
    Column,
    format_cost,
    format_money,
    format_table,
    format_tokens,
    format_unpriced,
    format_when,
    number_column,
    wrap_text,
)
from engram.surfaces.cli.render.project_labels import get_label
from engram.surfaces.cli.render.session_list import OUTCOME_MARKS
from engram.surfaces.cli.terminal import style
from engram.types import Capture, Check, Cost, Event

if TYPE_CHECKING:
    from engram.capture.discover import UnreadFile

_BASIS_NOTES = {
    "floor": ("≥ ", "at least this much: some usage is missing from the transcripts"),
    "uncertain": ("~ ", "an estimate"),
}
_BASIS_MARKS = {basis: mark for basis, (mark, _) in _BASIS_NOTES.items()}
_MAX_FILES = 10  # files that could not be read
_MAX_CHARACTERS = 1500  # characters of an event


@render.register
def _(result: Ingested) -> str:
    lines = [_format_ingest_counts(result)]
    if result.vanished:
        lines.append(
            f"{text.format_count(result.vanished, 'transcript is', 'transcripts are')} gone; its sessions are kept."
        )
    if result.damaged:
        lines.append(f"Skipped {text.format_count(result.damaged, 'unreadable byte')}.")
    if result.redacted:
        lines.append(f"Redacted {text.format_count(sum(result.redacted.values()), 'secret')}.")
    if result.outdated:
        count = text.format_count(result.outdated, "older session keeps its", "older sessions keep their")
        lines.append(f"{count} digest by earlier rules for now; `engram digest --all` rebuilds them all.")
    lines += [style(f"✗ {path}: {why}", fg="red") for path, why in result.failures.items()]
    lines += _format_unrecognized(result.unrecognized)
    lines += format_unread_files([item for item in result.unread if item.path not in result.failures])
    if result.retention and (result.retention.freed or result.retention.data_loss or result.retention.distilled_over):
        lines.append(render(result.retention))
    return "\n".join(lines)


@render.register
def _(result: RebuiltDigests) -> str:
    rebuilt = text.format_count(result.rebuilt, "digest")
    left = f" {text.format_count(result.left, 'session')} cannot be read; run `engram check`." if result.left else ""
    return f"Rebuilt {rebuilt}.{left}" if result.rebuilt else f"All digests are up to date.{left}"


def _format_ingest_counts(result: Ingested) -> str:
    verb = "Would ingest" if result.dry_run else "Ingested"
    unchanged = f" {result.skipped_unchanged:,} of {result.discovered:,} transcripts are unchanged."
    if not result.ingested:
        return f"Nothing new.{unchanged if result.discovered else ' No transcripts were found.'}"
    amount = f"{text.format_size(result.bytes)} from {text.format_count(result.ingested, 'transcript')}"
    by_agent = ", ".join(f"{count:,} {name}" for name, count in (result.agents or {}).items())
    agents = f" By agent: {by_agent}." if result.agents and len(result.agents) > 1 else ""
    unchanged = unchanged if result.skipped_unchanged else ""
    return f"{verb} {format_ingested_counts(result)} ({amount}).{agents}{unchanged}"


def _format_unrecognized(paths: Sequence[str]) -> list[str]:
    """Return the lines that name the files of a directory that are no transcripts; of many, the first."""
    if not paths:
        return []
    count = text.format_count(len(paths), "file is not a transcript", "files are not transcripts")
    lines = [style(f"{count} of a supported agent:", fg="yellow")]
    lines += [f"  {_mask_unprintable(path)}" for path in paths[:_MAX_FILES]]
    if len(paths) > _MAX_FILES:
        lines.append(f"  … and {len(paths) - _MAX_FILES:,} more; --json names them all.")
    return lines


def format_ingested_counts(result: Ingested) -> str:
    """Return how many events of how many sessions were ingested."""
    return f"{text.format_count(result.events, 'event')} of {text.format_count(result.sessions, 'session')}"


def format_unread_files(unread: Sequence[UnreadFile]) -> list[str]:
    """Return the lines that name what could not be read, with reasons; of many, the first."""
    if not unread:
        return []
    lines = [style(f"{text.format_count(len(unread), 'file')} could not be read:", fg="yellow")]
    lines += [
        f"  {_mask_unprintable(file.path)} ({text.format_size(file.size)}): {_mask_unprintable(file.reason)}"
        for file in unread[:_MAX_FILES]
    ]
    if len(unread) > _MAX_FILES:
        lines.append(f"  … and {len(unread) - _MAX_FILES:,} more; --json names them all.")
    return lines


@render.register
def _(kept: Retention) -> str:
    freed, used = text.format_size(kept.freed), text.format_size(kept.final_usage)
    lines = [f"Dropped {freed} of old event bodies to stay within the storage budget; {used} are used."]
    if kept.data_loss:
        names = ", ".join(kept.data_loss)
        lines.append(style(f"✗ Dropped before a digest was made, because of hard_cap_bytes: {names}", fg="red"))
    if kept.distilled_over:
        size = text.format_size(kept.distilled)
        lines.append(style(f"⚠ Digests take {size}, more than distilled_cap_bytes.", fg="yellow"))
    return "\n".join(lines)


def _format_arguments(fact: Any) -> str:
    """Return the arguments of a call in one line."""
    if isinstance(fact, list):
        return ", ".join(map(_format_arguments, fact))
    if isinstance(fact, dict):
        return ", ".join(
            f"{name} {_format_arguments(part)}" for name, part in fact.items() if part not in (None, "", [])
        )
    return text.to_one_line(str(fact), 300)


@render.register
def _(event: Event) -> str:
    when = to_datetime(event.at).astimezone().strftime("%H:%M:%S") if event.at else "        "
    verdict = f" {event.verdict}" if event.verdict and event.verdict != "ok" else ""
    code = f" exit {event.exit_code}" if event.exit_code else ""
    head = f"{when}  {event.kind} {event.role if event.kind == 'message' else ''}{event.name or ''}{verdict}{code}"
    body = event.text or (_format_arguments(event.arguments) if event.arguments else "")
    if (event.data or {}).get("evicted"):
        body = "(dropped to keep the storage budget)"
    cut = body if len(body) <= _MAX_CHARACTERS else f"{body[:_MAX_CHARACTERS]}…"
    return f"{style(head.rstrip(), bold=True)}\n{_mask_unprintable(cut)}".rstrip()


def _mask_unprintable(body: str) -> str:
    """Return text whose escape sequences do not reach the terminal."""
    return "".join(c if c in "\n\t" or c.isprintable() else "·" for c in body)


@render.register
def _(result: Check) -> str:
    counts = ", ".join(
        text.format_count(number, *names)
        for number, *names in (
            (result.sessions, "session"), (result.events, "event"), (result.digests, "digest"),
            (result.bodies, "body", "bodies"),
        )
    )  # fmt: skip
    lines = [style(f"✗ {problem}", fg="red") for problem in result.problems]
    lines += [f"Repaired: {what}" for what in result.mended]
    if result.leftovers and not result.mended:
        left = text.format_count(result.leftovers, "body is", "bodies are")
        lines.append(f"{left} not referenced by any session. Move to quarantine with `engram check --repair`.")
    if result.quarantined:
        lines.append(f"{text.format_count(result.quarantined, 'body is', 'bodies are')} in quarantine.")
    return "\n".join([*lines, counts if lines else f"{style('✓', fg='green')} No problems: {counts}."])


def _render_captures(captures: Sequence[Capture]) -> str:
    columns = (
        Column("outcome", drop=3),
        Column("session"),
        Column("agent", drop=2),
        Column("project", min_width=8, drop=4),
        Column("last", drop=1),
        number_column("events", drop=5),
        "title",
    )
    rows = [
        (
            _format_outcome(capture),
            capture.session.id,
            capture.session.flavor,
            get_label(capture.session.project),
            format_when(capture.last_at),
            f"{capture.events:,}",
            text.to_one_line(capture.title or capture.session.summary),
        )
        for capture in captures
    ]
    return format_table(columns, rows)


def _format_outcome(capture: Capture) -> str:
    mark, colour = OUTCOME_MARKS.get(capture.outcome or "", ("", None))
    return style(f"{mark} {capture.outcome}", fg=colour) if mark else capture.outcome or ""


def _render_costs(costs: Sequence[Cost]) -> str:
    columns = (
        Column("", min_width=12),
        number_column("input", drop=2),
        number_column("output", drop=1),
        number_column("cache read", drop=4),
        number_column("cache write", drop=5),
        number_column("cost"),
    )
    rows = [
        (
            f"{cost.place} {cost.part}".strip(),
            format_tokens(cost.input),
            format_tokens(cost.output + cost.reasoning),
            format_tokens(cost.cache_read),
            format_tokens(cost.cache_write + cost.cache_write_long),
            _format_cost(cost),
        )
        for cost in costs
    ]
    mark = next(
        (_BASIS_MARKS[basis] for basis in ("uncertain", "floor") if any(cost.basis == basis for cost in costs)), ""
    )
    unpriced = sorted({model for cost in costs for model in cost.unpriced})
    spent = math.fsum(cost.money for cost in costs)
    total = format_cost(spent, unpriced) if unpriced else mark + format_money(spent)
    dated = next((cost.prices_dated for cost in costs), "")
    notes = [f"{mark.strip()} {meaning}" for basis, (mark, meaning) in _BASIS_NOTES.items()
             if any(cost.basis == basis for cost in costs)]  # fmt: skip
    summary = (
        f"Total {'unknown' if total == 'no price' else total}" + (f", at list prices of {dated}" if dated else "") + "."
    )
    lines = [format_table(columns, rows), wrap_text(summary)]
    lines += [style(wrap_text(f"{'; '.join(notes)}."), dim=True)] if notes else []
    if unpriced:
        lines.append(style(wrap_text(format_unpriced(unpriced)), fg="yellow"))
    return "\n".join(lines)


def _format_cost(cost: Cost) -> str:
    if cost.unpriced:
        return format_cost(cost.money, cost.unpriced)
    return f"{_BASIS_MARKS.get(cost.basis, '')}{format_money(cost.money)}"


@render.register
def _(cost: Cost) -> str:
    return _render_costs([cost])


def _render_days(days: Sequence[Day]) -> str:
    rows = [(day.day, f"{day.sessions:,}", f"{day.prompts:,}", f"{day.answers:,}") for day in days]
    return format_table(("day", number_column("sessions"), number_column("prompts"), number_column("answers")), rows)


@render.register
def _(day: Day) -> str:
    return _render_days([day])


def _render_events(events: Sequence[Event]) -> str:
    return "\n\n".join(map(render, events))


@render.register
def _(result: Outline) -> str:
    turns = [
        f"e{item.event:<9} {item.at.astimezone():%m-%d %H:%M}  {text.to_one_line(item.said, 90)}"
        for item in result.turns
    ]
    counts = ", ".join(f"{number:,} {kind}" for kind, number in sorted(result.kinds.items()))
    events = text.format_count(result.events, "event")
    return "\n".join([*turns, f"{events} ({counts}); {result.failed:,} failed."])


LIST_RENDERERS.update({Capture: _render_captures, Cost: _render_costs, Day: _render_days, Event: _render_events})
