"""The list of sessions as a table."""

from __future__ import annotations

from collections.abc import Sequence

from engram.platform import text
from engram.surfaces.cli.render import LIST_RENDERERS
from engram.surfaces.cli.render.layout import Column, format_cost, format_table, format_when
from engram.surfaces.cli.render.project_labels import get_label
from engram.surfaces.cli.terminal import style
from engram.types import SessionEntry

OUTCOME_MARKS = {
    "success": ("✓", "green"),
    "partial": ("~", "yellow"),
    "failure": ("✗", "red"),
    "abandoned": ("-", "magenta"),
}
_SHORT_ID = 8  # characters at the end of an id that name a session
_RUNNING_MARK = "●"
_COLUMNS = (
    Column(""),
    Column("session"),
    Column("last", drop=3),
    Column("agent", drop=2),
    Column("project", min_width=8, drop=5),
    Column("outcome", drop=9),
    Column("cost", right=True, drop=4),
    Column("title"),
)


def _render_session_entries(entries: Sequence[SessionEntry]) -> str:
    return format_table(_COLUMNS, [_format_entry(entry) for entry in entries])


def _format_entry(entry: SessionEntry) -> tuple[str, ...]:
    is_active = entry.session.presence == "here"
    return (
        format_mark(entry),
        entry.session.id[-_SHORT_ID:],
        "now" if is_active else format_when(entry.last_at),
        entry.session.flavor,
        get_label(entry.session.project),
        "running" if is_active else "quiet" if entry.running else entry.outcome or "",
        format_cost(entry.money, entry.unpriced) if entry.money or entry.unpriced else "",
        text.to_one_line(entry.title),
    )


def format_mark(entry: SessionEntry) -> str:
    """Return the sign of a session: running, quiet, or its outcome."""
    mark, colour = OUTCOME_MARKS.get(entry.outcome or "", (" ", None))
    if entry.running:
        mark, colour = _RUNNING_MARK, "green" if entry.session.presence == "here" else "yellow"
    return style(mark, fg=colour)


LIST_RENDERERS[SessionEntry] = _render_session_entries
