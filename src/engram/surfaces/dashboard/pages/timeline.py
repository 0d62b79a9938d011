"""The page Timeline: how the year went, what memory makes of it, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from urllib.parse import urlencode

from starlette.responses import Response

from engram import text
from engram.digests.days import Day
from engram.errors import InvalidInput, NotFound
from engram.model import Cost
from engram.surfaces.dashboard import words
from engram.surfaces.dashboard.drawing.heat import Heat, heat
from engram.surfaces.dashboard.drawing.plot import stacked
from engram.surfaces.dashboard.frame import Address, Ask
from engram.value import value

DAYS, SPLITS, UNITS = ("30", "90", "365"), ("flavor", "model", "project"), ("money", "tokens")
# Agents that have a colour of their own.
FLAVORS = (
    "claude", "codex", "gemini", "grok", "qwen", "copilot", "opencode", "cursor", "cline", "roo", "aider",
)  # fmt: skip
_CLASSES = ("input", "output", "cache_read", "cache_write", "cache_write_long", "reasoning")
_FORM = "spending-choice"


@value
class Choice:
    """What the plot of spending shows."""

    days: str
    by: str
    unit: str

    @property
    def query(self) -> str:
        """Return it as the end of an address."""
        return urlencode({"days": self.days, "by": self.by, "unit": self.unit})


def timeline(ask: Ask) -> Response:
    """Draw the year, what memory holds of it, and room for what takes longer to count."""
    days = ask.engram.count_days()
    eras = sorted(ask.engram.list_eras(), key=lambda era: era.month, reverse=True)
    tiers = [found for found in (ask.engram.get_tier("narrative"), ask.engram.get_tier("profile")) if found]
    return ask.draw(
        "timeline/timeline.html", heat=_heat(days, words.now(ask.engram).date()), days=days, eras=eras, tiers=tiers,
        choice=_choice(ask), choices={"days": DAYS, "by": SPLITS, "unit": UNITS},
    )  # fmt: skip


def month(ask: Ask) -> Response:
    """Draw what a month came to, for a page on which it is unfolded."""
    name = ask.path("month")
    found = next((each for each in ask.engram.list_eras() if each.month == name), None)
    if found is None:
        raise NotFound(kind="month", id=text.one_line(name, 20), hint="The timeline has those that are told.")
    return ask.show("timeline/month", era=found)


def spending(ask: Ask) -> Response:
    """Draw what was spent per day, in parts; the page's address follows what is chosen."""
    choice = _choice(ask)
    costs = ask.engram.cost("day", days=float(choice.days), split=choice.by)
    last, count = words.now(ask.engram).date(), int(choice.days)
    days = [str(last - timedelta(days=n)) for n in reversed(range(count))]
    told = words.money if choice.unit == "money" else words.number
    plot = stacked(days, _amounts(costs, choice), told, {name: f"tone-{name}" for name in FLAVORS})
    chosen = ask.request.headers.get("hx-trigger") == _FORM
    return ask.show(
        "timeline/spending", plot=plot, choice=choice, told=told,
        unpriced=sorted({model for each in costs for model in each.unpriced}),
        is_floor=any(each.basis == "floor" for each in costs), dated=next((c.prices_dated for c in costs), ""),
        headers={"HX-Replace-Url": f"/timeline?{choice.query}"} if chosen else None,
    )  # fmt: skip


def _choice(ask: Ask) -> Choice:
    def chosen(name: str, known: Sequence[str], usual: str) -> str:
        said = ask.given(name) or usual
        if said not in known:
            raise InvalidInput(field=name, reason=f"{said!r} is none of {', '.join(known)}.")
        return said

    return Choice(
        days=chosen("days", DAYS, "30"), by=chosen("by", SPLITS, "flavor"), unit=chosen("unit", UNITS, "money")
    )


def _amounts(costs: Sequence[Cost], choice: Choice) -> dict[tuple[str, str], float]:
    named = _named({each.part for each in costs}, choice.by)
    return {
        (each.place, named[each.part]): each.money
        if choice.unit == "money"
        else float(sum(getattr(each, name) for name in _CLASSES))
        for each in costs
    }


def _named(parts: set[str], by: str) -> dict[str, str]:
    """Return what each part is called; projects of the same name by their whole path."""
    if by != "project":
        return {part: part or f"unknown {by}" for part in parts}
    return words.places(parts)


def _heat(days: Sequence[Day], today: date) -> Heat:
    return heat({each.day: (each.prompts or each.answers, _said(each)) for each in days}, today)


def _said(day: Day) -> str:
    some = (day.sessions, "session"), (day.prompts, "prompt"), (day.answers, "answer")
    return ", ".join(text.counted(number, word) for number, word in some)


ADDRESSES = (
    Address("/timeline", timeline), Address("/timeline/spending", spending), Address("/timeline/months/{month}", month),
)  # fmt: skip
