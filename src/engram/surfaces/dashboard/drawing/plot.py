"""Plots as numbers: where on a canvas each mark goes. Templates draw them, style sheets colour them. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from engram.value import value

PARTS = 8  # told apart by colour; what is less is one grey rest
REST = "others"
_LEAST, _MOST = 1e-12, 1e15  # beyond them figures are of no use, and sums overflow or divide by nothing
_STEPS = (1, 2, 2.5, 5, 10)
_LABELS = 8  # below an axis of days
_NAME, _LETTER = 92.0, 6.4  # how much room a name takes at least, and each of its letters

Told = Callable[[float], str]  # a figure as people read it


@value
class Mark:
    """A label at a place of an axis."""

    at: float
    text: str


@value
class Bar:
    """One piece of a stack."""

    x: float
    y: float
    width: float
    height: float
    tone: str  # the class that colours it
    title: str


@value
class Part:
    """What one colour stands for."""

    name: str
    tone: str
    total: float


@value
class Stack:
    """Bars in parts, one per day."""

    width: float
    height: float
    bars: tuple[Bar, ...]
    levels: tuple[Mark, ...]  # of the upright axis
    days: tuple[Mark, ...]
    parts: tuple[Part, ...]
    rows: tuple[tuple[str, tuple[float, ...]], ...]  # each day with something, and its figure for each part
    total: float


@value
class Line:
    """A line that goes in steps, as the path of an SVG."""

    width: float
    height: float
    path: str
    end: tuple[float, float] | None  # where it is now


@value
class Span:
    """A figure with what it may be: a dot and a line."""

    name: str
    y: float
    at: float
    low: float
    high: float
    told: str
    tone: str


@value
class Spans:
    """Figures with their intervals on one axis."""

    width: float
    height: float
    room: float  # left of it, for the names
    spans: tuple[Span, ...]
    ticks: tuple[Mark, ...]
    zero: float | None  # where nothing would be changed, if that is on the axis


def finite(number: float) -> float:
    """Return a number that can be drawn."""
    if math.isnan(number) or abs(number) < _LEAST:
        return 0.0
    return max(-_MOST, min(_MOST, float(number)))


def scaled(number: float, low: float, high: float, size: float) -> float:
    """Return where between 0 and `size` a number lies, low at 0; never outside."""
    low, high, number = finite(low), finite(high), finite(number)
    share = (number - low) / (high - low) if high > low else 0.0
    return round(max(0.0, min(1.0, share)) * size, 2)


def ticks(top: float, wanted: int = 4) -> list[float]:
    """Return round figures from 0 to at least `top`."""
    top = finite(top)
    if top <= 0:
        return [0.0, 1.0]
    rough = top / wanted
    size = 10.0 ** math.floor(math.log10(rough))
    step = next((each * size for each in _STEPS if each * size >= rough), 10 * size)
    return [n * step for n in range(math.ceil(top / step - 1e-9) + 1)]


def stacked(
    days: Sequence[str], amounts: Mapping[tuple[str, str], float], told: Told, tones: Mapping[str, str],
    width: float = 1000, height: float = 220,
) -> Stack:  # fmt: skip
    """Return bars of the days in order, from the amount of each (day, part); the greatest parts lie lowest."""
    wanted = set(days)
    known = {key: finite(max(0.0, finite(each))) for key, each in amounts.items() if key[0] in wanted}
    parts = _parts(known, tones)
    sums = _sums(days, known, parts)
    levels = ticks(max((sum(each.values()) for each in sums.values()), default=0.0))
    top, wide = levels[-1], width / max(1, len(days))
    bars = [_bars(day, sums[day], parts, (n * wide, wide, top, height), told) for n, day in enumerate(days)]
    return Stack(
        width=width, height=height, bars=tuple(bar for some in bars for bar in some), parts=parts,
        levels=tuple(Mark(at=round(height - scaled(each, 0, top, height), 2), text=told(each)) for each in levels),
        days=_days(days, wide), total=finite(sum(part.total for part in parts)),
        rows=tuple((day, tuple(sums[day].get(part.name, 0.0) for part in parts)) for day in days if sums[day]),
    )  # fmt: skip


def _sums(
    days: Sequence[str], amounts: Mapping[tuple[str, str], float], parts: Sequence[Part]
) -> dict[str, dict[str, float]]:
    """Return the figure of each part on each day; what is no part of its own counts for the rest."""
    names = {part.name for part in parts}
    sums: dict[str, dict[str, float]] = {day: {} for day in days}
    for (day, part), amount in amounts.items():
        name = part if part in names else REST
        if amount > 0:
            sums[day][name] = finite(sums[day].get(name, 0.0) + amount)
    return sums


def _parts(amounts: Mapping[tuple[str, str], float], tones: Mapping[str, str]) -> tuple[Part, ...]:
    totals: dict[str, float] = {}
    for (_, name), each in amounts.items():
        totals[name] = finite(totals.get(name, 0.0) + each)
    ranked = sorted((name for name, each in totals.items() if each > 0), key=lambda name: (-totals[name], name))
    kept = ranked if len(ranked) <= PARTS else [name for name in ranked if name != REST][: PARTS - 1]
    parts = [Part(name=name, tone=tones.get(name) or f"tone-{n}", total=totals[name]) for n, name in enumerate(kept)]
    rest = finite(sum(totals[name] for name in ranked if name not in kept))
    return (*parts, *([Part(name=REST, tone="tone-rest", total=rest)] if rest else []))


def _bars(
    day: str, sums: Mapping[str, float], parts: Sequence[Part], place: tuple[float, float, float, float], told: Told
) -> list[Bar]:
    left, wide, top, height = place
    gap, below, bars = min(2.0, wide * 0.2), 0.0, []
    for part in parts:
        amount = sums.get(part.name, 0.0)
        if amount <= 0:
            continue
        low, below = scaled(below, 0, top, height), finite(below + amount)
        high = scaled(below, 0, top, height)
        bars.append(Bar(
            x=round(left + gap / 2, 2), y=round(height - high, 2), width=round(wide - gap, 2),
            height=round(high - low, 2), tone=part.tone, title=f"{day}, {part.name}: {told(amount)}",
        ))  # fmt: skip
    return bars


def _days(days: Sequence[str], wide: float) -> tuple[Mark, ...]:
    """Return the days that are named below the axis: so many that they do not touch."""
    every = max(1, math.ceil(len(days) / _LABELS))
    return tuple(Mark(at=round((n + 0.5) * wide, 2), text=days[n]) for n in range(0, len(days), every))


def stepped(levels: Sequence[float], width: float = 160, height: float = 36) -> Line:
    """Return a line through levels between 0 and 1, each held until the next."""
    wide = width / max(1, len(levels))
    heights = [round(height - scaled(each, 0, 1, height), 2) for each in levels]
    moves = [f"{'V' if n else 'M0,'}{y} H{round((n + 1) * wide, 2)}" for n, y in enumerate(heights)]
    end = (round(width, 2), heights[-1]) if heights else None
    return Line(width=width, height=height, path=" ".join(moves), end=end)


def spans(
    figures: Sequence[tuple[str, float, float, float, str]], told: Told, *, low: float = 0.0, high: float = 1.0,
    width: float = 460, row: float = 34,
) -> Spans:  # fmt: skip
    """Return dots with their intervals from (name, value, low, high, tone), one below the other on an axis."""

    def place(number: float) -> float:
        return scaled(number, low, high, width)

    marks = [low + (high - low) * n / 4 for n in range(5)] if high > low else [low]
    drawn = [
        Span(
            name=name, y=round((n + 0.5) * row, 2), at=place(at), low=place(min(begin, at)), high=place(max(end, at)),
            told=f"{told(at)} ({told(begin)} … {told(end)})", tone=tone,
        )
        for n, (name, at, begin, end, tone) in enumerate(figures)
    ]  # fmt: skip
    return Spans(
        width=width, height=round(max(1, len(drawn)) * row, 2), spans=tuple(drawn),
        room=max([_NAME, *(_LETTER * len(each.name) + _NAME / 4 for each in drawn)]),
        ticks=tuple(Mark(at=place(each), text=told(each)) for each in marks),
        zero=place(0.0) if low < 0 < high else None,
    )  # fmt: skip
