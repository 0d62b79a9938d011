"""Activity per day, in the user's time zone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engram import Engram, InvalidInput
from engram.capture.digests.daily_activity import Day
from tests.conftest import ManualClock
from tests.summaries.talking import said

LONG = 3_660  # days


@pytest.fixture
def engram(store: str, tmp_path: Path) -> Iterator[Engram]:
    """A store whose user lives where clocks change twice a year."""
    with Engram(store=store, home=str(tmp_path / "home"), timezone="Europe/Berlin") as opened:
        yield opened


def test_a_day_counts_sessions_prompts_and_answers(engram: Engram) -> None:
    said(engram, "s1", "2026-01-10T12:00:00+00:00", "Do it", "Done.", "And that", "user: too")
    said(engram, "s2", "2026-01-10T15:00:00+00:00", "Hello", "assistant: Hi.", "tool: output", "assistant: There.")
    said(engram, "s1", "2026-01-12T12:00:00+00:00", "assistant: Still at it.")
    assert engram.count_days(LONG) == [
        Day(day="2026-01-10", sessions=2, prompts=4, answers=3),
        Day(day="2026-01-12", sessions=0, prompts=0, answers=1),
    ]


def test_a_day_ends_at_the_users_midnight_in_winter_and_in_summer(engram: Engram) -> None:
    said(engram, "winter", "2025-12-01T22:59:00+00:00", "user: before midnight", "user: after it")
    said(engram, "summer", "2025-07-01T21:59:00+00:00", "user: before midnight", "user: after it")
    prompts = {day.day: day.prompts for day in engram.count_days(LONG)}
    assert prompts == {"2025-12-01": 1, "2025-12-02": 1, "2025-07-01": 1, "2025-07-02": 1}


def test_the_days_on_which_clocks_are_set_have_23_and_25_hours(engram: Engram) -> None:
    said(engram, "spring", "2025-03-29T23:00:00+00:00", "user: first minute of the day")
    said(engram, "spring", "2025-03-30T21:59:00+00:00", "user: its last", "user: the next day")
    said(engram, "autumn", "2025-10-25T22:00:00+00:00", "user: first minute of the day")
    said(engram, "autumn", "2025-10-26T22:59:00+00:00", "user: its last", "user: the next day")
    prompts = {day.day: day.prompts for day in engram.count_days(LONG)}
    assert prompts == {"2025-03-30": 2, "2025-03-31": 1, "2025-10-26": 2, "2025-10-27": 1}


def test_only_the_days_that_are_asked_for_count_and_none_to_come(tmp_path: Path, clock: ManualClock) -> None:
    with Engram(tmp_path / "home", timezone="Europe/Berlin", clock=clock) as engram:  # it is 2027-01-15 there
        said(engram, "s", "2027-01-13T22:59:00+00:00", "user: too old", "user: yesterday")
        said(engram, "s", "2027-01-15T10:00:00+00:00", "user: today")
        said(engram, "s", "2027-01-15T23:00:00+00:00", "user: tomorrow")
        assert [day.day for day in engram.count_days(2)] == ["2027-01-14", "2027-01-15"]


def test_one_project_and_one_agent_count_alone(engram: Engram) -> None:
    for flavor, project in (("claude", "/a"), ("codex", "/a"), ("claude", "/b")):
        session = engram.register("work", "something", flavor=flavor, project=project, native_id=f"{flavor}{project}")
        said(engram, session, "2026-01-10T12:00:00+00:00", "Do it", "Done.")
    assert [day.sessions for day in engram.count_days(LONG)] == [3]
    assert [day.sessions for day in engram.count_days(LONG, project="/a")] == [2]
    assert [day.answers for day in engram.count_days(LONG, project="/a", flavor="claude")] == [1]
    assert engram.count_days(LONG, flavor="gemini") == []


def test_no_days_are_none(engram: Engram) -> None:
    with pytest.raises(InvalidInput, match="above 0"):
        engram.count_days(0)
