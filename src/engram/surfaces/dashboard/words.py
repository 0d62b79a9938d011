"""Figures and times as people read them: the filters of the templates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from markupsafe import Markup, escape

from engram import text
from engram.api import Engram
from engram.clock import moment, zone
from engram.surfaces.dashboard.drawing import markdown
from engram.surfaces.dashboard.drawing.beats import LONG
from engram.surfaces.dashboard.drawing.highlight import highlighted

_EXCHANGE = re.compile(r"\(#(\d{1,15})\)")
_AFTER_LIST = re.compile(r"(?m)^([-*] .*)\n(?=[^\s*-])")


def now(engram: Engram) -> datetime:
    """Return the time by which a page says how long ago something was."""
    return moment(engram.now()).astimezone(zone(engram.settings.timezone))


def ago(then: datetime | None, at: datetime) -> Markup:
    """Return how long ago something was; the whole time shows when pointed at, and a script keeps it true."""
    if then is None:
        return Markup("never")
    since = text.duration(max(0, int((at - then).total_seconds() * 1_000_000)))
    whole = then.astimezone(at.tzinfo).strftime("%A, %-d %B %Y, %H:%M:%S")
    return Markup('<time datetime="{}" title="{}" data-ago>{} ago</time>').format(then.isoformat(), whole, since)


def until(then: datetime, at: datetime) -> Markup:
    """Return how much time is left, counted down by a script."""
    left = text.time_left(int((then - at).total_seconds() * 1_000_000))
    return Markup('<time datetime="{}" data-until>{}</time>').format(then.isoformat(), left)


def clock(then: datetime | None, at: datetime) -> str:
    """Return the time of day where the reader lives."""
    return "" if then is None else then.astimezone(at.tzinfo).strftime("%H:%M:%S")


def date(then: datetime | None, at: datetime) -> str:
    """Return the day where the reader lives."""
    return "" if then is None else then.astimezone(at.tzinfo).strftime("%A, %-d %B %Y")


def day(then: datetime | None, at: datetime) -> str:
    """Return a date, with the time, where the reader lives."""
    if then is None:
        return ""
    here = then.astimezone(at.tzinfo)
    return here.strftime("%-d %b %H:%M" if here.year == at.year else "%-d %b %Y")


def number(count: float) -> str:
    """Return a count as short as it can be read: 950, 12.3k, 4.1M."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if abs(count) >= size:
            shown = count / size
            return f"{shown:.0f}{unit}" if shown >= 100 else f"{shown:.1f}{unit}"
    return f"{count:g}" if isinstance(count, int) or count == int(count) else f"{count:.1f}"


def money(dollars: float | None) -> str:
    """Return US dollars; little is shown as little, not as nothing."""
    if not dollars:
        return "–" if dollars is None else "$0"
    return f"${dollars:,.2f}" if dollars >= 0.01 else "< 1¢"


def place(path: str | None) -> str:
    """Return the last part of a path: what people call a project."""
    return (path or "").replace("\\", "/").rstrip("/").rpartition("/")[2] or path or "no project"


def places(projects: Iterable[str]) -> dict[str, str]:
    """Return projects by name, each with what it is called: those of one name by their whole path."""
    short = {each: place(each) for each in projects}
    names = Counter(short.values())
    called = {each: name if names[name] == 1 else each for each, name in short.items()}
    return dict(sorted(called.items(), key=lambda pair: pair[1].lower()))


def within(path: str, project: str) -> str:
    """Return a path as it is called inside its project."""
    return path.removeprefix(f"{project.rstrip('/')}/") or path if project else path


def apart(said: str) -> str:
    """Return what memory made of sessions as markdown wants it: lists apart from lines, and each source as a link."""
    return _EXCHANGE.sub(r"([#\1](/search/x\1))", _AFTER_LIST.sub(r"\1\n\n", said))


def shortened(said: str) -> str:
    """Return a message as long as somebody reads it in a list of many."""
    return said if len(said) <= LONG else f"{said[:LONG]} …"


def percent(share: float) -> str:
    """Return a share in percent."""
    return f"{share * 100:.0f} %"


def lines(said: str) -> Markup:
    """Return text with its line ends; nothing else in it means anything."""
    return Markup("<br>").join(escape(line) for line in said.splitlines())


FILTERS: dict[str, Callable[..., Any]] = {
    "ago": ago, "until": until, "clock": clock, "date": date, "day": day, "number": number, "money": money,
    "size": text.size, "place": place, "within": within, "percent": percent, "lines": lines, "markdown": markdown.html,
    "one_line": text.one_line, "highlighted": highlighted, "wiki_address": markdown.wiki_address,
    "counted": text.counted, "apart": apart,
    "shortened": shortened,
}  # fmt: skip
