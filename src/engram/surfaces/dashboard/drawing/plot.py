"""Compute plot coordinates; templates draw the plots and style sheets colour them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from engram.platform.value import value

MAX_PARTS = 8  # with their own colour; smaller parts are combined into one grey part
REST = "others"
_MIN_NUMBER, _MAX_NUMBER = 1e-12, 1e15  # limits that avoid overflow and division by zero
_STEPS = (1, 2, 2.5, 5, 10)
_MAX_LABELS = 8  # on an axis of days
_NAME_WIDTH, _LETTER_WIDTH = 92.0, 6.4  # minimum width of the names, and width per letter

FigureFormat = Callable[[float], str]  # formats a number for display


@value
class AxisLabel:
    """A label at a position of an axis."""

    at: float
    text: str


@value
class StackBar:
    """One segment of a stacked bar."""

    x: float
    y: float
    width: float
    height: float
    tone: str  # CSS class of the colour
    title: str


@value
class PlotPart:
    """A legend entry."""

    name: str
    tone: str
    total: float


@value
class StackPlot:
    """Stacked bars, one per day."""

    width: float
    height: float
    bars: tuple[StackBar, ...]
    levels: tuple[AxisLabel, ...]  # labels of the vertical axis
    days: tuple[AxisLabel, ...]
    parts: tuple[PlotPart, ...]
    rows: tuple[tuple[str, tuple[float, ...]], ...]  # days with data, and the value of each part
    total: float


@value
class StepLine:
    """A step line as an SVG path."""

    width: float
    height: float
    path: str
    end: tuple[float, float] | None  # the current point


@value
class IntervalSpan:
    """A value with its confidence interval: a dot and a line."""

    name: str
    y: float
    at: float
    low: float
    high: float
    text: str
    tone: str


@value
class IntervalPlot:
    """Values with their intervals on one axis."""

    width: float
    height: float
    room: float  # space on the left for the names
    spans: tuple[IntervalSpan, ...]
    ticks: tuple[AxisLabel, ...]
    zero: float | None  # position of zero, if it is on the axis


def clamp_number(number: float) -> float:
    """Clamp a number to the range that can be drawn."""
    if math.isnan(number) or abs(number) < _MIN_NUMBER:
        return 0.0
    return max(-_MAX_NUMBER, min(_MAX_NUMBER, float(number)))


def scale_number(number: float, low: float, high: float, size: float) -> float:
    """Scale a number from the range low–high to 0–`size`, clamped."""
    low, high, number = clamp_number(low), clamp_number(high), clamp_number(number)
    share = (number - low) / (high - low) if high > low else 0.0
    return round(max(0.0, min(1.0, share)) * size, 2)


def compute_ticks(top: float, tick_count: int = 4) -> list[float]:
    """Return round tick values from 0 to at least `top`."""
    top = clamp_number(top)
    if top <= 0:
        return [0.0, 1.0]
    rough = top / tick_count
    size = 10.0 ** math.floor(math.log10(rough))
    step = next((factor * size for factor in _STEPS if factor * size >= rough), 10 * size)
    return [n * step for n in range(math.ceil(top / step - 1e-9) + 1)]


def build_stack(
    days: Sequence[str],
    amounts: Mapping[tuple[str, str], float],
    format_figure: FigureFormat,
    tones: Mapping[str, str],
    width: float = 1000,
    height: float = 220,
) -> StackPlot:
    """Return stacked bars per day from the amounts of (day, part); the largest parts are at the bottom."""
    wanted_days = set(days)
    clamped = {
        key: clamp_number(max(0.0, clamp_number(item))) for key, item in amounts.items() if key[0] in wanted_days
    }
    parts = _rank_parts(clamped, tones)
    sums = _sum_parts(days, clamped, parts)
    levels = compute_ticks(max((sum(item.values()) for item in sums.values()), default=0.0))
    top, day_width = levels[-1], width / max(1, len(days))
    bars = [
        _build_bars(day, sums[day], parts, (n * day_width, day_width, top, height), format_figure)
        for n, day in enumerate(days)
    ]
    return StackPlot(
        width=width,
        height=height,
        bars=tuple(bar for day_bars in bars for bar in day_bars),
        parts=parts,
        levels=tuple(
            AxisLabel(at=round(height - scale_number(item, 0, top, height), 2), text=format_figure(item))
            for item in levels
        ),
        days=_label_days(days, day_width),
        total=clamp_number(sum(part.total for part in parts)),
        rows=tuple((day, tuple(sums[day].get(part.name, 0.0) for part in parts)) for day in days if sums[day]),
    )


def _sum_parts(
    days: Sequence[str], amounts: Mapping[tuple[str, str], float], parts: Sequence[PlotPart]
) -> dict[str, dict[str, float]]:
    """Sum the amounts of each part per day; the smaller parts are summed as the rest."""
    names = {part.name for part in parts}
    sums: dict[str, dict[str, float]] = {day: {} for day in days}
    for (day, part), amount in amounts.items():
        name = part if part in names else REST
        if amount > 0:
            sums[day][name] = clamp_number(sums[day].get(name, 0.0) + amount)
    return sums


def _rank_parts(amounts: Mapping[tuple[str, str], float], tones: Mapping[str, str]) -> tuple[PlotPart, ...]:
    totals: dict[str, float] = {}
    for (_, name), amount in amounts.items():
        totals[name] = clamp_number(totals.get(name, 0.0) + amount)
    ranked = sorted((name for name, amount in totals.items() if amount > 0), key=lambda name: (-totals[name], name))
    named_parts = ranked if len(ranked) <= MAX_PARTS else [name for name in ranked if name != REST][: MAX_PARTS - 1]
    parts = [
        PlotPart(name=name, tone=tones.get(name) or f"tone-{n}", total=totals[name])
        for n, name in enumerate(named_parts)
    ]
    rest = clamp_number(sum(totals[name] for name in ranked if name not in named_parts))
    return (*parts, *([PlotPart(name=REST, tone="tone-rest", total=rest)] if rest else []))


def _build_bars(
    day: str,
    sums: Mapping[str, float],
    parts: Sequence[PlotPart],
    place: tuple[float, float, float, float],
    format_figure: FigureFormat,
) -> list[StackBar]:
    left, day_width, top, height = place
    gap, below, bars = min(2.0, day_width * 0.2), 0.0, []
    for part in parts:
        amount = sums.get(part.name, 0.0)
        if amount <= 0:
            continue
        low, below = scale_number(below, 0, top, height), clamp_number(below + amount)
        high = scale_number(below, 0, top, height)
        bars.append(StackBar(
            x=round(left + gap / 2, 2), y=round(height - high, 2), width=round(day_width - gap, 2),
            height=round(high - low, 2), tone=part.tone, title=f"{day}, {part.name}: {format_figure(amount)}",
        ))  # fmt: skip
    return bars


def _label_days(days: Sequence[str], day_width: float) -> tuple[AxisLabel, ...]:
    """Return labels for as many days as fit below the axis."""
    every = max(1, math.ceil(len(days) / _MAX_LABELS))
    return tuple(AxisLabel(at=round((n + 0.5) * day_width, 2), text=days[n]) for n in range(0, len(days), every))


def build_step_line(levels: Sequence[float], width: float = 160, height: float = 36) -> StepLine:
    """Return a step line through levels between 0 and 1."""
    step_width = width / max(1, len(levels))
    heights = [round(height - scale_number(height_level, 0, 1, height), 2) for height_level in levels]
    moves = [f"{'V' if n else 'M0,'}{y} H{round((n + 1) * step_width, 2)}" for n, y in enumerate(heights)]
    end = (round(width, 2), heights[-1]) if heights else None
    return StepLine(width=width, height=height, path=" ".join(moves), end=end)


def build_intervals(
    figures: Sequence[tuple[str, float, float, float, str]],
    format_figure: FigureFormat,
    *,
    low: float = 0.0,
    high: float = 1.0,
    width: float = 460,
    row: float = 34,
) -> IntervalPlot:
    """Return an interval plot from rows of (name, value, low, high, tone)."""

    def place(number: float) -> float:
        return scale_number(number, low, high, width)

    marks = [low + (high - low) * n / 4 for n in range(5)] if high > low else [low]
    drawn_spans = [
        IntervalSpan(
            name=name, y=round((n + 0.5) * row, 2), at=place(at), low=place(min(begin, at)), high=place(max(end, at)),
            text=f"{format_figure(at)} ({format_figure(begin)} … {format_figure(end)})", tone=tone,
        )
        for n, (name, at, begin, end, tone) in enumerate(figures)
    ]  # fmt: skip
    return IntervalPlot(
        width=width,
        height=round(max(1, len(drawn_spans)) * row, 2),
        spans=tuple(drawn_spans),
        room=max([_NAME_WIDTH, *(_LETTER_WIDTH * len(item.name) + _NAME_WIDTH / 4 for item in drawn_spans)]),
        ticks=tuple(AxisLabel(at=place(item), text=format_figure(item)) for item in marks),
        zero=place(0.0) if low < 0 < high else None,
    )
