"""What recall finds, for people."""

from __future__ import annotations

from collections.abc import Sequence

import click

from engram import text
from engram.index.indexed import Indexed
from engram.model import Around, Deleted, Exchange, Hit
from engram.recall.briefing import Context
from engram.surfaces.cli.render import LISTS, ago, render

_BARS = " ▁▂▃▄▅▆▇█"
_ROLES = {"user": "cyan", "assistant": "green"}


def _hits(found: Sequence[Hit]) -> str:
    return "\n\n".join(map(_hit, found))


def _hit(hit: Hit) -> str:
    bar = _BARS[round(min(max(hit.score, 0.0), 1.0) * (len(_BARS) - 1))]
    who = " ".join(
        part for part in (hit.flavor, hit.role if hit.tier == "exchange" else hit.tier, hit.name or "") if part
    )
    head = (
        f"{click.style(bar, fg='yellow')} {click.style(hit.id, bold=True)}  {click.style(who, fg=_ROLES.get(hit.role))}"
    )
    place = "  ".join(part for part in (ago(hit.at) if hit.at else "", hit.session_id or "", _turn(hit)) if part)
    lines = [f"{head}  {place}"]
    if hit.summary:
        lines.append(click.style(f"  {text.one_line(hit.summary, 100)}", dim=True))
    if hit.asked:
        lines.append(click.style(f"  asked: {hit.asked}", dim=True))
    lines += [f"  {line}" for line in text.one_line(hit.snippet, 400).splitlines()]
    return "\n".join([*lines, *_notes(hit)])


def _turn(hit: Hit) -> str:
    return f"turn {hit.turn}" if hit.turn is not None else ""


def _notes(hit: Hit) -> list[str]:
    notes = []
    if hit.state == "superseded":
        notes.append(f"superseded by {hit.superseded_by}")
    if hit.copies:
        notes.append(f"{hit.copies} more say the same")
    return [click.style(f"  ({'; '.join(notes)})", fg="magenta")] if notes else []


def explained(found: Sequence[Hit]) -> str:
    """Return why each hit was found: the parts of its score."""
    lines = [
        f"{hit.id:>8}  {hit.score:.3f}  " + "  ".join(f"{name} {part:.2f}" for name, part in hit.why.items())
        for hit in found
    ]  # fmt: skip
    return "\n".join(lines)


@render.register
def _(around: Around) -> str:
    head = f"{click.style(around.id, bold=True)}  {around.source}  {ago(around.at) if around.at else ''}"
    lines = [head, f"{around.session_id or ''}  {text.one_line(around.title, 100)}".strip()]
    if around.tier != "exchange":
        lines += ["", text.quote(around.content)]
    for each in around.exchanges:
        lines += ["", _exchange(each, chosen=around.id == f"x{each.id}")]
    return "\n".join(lines)


def _exchange(each: Exchange, chosen: bool = False) -> str:
    mark = "▶ " if chosen else ""
    head = click.style(f"{mark}{each.role}  x{each.id}  {ago(each.created_at)}", fg=_ROLES.get(each.role), bold=chosen)
    return f"{head}\n{text.quote(each.content)}"


def _exchanges(found: Sequence[Exchange]) -> str:
    return "\n\n".join(map(_exchange, found))


@render.register
def _(found: Indexed) -> str:
    rest = f" {found.waiting:,} still wait." if found.waiting else ""
    return f"Indexed {found.indexed:,}, embedded {found.embedded:,}; {found.docs:,} in the index.{rest}"


@render.register
def _(found: Context) -> str:
    return found.text or "Nothing is worth telling unasked."


@render.register
def _(found: Deleted) -> str:
    verb = "Would delete" if found.dry_run else "Deleted"
    what = f"{text.counted(found.exchanges, 'exchange')}, {text.counted(found.events, 'event')}"
    lines = [f"{verb} {text.counted(len(found.sessions), 'session')}: {what}."]
    if found.remade:
        lines.append(f"  removed, and made again of what is left: {', '.join(found.remade)}")
    lines += [f"  {each}" for each in found.changed]
    lines += [f"  left as it is, though only this session used these words: {each}" for each in found.mentions]
    if found.copies:
        lines.append(f"  Copies of the store from before an upgrade still hold it: {', '.join(found.copies)}")
    return "\n".join(lines)


LISTS.update({Hit: _hits, Exchange: _exchanges})
