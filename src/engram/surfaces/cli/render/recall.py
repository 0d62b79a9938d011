"""Search results and messages as text for people."""

from __future__ import annotations

from collections.abc import Sequence

from engram.index.index_report import Indexed
from engram.platform import text
from engram.search.briefing import Context
from engram.summaries.deletion_report import DeletionReport
from engram.surfaces.cli.render import LIST_RENDERERS, render
from engram.surfaces.cli.render.layout import format_ago, wrap_text
from engram.surfaces.cli.terminal import style
from engram.types import Around, Exchange, Hit

_SCORE_BARS = " ▁▂▃▄▅▆▇█"
_ANSWERS = ("episode", "commit", "session", "command")
_ROLE_COLORS = {"user": "cyan", "assistant": "green"}


def _render_hits(hits: Sequence[Hit]) -> str:
    return "\n\n".join(map(_render_hit, hits))


def _render_hit(hit: Hit) -> str:
    return _render_answer(hit) if hit.tier in _ANSWERS else _render_message(hit)


def _render_answer(hit: Hit) -> str:
    """Return a hit that answers: what it is about, what settled it, and how to read on."""
    day = hit.at.astimezone().date().isoformat() if hit.at else ""
    state = "superseded" if hit.state == "superseded" else hit.outcome
    head = "  ".join(filter(None, (style(hit.id, bold=True), day, state, hit.tier, hit.flavor, hit.session_id or "")))
    title = {"session": hit.summary, "command": ""}.get(hit.tier, hit.name)
    lines = [head, *([style(wrap_text(text.to_one_line(title, 140), "  "), bold=True)] if title else [])]
    lines += [wrap_text(line, "  ") for line in hit.snippet.splitlines()]
    return "\n".join([*lines, style(f"  → {hit.read_on}", dim=True)] if hit.read_on else lines)


def _render_message(hit: Hit) -> str:
    bar = _SCORE_BARS[round(min(max(hit.score, 0.0), 1.0) * (len(_SCORE_BARS) - 1))]
    author = " ".join(
        part for part in (hit.flavor, hit.role if hit.tier == "exchange" else hit.tier, hit.name or "") if part
    )
    head = f"{style(bar, fg='yellow')} {style(hit.id, bold=True)}  {style(author, fg=_ROLE_COLORS.get(hit.role))}"
    location = "  ".join(
        part for part in (format_ago(hit.at) if hit.at else "", hit.session_id or "", _format_turn(hit)) if part
    )
    lines = [f"{head}  {location}"]
    if hit.summary:
        lines.append(style(wrap_text(text.to_one_line(hit.summary, 100), "  "), dim=True))
    if hit.asked:
        lines.append(style(wrap_text(f"asked: {hit.asked}", "  "), dim=True))
    lines += [wrap_text(line, "  ") for line in text.to_one_line(hit.snippet, 400).splitlines()]
    return "\n".join([*lines, *_format_notes(hit)])


def _format_turn(hit: Hit) -> str:
    return f"turn {hit.turn}" if hit.turn is not None else ""


def _format_notes(hit: Hit) -> list[str]:
    notes = []
    if hit.state == "superseded":
        notes.append(f"superseded by {hit.superseded_by}")
    if hit.copies:
        notes.append(f"{hit.copies} more like this")
    return [style(f"  ({'; '.join(notes)})", fg="magenta")] if notes else []


def explain_scores(hits: Sequence[Hit]) -> str:
    """Return the parts of every score."""
    lines = [
        f"{hit.id:>8}  {hit.score:.3f}  " + "  ".join(f"{name} {part:.2f}" for name, part in hit.why.items())
        for hit in hits
    ]  # fmt: skip
    return "\n".join(lines)


@render.register
def _(around: Around) -> str:
    head = f"{style(around.id, bold=True)}  {around.source}  {format_ago(around.at) if around.at else ''}"
    lines = [head, f"{around.session_id or ''}  {text.to_one_line(around.title, 100)}".strip()]
    if around.tier != "exchange":
        lines += ["", text.quote_as_data(around.content)]
    for item in around.exchanges:
        lines += ["", _render_exchange(item, is_chosen=around.id == f"x{item.id}")]
    return "\n".join(lines)


def _render_exchange(exchange: Exchange, is_chosen: bool = False) -> str:
    mark = "▶ " if is_chosen else ""
    head = style(
        f"{mark}{exchange.role}  x{exchange.id}  {format_ago(exchange.created_at)}",
        fg=_ROLE_COLORS.get(exchange.role),
        bold=is_chosen,
    )
    return f"{head}\n{text.quote_as_data(exchange.content)}"


def _render_exchanges(exchanges: Sequence[Exchange]) -> str:
    return "\n\n".join(map(_render_exchange, exchanges))


@render.register
def _(result: Indexed) -> str:
    rest = f" {result.waiting:,} are waiting." if result.waiting else ""
    return f"Indexed {result.indexed:,}, embedded {result.embedded:,}; {result.docs:,} in the index.{rest}"


@render.register
def _(result: Context) -> str:
    return result.text or "Nothing relevant found for this prompt."


@render.register
def _(result: DeletionReport) -> str:
    verb, rebuilt = ("Would delete", "will be rebuilt") if result.dry_run else ("Deleted", "rebuilt")
    lines = [
        (
            f"{verb} {text.format_count(len(result.sessions), 'session')}: "
            f"{_format_deleted_counts(result) or 'it has no messages'}."
        )
    ]
    if result.remade:
        lines.append(f"  {rebuilt} without it: {', '.join(result.remade)}")
    lines += [f"  {item}" for item in result.changed]
    lines += [f"  kept, but may still mention this session: {item}" for item in result.mentions]
    if result.copies:
        lines.append(f"  Backups made before an upgrade still contain it: {', '.join(result.copies)}")
    return "\n".join(lines)


def _format_deleted_counts(report: DeletionReport) -> str:
    counts = {
        ("message", ""): report.exchanges, ("event", ""): report.events, ("log entry", "log entries"): report.logs,
        ("completion", ""): report.completions, ("summary", "summaries"): report.gists, ("lock", ""): report.locks,
        ("sent message", ""): report.sent, ("received message", ""): report.received,
    }  # fmt: skip
    return ", ".join(text.format_count(number, *names) for names, number in counts.items() if number)


LIST_RENDERERS.update({Hit: _render_hits, Exchange: _render_exchanges})
