"""Captured things as text for people."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from engram import text
from engram.clock import moment
from engram.digests.days import Day
from engram.digests.transcript import Outline
from engram.model import Capture, Check, Cost, Digest, Event, Ingested, Retention
from engram.surfaces.cli.render import LISTS, ago, facts, render
from engram.surfaces.cli.table import table

if TYPE_CHECKING:
    from engram.capture.discover import Unread

_OUTCOME = {"success": "green", "partial": "yellow", "failure": "red", "abandoned": "magenta", "unclear": None}
_NAMED = 10  # files that could not be read
_SHOWN = 1500  # characters of an event


@render.register
def _(found: Ingested) -> str:
    counts = " · ".join(
        f"{name} {getattr(found, name):,}" for name in ("discovered", "ingested", "skipped_unchanged", "analyzed")
    )
    lines = [f"{'Would take in: ' if found.dry_run else ''}{counts}"]
    lines.append(f"{text.size(found.bytes)} read: {found.events:,} events of {found.sessions:,} sessions")
    told = {"vanished": "sources gone, what they said is kept",
            "damaged": "bytes could not be read and were skipped"}  # fmt: skip
    lines += [f"{getattr(found, name):,} {words}" for name, words in told.items() if getattr(found, name)]
    if found.redacted:
        lines.append(f"{sum(found.redacted.values()):,} secrets removed: {', '.join(sorted(found.redacted))}")
    lines += [click.style(f"✗ {path}: {why}", fg="red") for path, why in found.failures.items()]
    lines += unread_files([each for each in found.unread if each.path not in found.failures])
    if found.retention:
        lines.append(render(found.retention))
    return "\n".join(lines)


def unread_files(unread: Sequence[Unread]) -> list[str]:
    """Return the lines that name what could not be read, with reasons; of many, the first."""
    if not unread:
        return []
    lines = [click.style(f"{len(unread):,} {'file' if len(unread) == 1 else 'files'} could not be read:", fg="yellow")]
    lines += [f"  {_safe(each.path)} ({text.size(each.size)}): {_safe(each.reason)}" for each in unread[:_NAMED]]
    if len(unread) > _NAMED:
        lines.append(f"  … and {len(unread) - _NAMED:,} more; --json names them all.")
    return lines


@render.register
def _(kept: Retention) -> str:
    passes = ", ".join(f"{name} {count}" for name, count in kept.passes.items())
    lines = [
        f"retention: freed {text.size(kept.freed)}, final_usage {text.size(kept.final_usage)}, evicted by {passes}"
    ]
    if kept.data_loss:
        names = ", ".join(kept.data_loss)
        lines.append(click.style(f"✗ data_loss: dropped undigested over the hard cap: {names}", fg="red"))
    if kept.distilled_over:
        lines.append(
            click.style(f"⚠ digests take {text.size(kept.distilled)}, more than distilled_cap_bytes", fg="yellow")
        )
    return "\n".join(lines)


@render.register
def _(digest: Digest) -> str:
    sure = f"{digest.outcome} ({digest.confidence:.0%})"
    said = f", said {digest.corrected_by or 'a person'}; the rules say {digest.inferred}" if digest.inferred else ""
    shown = [("outcome", click.style(sure, fg=_OUTCOME[digest.outcome]) + said)]
    shown += [(name.replace("_", " "), _fact(each)) for name, each in digest.facts.items() if each]
    return facts(shown)


def _fact(thing: Any) -> str:
    """Return a fact on as many lines as it has parts."""
    if isinstance(thing, list):
        return "\n".join(f"{'' if n == 0 else '  '}{_fact(each)}" for n, each in enumerate(thing))
    if isinstance(thing, dict):
        return ", ".join(f"{name} {_fact(each)}" for name, each in thing.items() if each not in (None, "", []))
    return text.one_line(str(thing), 300)


@render.register
def _(event: Event) -> str:
    when = moment(event.at).astimezone().strftime("%H:%M:%S") if event.at else "        "
    verdict = f" {event.verdict}" if event.verdict and event.verdict != "ok" else ""
    code = f" exit {event.exit_code}" if event.exit_code else ""
    head = f"{when}  {event.kind} {event.role if event.kind == 'message' else ''}{event.name or ''}{verdict}{code}"
    body = event.text or (_fact(event.arguments) if event.arguments else "")
    if (event.data or {}).get("evicted"):
        body = "(dropped to keep the storage budget)"
    cut = body if len(body) <= _SHOWN else f"{body[:_SHOWN]}…"
    return f"{click.style(head.rstrip(), bold=True)}\n{_safe(cut)}".rstrip()


def _safe(body: str) -> str:
    """Return text whose escape sequences do not reach the terminal."""
    return "".join(c if c in "\n\t" or c.isprintable() else "·" for c in body)


@render.register
def _(result: Check) -> str:
    counts = (
        f"{result.sessions:,} sessions, {result.events:,} events, {result.digests:,} digests, {result.bodies:,} bodies"
    )
    lines = [click.style(f"✗ {problem}", fg="red") for problem in result.problems]
    lines += [f"Repaired: {what}" for what in result.mended]
    if result.leftovers and not result.mended:
        left = text.counted(result.leftovers, "body is", "bodies are")
        lines.append(f"{left} not referenced by any session. Move to quarantine with `engram check --repair`.")
    if result.quarantined:
        lines.append(f"{text.counted(result.quarantined, 'body is', 'bodies are')} in quarantine.")
    return "\n".join([*lines, counts if lines else f"{click.style('✓', fg='green')} All is well: {counts}."])


def _captures(found: Sequence[Capture]) -> str:
    rows = [
        (_outcome(c), c.session.id, c.session.flavor, os.path.basename(c.session.project),
         ago(c.last_at) if c.last_at else "", f"{c.events:,}", text.one_line(c.title or c.session.summary, 80))
        for c in found
    ]  # fmt: skip
    return table(("outcome", "session", "flavor", "project", "last", "events", "about"), rows)


def _outcome(capture: Capture) -> str:
    if capture.outcome is None:
        return ""
    return click.style(f"{capture.outcome} {capture.confidence or 0:.0%}", fg=_OUTCOME[capture.outcome])


def _costs(found: Sequence[Cost]) -> str:
    rows = [
        (f"{c.place} {c.part}".strip(), f"{c.input:,}", f"{c.output + c.reasoning:,}", f"{c.cache_read:,}",
         f"{c.cache_write + c.cache_write_long:,}", f"{'≥ ' if c.basis == 'floor' else ''}${c.money:,.2f}", c.basis)
        for c in found
    ]  # fmt: skip
    total = sum(c.money for c in found)
    lines = [table(("", "input", "output", "cache read", "cache write", "money", "basis"), rows)]
    unpriced = sorted({model for c in found for model in c.unpriced})
    if unpriced:
        lines.append(click.style(f"No price for {', '.join(unpriced)}; add it in prices.toml.", fg="yellow"))
    dated = next((c.prices_dated for c in found), "")
    return "\n".join([*lines, click.style(f"Together ${total:,.2f} by prices of {dated}.", dim=True)])


@render.register
def _(cost: Cost) -> str:
    return _costs([cost])


def _days(found: Sequence[Day]) -> str:
    rows = [(d.day, f"{d.sessions:,}", f"{d.prompts:,}", f"{d.answers:,}") for d in found]
    return table(("day", "sessions", "prompts", "answers"), rows)


@render.register
def _(day: Day) -> str:
    return _days([day])


def _events(found: Sequence[Event]) -> str:
    return "\n\n".join(map(render, found))


@render.register
def _(found: Outline) -> str:
    turns = [
        f"e{each.event:<9} {each.at.astimezone():%m-%d %H:%M}  {text.one_line(each.said, 90)}" for each in found.turns
    ]
    counts = ", ".join(f"{number:,} {kind}" for kind, number in sorted(found.kinds.items()))
    return "\n".join([*turns, f"{found.events:,} events ({counts}); {found.failed:,} came out as an error."])


LISTS.update({Capture: _captures, Cost: _costs, Day: _days, Event: _events})
