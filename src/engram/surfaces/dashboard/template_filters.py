"""Template filters that format numbers, times, paths and texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from markupsafe import Markup, escape

from engram.api import Engram
from engram.clock import load_timezone, to_datetime
from engram.platform import text
from engram.sessions.stats import Project
from engram.surfaces.dashboard.drawing import markdown
from engram.surfaces.dashboard.drawing.conversation import MAX_MESSAGE_CHARS
from engram.surfaces.dashboard.drawing.highlight import highlighted

_EXCHANGE = re.compile(r"\(#(\d{1,15})\)")
_AFTER_LIST = re.compile(r"(?m)^([-*] .*)\n(?=[^\s*-])")


def current_time(engram: Engram) -> datetime:
    """Return the current time in the user's timezone."""
    return to_datetime(engram.now()).astimezone(load_timezone(engram.settings.timezone))


def ago(then: datetime | None, at: datetime) -> Markup:
    """Return how long ago something was, with the full time as a tooltip; a script keeps it current."""
    if then is None:
        return Markup("never")
    since = text.format_duration(max(0, int((at - then).total_seconds() * 1_000_000)))
    full_time = then.astimezone(at.tzinfo).strftime("%A, %-d %B %Y, %H:%M:%S")
    return Markup('<time datetime="{}" title="{}" data-ago>{} ago</time>').format(then.isoformat(), full_time, since)


def until(then: datetime, at: datetime) -> Markup:
    """Return the time left; a script counts it down."""
    left = text.format_time_left(int((then - at).total_seconds() * 1_000_000))
    return Markup('<time datetime="{}" data-until>{}</time>').format(then.isoformat(), left)


def clock(then: datetime | None, at: datetime) -> str:
    """Return the time of day in the user's timezone."""
    return "" if then is None else then.astimezone(at.tzinfo).strftime("%H:%M:%S")


def date(then: datetime | None, at: datetime) -> str:
    """Return the date with its weekday in the user's timezone."""
    return "" if then is None else then.astimezone(at.tzinfo).strftime("%A, %-d %B %Y")


def day(then: datetime | None, at: datetime) -> str:
    """Return a short date in the user's timezone, with the time if it is this year."""
    if then is None:
        return ""
    local_time = then.astimezone(at.tzinfo)
    return local_time.strftime("%-d %b %H:%M" if local_time.year == at.year else "%-d %b %Y")


def number(count: float) -> str:
    """Return a short form of a number: 950, 12.3k, 4.1M."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if abs(count) >= size:
            scaled_count = count / size
            return f"{scaled_count:.0f}{unit}" if scaled_count >= 100 else f"{scaled_count:.1f}{unit}"
    return f"{count:g}" if isinstance(count, int) or count == int(count) else f"{count:.1f}"


def money(dollars: float | None) -> str:
    """Return US dollars; tiny amounts as "< 1¢" rather than $0."""
    if not dollars:
        return "–" if dollars is None else "$0"
    return f"${dollars:,.2f}" if dollars >= 0.01 else "< 1¢"


def place(path: str | None) -> str:
    """Return the last part of a path, used as the project's name."""
    return (path or "").replace("\\", "/").rstrip("/").rpartition("/")[2] or path or "no project"


def name_projects(projects: Iterable[Project]) -> dict[str, str]:
    """Return project paths with their names, sorted."""
    names_by_path = {project.project: project.name for project in projects if project.project}
    return dict(sorted(names_by_path.items(), key=lambda pair: pair[1].lower()))


def within(path: str, project: str) -> str:
    """Return a path relative to its project."""
    return path.removeprefix(f"{project.rstrip('/')}/") or path if project else path


def apart(summary: str) -> str:
    """Prepare a summary for markdown: a blank line after lists, and links for its sources."""
    return _EXCHANGE.sub(r"([#\1](/search/x\1))", _AFTER_LIST.sub(r"\1\n\n", summary))


def shortened(message: str) -> str:
    """Cut a long message."""
    return message if len(message) <= MAX_MESSAGE_CHARS else f"{message[:MAX_MESSAGE_CHARS]} …"


def percent(share: float) -> str:
    """Return a fraction as a percentage."""
    return f"{share * 100:.0f} %"


def lines(raw_text: str) -> Markup:
    """Return escaped text with line breaks as <br>."""
    return Markup("<br>").join(escape(line) for line in raw_text.splitlines())


FILTERS: dict[str, Callable[..., Any]] = {
    "ago": ago,
    "until": until,
    "clock": clock,
    "date": date,
    "day": day,
    "number": number,
    "money": money,
    "size": text.format_size,
    "place": place,
    "within": within,
    "percent": percent,
    "lines": lines,
    "markdown": markdown.render_markdown,
    "one_line": text.to_one_line,
    "highlighted": highlighted,
    "wiki_address": markdown.wiki_address,
    "counted": text.format_count,
    "apart": apart,
    "shortened": shortened,
}
