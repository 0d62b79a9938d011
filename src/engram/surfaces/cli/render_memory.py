"""Gists, eras and what is made of them, as text for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from engram import text
from engram.memory.document_history import DocumentVersion
from engram.memory.eras import Integrated
from engram.memory.gist import Backlog, Summarized
from engram.memory.import_lyra import TakenOver
from engram.memory.tier import Tier
from engram.model import Era, Gist
from engram.surfaces.cli.render import LISTS, ago, facts, render
from engram.surfaces.cli.table import table
from engram.surfaces.encode import plain
from engram.wiki.flush import Flushed


@render.register
def _(gist: Gist) -> str:
    news = f", {gist.unsummarized} newer exchanges" if gist.unsummarized else ""
    head = f"Gist of {gist.session_id}, version {gist.version}, {ago(gist.created_at)} by {gist.made_by}"
    cover = f"{gist.exchanges} exchanges, {_span(gist)}, trust {gist.trust}{news}"
    return f"{click.style(head, bold=True)}\n{click.style(cover, dim=True)}\n{gist.content}"


@render.register
def _(era: Era) -> str:
    sessions = f"{era.session_count} {'session' if era.session_count == 1 else 'sessions'}"
    head = f"{era.month}, {sessions}, version {era.version} by {era.made_by}"
    return f"{click.style(head, bold=True)}\n{era.content}"


@render.register
def _(tier: Tier) -> str:
    head = f"{tier.name}, version {tier.version}, {ago(tier.made_at)} by {tier.made_by}"
    return f"{click.style(head, bold=True)}\n{tier.content}"


@render.register
def _(backlog: Backlog) -> str:
    shown = (
        ("sessions", f"{backlog.sessions:,}"), ("with something new", f"{backlog.dirty:,}"),
        ("ripe for a gist", f"{backlog.ripe:,}"), ("exchanges no gist covers", f"{backlog.unsummarized_total:,}"),
        ("newest exchange", f"#{backlog.max_exchange_id}"),
    )  # fmt: skip
    return facts(shown)


@render.register
def _(summarized: Summarized) -> str:
    made = len(summarized.made)
    lines = [f"Made {made} {'gist' if made == 1 else 'gists'}{_makers(summarized.by)}."]
    if summarized.skipped:
        lines.append(
            f"  {len(summarized.skipped)} skipped: nothing new, changed meanwhile, or written and no model is here"
        )
    if summarized.left:
        lines.append(f"  {summarized.left} more are ripe: run it again, or with a higher --limit")
    return "\n".join([*lines, *_problems(summarized.fallbacks, summarized.failed)])


@render.register
def _(done: Flushed) -> str:
    made = len(done.entries)
    lines = [f"{made} {'entry' if made == 1 else 'entries'}{_makers(done.by)} in {_named(done.days, 'daily logs')}."]
    if not made and done.failed:
        lines = ["No entry was written."]
    elif not made:
        lines = ["Nothing new is worth an entry." if done.empty else "Nothing is new since the last flush."]
    if done.left:
        lines.append(f"  {done.left} more sessions have news: run it again")
    return "\n".join([*lines, *(f"  {session}: {why} It is tried again." for session, why in done.failed.items())])


@render.register
def _(done: Integrated) -> str:
    eras = f"Eras: {_named(done.eras, 'made')}, {done.fresh} up to date, {_named(done.removed, 'removed')}."
    lines = [f"{eras} Profile: {done.profile}. Narrative: {done.narrative}{_makers(done.by)}."]
    if done.kept:
        lines.append(f"  kept as written, though out of date: {', '.join(done.kept)} (only a model replaces them)")
    return "\n".join([*lines, *_problems(done.fallbacks, done.failed)])


@render.register
def _(taken: TakenOver) -> str:
    verb = "Would take over" if taken.dry_run else "Took over"
    what = f"{taken.exchanges:,} exchanges in {taken.sessions:,} sessions, {taken.gists:,} gists, {taken.eras:,} eras"
    lines = [
        f"{verb} {taken.source}: {what}, {taken.documents} other documents; {taken.already_here:,} were here already."
    ]
    lines += [f"  mended {count:,} × {each}" for each, count in taken.mended.items()]
    lines += [f"  removed {count:,} secrets by the rule {rule}" for rule, count in taken.redacted.items()]
    blobs = sum(taken.vectors.values())
    if blobs:
        sizes = ", ".join(f"{count:,} of {name}" for name, count in taken.vectors.items())
        lines.append(f"  left {blobs:,} vectors behind ({sizes}): texts are embedded here anew")
    return "\n".join([*lines, *(click.style(f"  could not take over {each}", fg="yellow") for each in taken.failed)])


@render.register
def _(given: dict) -> str:  # type: ignore[type-arg]
    if given and all(isinstance(each, list) for each in given.values()):
        return "\n\n".join(f"{click.style(str(name), bold=True)}\n{render(each)}" for name, each in given.items())
    return json.dumps(plain(given), ensure_ascii=False, indent=2)


@render.register
def _(found: DocumentVersion) -> str:
    head = f"{_title(found)}, version {found.version}, {ago(found.made_at)} by {_by(found)}"
    return f"{click.style(head, bold=True)}\n{found.content or found.begins}"


def _versions(found: Sequence[DocumentVersion]) -> str:
    rows = [(str(each.version), ago(each.made_at), _by(each), f"{each.size:,}", each.begins) for each in found]
    return table(("version", "made", "by", "size", "begins"), rows)


def _title(found: DocumentVersion) -> str:
    return f"{found.document} {found.name}".rstrip()


def _by(found: DocumentVersion) -> str:
    """Return who wrote a version; of a world state and a self state, as it was noted."""
    name = found.made_by.partition(",")[0]
    return name if found.author in ("", "model") or found.document in ("world", "self") else found.author


def _gists(found: Sequence[Gist]) -> str:
    rows = [(g.session_id, _span(g), str(g.exchanges), str(g.unsummarized or ""), _begins(g.content)) for g in found]
    return table(("session", "when", "covers", "new", "begins"), rows)


def _eras(found: Sequence[Era]) -> str:
    return "\n\n".join(map(render, found))


def _begins(content: str) -> str:
    first = next((line for line in content.splitlines() if not line.endswith(":")), content)
    return text.one_line(first.removeprefix("- "), 100)


def _span(gist: Gist) -> str:
    if gist.first_at is None or gist.last_at is None:
        return ""
    first, last = gist.first_at.astimezone(), gist.last_at.astimezone()
    return f"{first:%Y-%m-%d}" if first.date() == last.date() else f"{first:%Y-%m-%d} – {last:%Y-%m-%d}"


def _makers(by: dict[str, int]) -> str:
    return f" ({', '.join(f'{count} by {maker}' for maker, count in by.items())})" if by else ""


def _named(months: Sequence[str], verb: str) -> str:
    names = f" ({', '.join(months[:12])})" if months else ""
    return f"{len(months)} {verb}{names}"


def _problems(fallbacks: dict[str, int], failed: dict[str, str]) -> list[Any]:
    found = [f"  {count} of quotes, as the model could not: {reason}" for reason, count in fallbacks.items()]
    found += [f"  failed: {each}: {why}" for each, why in failed.items()]
    return [click.style(each, fg="yellow") for each in found]


LISTS.update({Gist: _gists, Era: _eras, DocumentVersion: _versions})
