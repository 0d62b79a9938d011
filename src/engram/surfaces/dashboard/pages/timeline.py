"""The Timeline page: activity of the year, spending, summaries and the dream."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from urllib.parse import urlencode

from starlette.responses import Response

from engram.capture.digests.daily_activity import Day
from engram.errors import InvalidInput, NotFound
from engram.platform import text
from engram.platform.value import value
from engram.surfaces.dashboard import template_filters
from engram.surfaces.dashboard.agent_colours import coloured_agents
from engram.surfaces.dashboard.drawing.heatmap import Heatmap, build_heatmap
from engram.surfaces.dashboard.drawing.plot import build_stack
from engram.surfaces.dashboard.layout import PageAddress, PageRequest
from engram.types import Cost

DAYS, SPLITS, UNITS = ("30", "90", "365"), ("flavor", "model", "project"), ("money", "tokens")
_TOKEN_FIELDS = ("input", "output", "cache_read", "cache_write", "cache_write_long", "reasoning")
_FORM_ID = "spending-choice"


@value
class SpendingChoice:
    """The options of the spending plot."""

    days: str
    by: str
    unit: str

    @property
    def query(self) -> str:
        """Return the options as a query string."""
        return urlencode({"days": self.days, "by": self.by, "unit": self.unit})


def show_timeline(request: PageRequest) -> Response:
    """Render the year and the summaries; slow parts are loaded afterwards."""
    days = request.engram.count_days()
    eras = sorted(request.engram.list_eras(), key=lambda era: era.month, reverse=True)
    tiers = [tier for tier in (request.engram.get_tier("narrative"), request.engram.get_tier("profile")) if tier]
    return request.render(
        "timeline/timeline.html",
        heat=_build_heatmap(days, template_filters.current_time(request.engram).date()),
        days=days,
        eras=eras,
        tiers=tiers,
        choice=_parse_choice(request),
        choices={"days": DAYS, "by": SPLITS, "unit": UNITS},
    )


def show_month(request: PageRequest) -> Response:
    """Render the summary of a month."""
    name = request.get_path_part("month")
    era = next((listed_era for listed_era in request.engram.list_eras() if listed_era.month == name), None)
    if era is None:
        raise NotFound(kind="month", id=text.to_one_line(name, 20), hint="See the months on the timeline.")
    return request.render_page("timeline/month", era=era)


def show_spending(request: PageRequest) -> Response:
    """Render the spending per day and put the options into the page's address."""
    choice = _parse_choice(request)
    costs = request.engram.cost("day", days=float(choice.days), split=choice.by)
    last, count = template_filters.current_time(request.engram).date(), int(choice.days)
    days = [str(last - timedelta(days=n)) for n in reversed(range(count))]
    format_figure = template_filters.money if choice.unit == "money" else template_filters.number
    part_names = _name_parts(request, {cost.part for cost in costs}, choice.by)
    plot = build_stack(
        days,
        _sum_amounts(costs, choice, part_names),
        format_figure,
        {name: f"tone-{name}" for name in coloured_agents()},
    )
    is_from_form = request.http_request.headers.get("hx-trigger") == _FORM_ID
    return request.render_page(
        "timeline/spending", plot=plot, choice=choice, format_figure=format_figure,
        unpriced=sorted({model for cost in costs for model in cost.unpriced}),
        is_floor=any(cost.basis == "floor" for cost in costs), dated=next((c.prices_dated for c in costs), ""),
        headers={"HX-Replace-Url": f"/timeline?{choice.query}"} if is_from_form else None,
    )  # fmt: skip


def _parse_choice(request: PageRequest) -> SpendingChoice:
    def parse_option(name: str, options: Sequence[str], default: str) -> str:
        option_text = request.get_query(name) or default
        if option_text not in options:
            raise InvalidInput(
                field=name, reason=f"unknown value {option_text!r}. Choose one of: {', '.join(options)}."
            )
        return option_text

    return SpendingChoice(
        days=parse_option("days", DAYS, "30"),
        by=parse_option("by", SPLITS, "flavor"),
        unit=parse_option("unit", UNITS, "money"),
    )


def _sum_amounts(
    costs: Sequence[Cost], choice: SpendingChoice, part_names: dict[str, str]
) -> dict[tuple[str, str], float]:
    return {
        (cost.place, part_names[cost.part]): cost.money
        if choice.unit == "money"
        else float(sum(getattr(cost, name) for name in _TOKEN_FIELDS))
        for cost in costs
    }


def _name_parts(request: PageRequest, parts: set[str], by: str) -> dict[str, str]:
    """Return the name of each part."""
    if by != "project":
        return {part: part or f"unknown {by}" for part in parts}
    names = template_filters.name_projects(request.engram.list_projects())
    return {part: names.get(part) or template_filters.place(part) for part in parts}


def _build_heatmap(days: Sequence[Day], today: date) -> Heatmap:
    return build_heatmap(
        {day_counts.day: (day_counts.prompts or day_counts.answers, _describe_day(day_counts)) for day_counts in days},
        today,
    )


def _describe_day(day: Day) -> str:
    counts = (day.sessions, "session"), (day.prompts, "prompt"), (day.answers, "answer")
    return ", ".join(text.format_count(number, word) for number, word in counts)


ADDRESSES = (
    PageAddress("/timeline", show_timeline),
    PageAddress("/timeline/spending", show_spending),
    PageAddress("/timeline/months/{month}", show_month),
)
