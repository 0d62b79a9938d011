"""Summaries, months and the documents made from them, as text for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engram.importers.lyra import LyraImportReport
from engram.platform import text
from engram.summaries.document_history import DocumentVersion
from engram.summaries.gist import Backlog, SummarizeReport
from engram.summaries.integration_report import IntegrationReport
from engram.summaries.playbook.playbook import Playbook
from engram.summaries.tier_documents import Tier
from engram.surfaces.cli.render import LIST_RENDERERS, render
from engram.surfaces.cli.render.layout import Column, format_ago, format_facts, format_table, number_column
from engram.surfaces.cli.terminal import style
from engram.types import Era, Gist
from engram.wiki.flush import FlushResult

_VERSION_COLUMNS = (
    number_column("version"), Column("when", drop=2), Column("by", min_width=8, drop=1), number_column("size", drop=3),
    Column("begins"),
)  # fmt: skip
_GIST_COLUMNS = (
    Column("session"), Column("when", drop=1), number_column("messages", drop=2), number_column("new", drop=3),
    Column("begins"),
)  # fmt: skip


@render.register
def _(playbook: Playbook) -> str:
    unknown = f"Nothing is known about {playbook.name} yet. Run `engram ingest`."
    return playbook.text.rstrip() or unknown


@render.register
def _(gist: Gist) -> str:
    news = f", {text.format_count(gist.unsummarized, 'newer message')} not covered" if gist.unsummarized else ""
    made = f"version {gist.version}, {format_ago(gist.created_at)}, {_format_maker(gist.made_by)}"
    head = f"Summary of {gist.session_id}, {made}"
    cover = f"{text.format_count(gist.exchanges, 'message')}, {_format_date_span(gist)}{news}"
    return f"{style(head, bold=True)}\n{style(cover, dim=True)}\n{gist.content}"


@render.register
def _(era: Era) -> str:
    sessions = f"{era.session_count} {'session' if era.session_count == 1 else 'sessions'}"
    head = f"{era.month}, {sessions}, version {era.version} by {era.made_by}"
    return f"{style(head, bold=True)}\n{era.content}"


@render.register
def _(tier: Tier) -> str:
    head = f"{tier.name}, version {tier.version}, {format_ago(tier.made_at)} by {tier.made_by}"
    return f"{style(head, bold=True)}\n{tier.content}"


@render.register
def _(backlog: Backlog) -> str:
    shown = (
        ("sessions", f"{backlog.sessions:,}"), ("with new messages", f"{backlog.dirty:,}"),
        ("due for a summary", f"{backlog.ripe:,}"), ("messages not summarized", f"{backlog.unsummarized_total:,}"),
        ("newest message", f"#{backlog.max_exchange_id}"),
    )  # fmt: skip
    return format_facts(shown)


@render.register
def _(summarized: SummarizeReport) -> str:
    made = len(summarized.made)
    lines = [f"Wrote {text.format_count(made, 'summary', 'summaries')}{_format_makers(summarized.by)}."]
    if summarized.skipped:
        reasons = "nothing new, changed meanwhile, or written by hand and no model is set"
        lines.append(f"  {len(summarized.skipped)} skipped: {reasons}")
    if summarized.left:
        lines.append(f"  {summarized.left} more are due; run it again, or with a higher --limit")
    return "\n".join([*lines, *_format_problems(summarized.fallbacks, summarized.failed)])


@render.register
def _(done: FlushResult) -> str:
    made = len(done.entries)
    lines = [
        (
            f"{made} {'entry' if made == 1 else 'entries'}{_format_makers(done.by)} in "
            f"{text.format_count(len(done.days), 'daily log')} ({', '.join(done.days[:12])})."
        )
    ]
    if not made and done.failed:
        lines = ["No entry was written."]
    elif not made:
        lines = ["Nothing worth an entry." if done.empty else "Nothing new since the last flush."]
    if done.left:
        lines.append(f"  {done.left} more sessions have new messages; run it again")
    return "\n".join(
        [*lines, *(f"  {session}: {why} The next run tries again." for session, why in done.failed.items())]
    )


@render.register
def _(done: IntegrationReport) -> str:
    eras = (
        f"Months: {_format_counted_names(done.eras, 'written')}, {done.fresh} up to date, "
        f"{_format_counted_names(done.removed, 'removed')}."
    )
    documents = f"Profile: {_format_state(done.profile)}. Narrative: {_format_state(done.narrative)}"
    lines = [f"{eras} {documents}{_format_makers(done.by)}."]
    if done.kept:
        lines.append(
            f"  kept although out of date: {', '.join(done.kept)} (written by a model; only a model replaces them)"
        )
    return "\n".join([*lines, *_format_problems(done.fallbacks, done.failed)])


@render.register
def _(taken: LyraImportReport) -> str:
    verb = "Would import" if taken.dry_run else "Imported"
    said = f"{text.format_count(taken.exchanges, 'exchange')} in {text.format_count(taken.sessions, 'session')}"
    made = f"{text.format_count(taken.gists, 'gist')}, {text.format_count(taken.eras, 'era')}"
    known = text.format_count(taken.already_here, "row was", "rows were")
    rest = f"{text.format_count(taken.documents, 'other document')}; {known} already here"
    lines = [f"{verb} {taken.source}: {said}, {made}, {rest}."]
    lines += [f"  repaired {count:,} × {each}" for each, count in taken.mended.items()]
    lines += [
        f"  removed {text.format_count(count, 'secret')} by the rule {rule}" for rule, count in taken.redacted.items()
    ]
    blobs = sum(taken.vectors.values())
    if blobs:
        sizes = ", ".join(f"{count:,} of {name}" for name, count in taken.vectors.items())
        lines.append(f"  skipped {text.format_count(blobs, 'vector')} ({sizes}): texts are embedded again here")
    return "\n".join([*lines, *(style(f"  could not import {each}", fg="yellow") for each in taken.failed)])


@render.register
def _(version: DocumentVersion) -> str:
    head = (
        f"{_format_title(version)}, version {version.version}, {format_ago(version.made_at)} by "
        f"{_format_author(version)}"
    )
    return f"{style(head, bold=True)}\n{version.content or version.begins}"


def _render_versions(versions: Sequence[DocumentVersion]) -> str:
    rows = [
        (
            str(version.version),
            format_ago(version.made_at),
            _format_author(version),
            f"{version.size:,}",
            version.begins,
        )
        for version in versions
    ]
    return format_table(_VERSION_COLUMNS, rows)


def _format_title(version: DocumentVersion) -> str:
    return f"{version.document} {version.name}".rstrip()


def _format_author(version: DocumentVersion) -> str:
    """Return who wrote a version."""
    name = version.made_by.partition(",")[0]
    return name if version.author in ("", "model") or version.document in ("world", "self") else version.author


def _render_gists(gists: Sequence[Gist]) -> str:
    rows = [
        (
            gist.session_id,
            _format_date_span(gist),
            str(gist.exchanges),
            str(gist.unsummarized or ""),
            _format_beginning(gist.content),
        )
        for gist in gists
    ]
    return format_table(_GIST_COLUMNS, rows)


def _render_eras(eras: Sequence[Era]) -> str:
    return "\n\n".join(map(render, eras))


def _format_beginning(content: str) -> str:
    first = next((line for line in content.splitlines() if not line.endswith(":")), content)
    return text.to_one_line(first.removeprefix("- "), 100)


def _format_date_span(gist: Gist) -> str:
    if gist.first_at is None or gist.last_at is None:
        return ""
    first, last = gist.first_at.astimezone(), gist.last_at.astimezone()
    return f"{first:%Y-%m-%d}" if first.date() == last.date() else f"{first:%Y-%m-%d} – {last:%Y-%m-%d}"


def _format_state(state: str) -> str:
    return "up to date" if state == "fresh" else state


def _format_makers(by: dict[str, int]) -> str:
    return f" ({', '.join(f'{count} by {maker}' for maker, count in by.items())})" if by else ""


def _format_maker(made_by: str) -> str:
    return "made by rules" if made_by.startswith("extract/") else f"by {made_by}"


def _format_counted_names(months: Sequence[str], verb: str) -> str:
    names = f" ({', '.join(months[:12])})" if months else ""
    return f"{len(months)} {verb}{names}"


def _format_problems(fallbacks: dict[str, int], failed: dict[str, str]) -> list[Any]:
    lines = [f"  {count} made from quotes, because the model failed: {reason}" for reason, count in fallbacks.items()]
    lines += [f"  failed: {line}: {why}" for line, why in failed.items()]
    return [style(line, fg="yellow") for line in lines]


LIST_RENDERERS.update({Gist: _render_gists, Era: _render_eras, DocumentVersion: _render_versions})
