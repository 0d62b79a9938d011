"""Drives: backlog and waiting raise them, and every number has a reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.clock import HOUR, to_datetime
from engram.dream.priorities import (
    STABILITY,
    WORKING,
    Drive,
    PressureCount,
    build_drive,
    build_stability,
    compute_pressure,
)

NOW = 1_800_000_000_000_000
COUNTS = st.integers(0, 10_000)


def counted(count: float, half: float = 2) -> PressureCount:
    return PressureCount(count, half, "session to summarize", "sessions to summarize")


def test_nothing_presses_with_nothing() -> None:
    drive = build_drive("continuity", (counted(0),), None, NOW, 0.5, 24)
    assert (drive.level, drive.since, drive.is_due, drive.why) == (0.0, None, False, "nothing to do")


def test_the_half_presses_with_a_half_and_twice_the_half_with_three_quarters() -> None:
    assert compute_pressure((counted(2),)) == 0.5
    assert compute_pressure((counted(4),)) == 0.75
    assert compute_pressure((counted(2), counted(2))) == 0.75


@given(COUNTS, COUNTS)
def test_more_never_presses_less_and_never_more_than_everything(few: int, more: int) -> None:
    low, high = sorted((few, more))
    assert 0 <= compute_pressure((counted(low),)) <= compute_pressure((counted(high),)) <= 1


def test_what_waits_for_the_patience_fills_half_of_what_was_open() -> None:
    before = {"since": to_datetime(NOW - 24 * HOUR).isoformat()}
    drive = build_drive("continuity", (counted(2),), before, NOW, 0.5, 24)
    assert drive.level == pytest.approx(0.75)
    assert drive.since == NOW - 24 * HOUR
    assert drive.why == "2 sessions to summarize, waiting for 24 h"


def test_a_single_small_thing_is_due_in_the_end() -> None:
    small = (PressureCount(1, 40, "new turn", "new turns"),)
    assert not build_drive("continuity", small, None, NOW, 0.5, 24).is_due
    assert build_drive("continuity", small, {"since": to_datetime(NOW - 24 * HOUR).isoformat()}, NOW, 0.5, 24).is_due


@pytest.mark.parametrize("before", [None, {}, {"since": "nonsense"}, {"since": 5}, {"level": 1}, "x", []])
def test_a_broken_memory_of_a_drive_begins_anew(before: object) -> None:
    assert build_drive("continuity", (counted(1),), before, NOW, 0.5, 24).since == NOW


def test_a_drive_that_pressed_in_the_future_begins_now() -> None:
    ahead = {"since": to_datetime(NOW + HOUR).isoformat()}
    assert build_drive("continuity", (counted(1),), ahead, NOW, 0.5, 24).since == NOW


def test_stability_is_what_the_strongest_drive_leaves_and_is_never_due() -> None:
    def drive(name: str, level: float) -> Drive:
        return Drive(name=name, level=level, pressure=level, threshold=0.5, since=None, why="")

    drives = {name: drive(name, 0.1) for name in WORKING} | {"curiosity": drive("curiosity", 0.7)}
    stability = build_stability(drives)
    assert (stability.name, stability.level, stability.is_due) == (STABILITY, 0.3, False)
    assert stability.why == "curiosity is at 0.70"
