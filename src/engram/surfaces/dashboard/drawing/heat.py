"""A year as a field of days, weeks as columns: the more was done, the stronger the colour. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from engram.surfaces.dashboard.drawing.plot import Mark
from engram.value import value

_SIDE, _STEP = 11, 14  # of a day, and from one to the next
_LEFT, _ABOVE = 30, 18  # room for the names of weekdays and months


@value
class Cell:
    """One day."""

    x: int
    y: int
    day: str
    level: int
    title: str


@value
class Heat:
    """All days of a year, up to today."""

    width: int
    height: int
    side: int
    cells: tuple[Cell, ...]
    months: tuple[Mark, ...]
    weekdays: tuple[Mark, ...]
    gist: str  # the whole in a sentence


def heat(counts: Mapping[str, tuple[int, str]], today: date, weeks: int = 53) -> Heat:
    """Return the field of so many weeks up to today, from the count of each day and what is said of it."""
    first = today - timedelta(days=today.weekday(), weeks=weeks - 1)
    days = [first + timedelta(days=n) for n in range((today - first).days + 1)]
    bounds = quarters([counts[str(day)][0] for day in days if str(day) in counts])
    cells = [_cell(day, (day - first).days, *counts.get(str(day), (0, "nothing")), bounds) for day in days]
    busy = [cell for cell in cells if cell.level]
    best = max(busy, key=lambda cell: counts[cell.day][0], default=None)
    gist = f"{len(busy)} days with something done" + (f", most on {best.title}" if best else "")
    return Heat(
        width=_LEFT + weeks * _STEP, height=_ABOVE + 7 * _STEP, side=_SIDE, cells=tuple(cells),
        months=_months(days, first), gist=gist,
        weekdays=tuple(Mark(at=_ABOVE + n * _STEP + 9, text=name) for n, name in ((0, "Mon"), (2, "Wed"), (4, "Fri"))),
    )  # fmt: skip


def quarters(counts: Sequence[int]) -> tuple[int, ...]:
    """Return the counts that part the days with something into four: one great day does not pale the others."""
    busy = sorted(count for count in counts if count > 0)
    return tuple(busy[len(busy) * n // 4] for n in (1, 2, 3)) if busy else ()


def level(count: int, bounds: Sequence[int]) -> int:
    """Return how strong a day is: 0 for none, else 1 to 4 by the quarter it is in."""
    return 1 + sum(count > bound for bound in bounds) if count > 0 else 0


def _cell(day: date, number: int, count: int, said: str, bounds: Sequence[int]) -> Cell:
    return Cell(
        x=_LEFT + number // 7 * _STEP, y=_ABOVE + number % 7 * _STEP, day=str(day), level=level(count, bounds),
        title=f"{day:%a}, {day.day} {day:%b %Y}: {said}",
    )  # fmt: skip


def _months(days: list[date], first: date) -> tuple[Mark, ...]:
    """Return where each month begins."""
    begins = [day for day in days if day.day == 1]
    return tuple(Mark(at=_LEFT + (day - first).days // 7 * _STEP, text=f"{day:%b}") for day in begins)
