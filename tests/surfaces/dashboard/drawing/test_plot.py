"""Plots: marks are always on the canvas, whatever the figures."""

from __future__ import annotations

import math
import re
from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.surfaces.dashboard.drawing import heatmap, plot

ANY = st.floats(allow_nan=True, allow_infinity=True) | st.integers(-(10**30), 10**30).map(float)
DAYS = [f"2026-11-{n:02}" for n in range(1, 31)]
AMOUNTS = st.dictionaries(st.tuples(st.sampled_from(DAYS), st.text(max_size=3)), ANY, max_size=80)


def told(number: float) -> str:
    return f"{number:g}"


@given(ANY, ANY, ANY, st.floats(0, 5000))
def test_a_place_is_on_the_axis(number: float, low: float, high: float, size: float) -> None:
    assert 0 <= plot.scale_number(number, low, high, size) <= round(size, 2)


@given(ANY)
def test_ticks_are_round_few_and_reach_the_top(top: float) -> None:
    result = plot.compute_ticks(top)
    assert result[0] == 0
    assert result == sorted(set(result))
    assert 2 <= len(result) <= 6
    assert result[-1] >= min(plot.clamp_number(top), 1e15) * (1 - 1e-6)


@given(AMOUNTS, st.integers(0, 30))
def test_bars_stay_in_the_box_and_do_not_lie_on_each_other(amounts: dict[tuple[str, str], float], count: int) -> None:
    drawn = plot.build_stack(DAYS[:count], amounts, told, {})
    columns: dict[float, list[plot.StackBar]] = {}
    for bar in drawn.bars:
        assert all(math.isfinite(each) for each in (bar.x, bar.y, bar.width, bar.height))
        assert bar.x >= 0
        assert bar.x + bar.width <= drawn.width + 0.02
        assert bar.y >= 0
        assert bar.y + bar.height <= drawn.height + 0.02
        columns.setdefault(bar.x, []).append(bar)
    for bars in columns.values():
        for below, above in pairwise(bars):
            assert above.y + above.height <= below.y + 0.02


@given(AMOUNTS)
def test_the_parts_are_few_and_come_to_the_whole(amounts: dict[tuple[str, str], float]) -> None:
    drawn = plot.build_stack(DAYS, amounts, told, {})
    assert len(drawn.parts) <= plot.MAX_PARTS
    assert len({part.name for part in drawn.parts}) == len(drawn.parts)
    assert drawn.total == pytest.approx(plot.clamp_number(sum(sum(figures) for _, figures in drawn.rows)), rel=1e-6)


def test_the_greatest_part_lies_lowest_and_what_is_little_is_one_rest() -> None:
    amounts = {(DAYS[0], f"m{n}"): float(100 - n) for n in range(20)}
    drawn = plot.build_stack(DAYS[:2], amounts, told, {"m0": "tone-claude"})
    assert [part.name for part in drawn.parts] == [*(f"m{n}" for n in range(7)), plot.REST]
    assert [part.tone for part in drawn.parts][:2] == ["tone-claude", "tone-1"]
    assert drawn.parts[-1].total == sum(100 - n for n in range(7, 20))
    assert drawn.bars[0].title == "2026-11-01, m0: 100"
    assert drawn.bars[0].y > drawn.bars[1].y


def test_nothing_is_drawn_of_nothing() -> None:
    drawn = plot.build_stack(DAYS, {}, told, {})
    assert (drawn.bars, drawn.parts, drawn.rows, drawn.total) == ((), (), (), 0)
    assert plot.build_stack([], {}, told, {}).days == ()
    assert (plot.build_step_line([]).path, plot.build_step_line([]).end) == ("", None)
    assert plot.build_intervals([], told).spans == ()


@given(st.lists(ANY, min_size=1, max_size=50))
def test_a_line_has_only_numbers_of_the_box(levels: list[float]) -> None:
    drawn = plot.build_step_line(levels, 160, 36)
    assert re.fullmatch(r"[MVH0-9., ]+", drawn.path)
    assert all(0 <= float(match) <= 160 for match in re.findall(r"[0-9.]+", drawn.path))
    assert drawn.end is not None
    assert drawn.end[0] == 160


def test_one_level_is_a_flat_line() -> None:
    assert plot.build_step_line([0.5], 100, 40).path == "M0,20.0 H100.0"


@given(st.lists(st.tuples(st.text(max_size=5), ANY, ANY, ANY), max_size=8), ANY, ANY)
def test_intervals_hold_their_dot_and_stay_on_the_axis(
    figures: list[tuple[str, float, float, float]], low: float, high: float
) -> None:
    drawn = plot.build_intervals(
        [(*figure, "") for figure in figures], told, low=plot.clamp_number(low), high=plot.clamp_number(high)
    )
    for span in drawn.spans:
        assert 0 <= span.at <= drawn.width
        assert 0 <= span.low <= drawn.width
        assert 0 <= span.high <= drawn.width
        assert 0 <= span.y <= drawn.height
    assert drawn.zero is None or 0 <= drawn.zero <= drawn.width


def test_nothing_changed_is_in_the_middle_of_a_change() -> None:
    drawn = plot.build_intervals([("change", -0.2, -0.3, -0.1, "good")], told, low=-0.4, high=0.4, width=400)
    (span,) = drawn.spans
    assert (drawn.zero, span.low, span.at, span.high) == (200, 50, 100, 150)
    assert plot.build_intervals([("rate", 0.2, 0.1, 0.3, "")], told).zero is None


@given(st.dates(date(1990, 1, 1), date(2090, 1, 1)), st.lists(st.integers(0, 10**12), max_size=60))
def test_a_year_is_a_field_of_seven_rows_up_to_today(today: date, counts: list[int]) -> None:
    said = {str(today - timedelta(days=n)): (count, "x") for n, count in enumerate(counts)}
    drawn = heatmap.build_heatmap(said, today)
    assert drawn.cells[-1].day == str(today)
    assert len(drawn.cells) == 52 * 7 + today.weekday() + 1
    assert len({cell.y for cell in drawn.cells}) == 7
    assert len({(cell.x, cell.y) for cell in drawn.cells}) == len(drawn.cells)
    for cell in drawn.cells:
        assert cell.x + drawn.side <= drawn.width
        assert cell.y + drawn.side <= drawn.height
        assert (cell.level > 0) == (said.get(cell.day, (0, ""))[0] > 0)
        assert 0 <= cell.level <= 4


def test_one_great_day_does_not_pale_the_others() -> None:
    bounds = heatmap.find_quartiles([1, 2, 3, 4, 5, 6, 7, 100_000])
    assert [heatmap.compute_level(count, bounds) for count in (0, 1, 4, 6, 100_000)] == [0, 1, 2, 3, 4]
