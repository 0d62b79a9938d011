"""Drives: counts press, waiting raises, and every number says why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.clock import HOUR, moment
from engram.dream.drives import STABILITY, WORKING, Count, Drive, built, pressure, stability

NOW = 1_800_000_000_000_000
COUNTS = st.integers(0, 10_000)


def counted(count: float, half: float = 2) -> Count:
    return Count(count, half, "ripe session", "ripe sessions")


def test_nothing_presses_with_nothing() -> None:
    drive = built("continuity", (counted(0),), None, NOW, 0.5, 24)
    assert (drive.level, drive.since, drive.is_due, drive.why) == (0.0, None, False, "nothing waits")


def test_the_half_presses_with_a_half_and_twice_the_half_with_three_quarters() -> None:
    assert pressure((counted(2),)) == 0.5
    assert pressure((counted(4),)) == 0.75
    assert pressure((counted(2), counted(2))) == 0.75


@given(COUNTS, COUNTS)
def test_more_never_presses_less_and_never_more_than_everything(few: int, more: int) -> None:
    low, high = sorted((few, more))
    assert 0 <= pressure((counted(low),)) <= pressure((counted(high),)) <= 1


def test_what_waits_for_the_patience_fills_half_of_what_was_open() -> None:
    before = {"since": moment(NOW - 24 * HOUR).isoformat()}
    drive = built("continuity", (counted(2),), before, NOW, 0.5, 24)
    assert drive.level == pytest.approx(0.75)
    assert drive.since == NOW - 24 * HOUR
    assert drive.why == "2 ripe sessions, waiting for 24 h"


def test_a_single_small_thing_is_due_in_the_end() -> None:
    small = (Count(1, 40, "new turn", "new turns"),)
    assert not built("continuity", small, None, NOW, 0.5, 24).is_due
    assert built("continuity", small, {"since": moment(NOW - 24 * HOUR).isoformat()}, NOW, 0.5, 24).is_due


@pytest.mark.parametrize("before", [None, {}, {"since": "nonsense"}, {"since": 5}, {"level": 1}, "x", []])
def test_a_broken_memory_of_a_drive_begins_anew(before: object) -> None:
    assert built("continuity", (counted(1),), before, NOW, 0.5, 24).since == NOW


def test_a_drive_that_pressed_in_the_future_begins_now() -> None:
    ahead = {"since": moment(NOW + HOUR).isoformat()}
    assert built("continuity", (counted(1),), ahead, NOW, 0.5, 24).since == NOW


def test_stability_is_what_the_strongest_drive_leaves_and_is_never_due() -> None:
    def drive(name: str, level: float) -> Drive:
        return Drive(name=name, level=level, pressure=level, threshold=0.5, since=None, why="")

    drives = {name: drive(name, 0.1) for name in WORKING} | {"curiosity": drive("curiosity", 0.7)}
    found = stability(drives)
    assert (found.name, found.level, found.is_due) == (STABILITY, 0.3, False)
    assert found.why == "curiosity is at 0.70"
