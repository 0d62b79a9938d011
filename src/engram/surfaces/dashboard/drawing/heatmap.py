"""A calendar heatmap of a year: weeks are columns, and colour shows the activity of a day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from engram.platform.value import value
from engram.surfaces.dashboard.drawing.plot import AxisLabel

_SIDE, _STEP = 11, 14  # size of a cell, and distance between cells
_LEFT, _ABOVE = 30, 18  # space for weekday and month labels


@value
class Cell:
    """The cell of one day."""

    x: int
    y: int
    day: str
    level: int
    title: str


@value
class Heatmap:
    """The cells and labels of a year up to today."""

    width: int
    height: int
    side: int
    cells: tuple[Cell, ...]
    months: tuple[AxisLabel, ...]
    weekdays: tuple[AxisLabel, ...]
    description: str  # description for screen readers


def build_heatmap(counts: Mapping[str, tuple[int, str]], today: date, weeks: int = 53) -> Heatmap:
    """Return the heatmap of the last weeks, from the count and description of each day."""
    first = today - timedelta(days=today.weekday(), weeks=weeks - 1)
    days = [first + timedelta(days=n) for n in range((today - first).days + 1)]
    bounds = find_quartiles([counts[str(day)][0] for day in days if str(day) in counts])
    cells = [_build_cell(day, (day - first).days, *counts.get(str(day), (0, "no activity")), bounds) for day in days]
    busy = [cell for cell in cells if cell.level]
    best = max(busy, key=lambda cell: counts[cell.day][0], default=None)
    description = f"{len(busy)} active days" + (f", most on {best.title}" if best else "")
    return Heatmap(
        width=_LEFT + weeks * _STEP,
        height=_ABOVE + 7 * _STEP,
        side=_SIDE,
        cells=tuple(cells),
        months=_label_months(days, first),
        description=description,
        weekdays=tuple(
            AxisLabel(at=_ABOVE + n * _STEP + 9, text=name) for n, name in ((0, "Mon"), (2, "Wed"), (4, "Fri"))
        ),
    )


def find_quartiles(counts: Sequence[int]) -> tuple[int, ...]:
    """Return the quartiles of the active days, so that one extreme day does not fade the others."""
    busy = sorted(count for count in counts if count > 0)
    return tuple(busy[len(busy) * n // 4] for n in (1, 2, 3)) if busy else ()


def compute_level(count: int, bounds: Sequence[int]) -> int:
    """Return the level of a day: 0 without activity, else its quartile from 1 to 4."""
    return 1 + sum(count > bound for bound in bounds) if count > 0 else 0


def _build_cell(day: date, number: int, count: int, day_text: str, bounds: Sequence[int]) -> Cell:
    return Cell(
        x=_LEFT + number // 7 * _STEP, y=_ABOVE + number % 7 * _STEP, day=str(day), level=compute_level(count, bounds),
        title=f"{day:%a}, {day.day} {day:%b %Y}: {day_text}",
    )  # fmt: skip


def _label_months(days: list[date], first: date) -> tuple[AxisLabel, ...]:
    """Return a label at the first week of each month."""
    begins = [day for day in days if day.day == 1]
    return tuple(AxisLabel(at=_LEFT + (day - first).days // 7 * _STEP, text=f"{day:%b}") for day in begins)
