"""The gate: what is due, whatever the clock and the settings."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.clock import HOUR, MINUTE
from engram.wiki.vault import due_logs

NOW = 1_790_000_000_000_000
DAY, NEXT = "2026-09-21", "2026-09-22"
junk = st.one_of(st.none(), st.integers(), st.text(), st.booleans(), st.lists(st.integers()), st.floats())


def at(microseconds: int) -> str:
    from engram.clock import to_datetime

    return to_datetime(microseconds).isoformat()


def test_what_was_never_compiled_is_due() -> None:
    assert due_logs.find_wait_reason({}, DAY, DAY, NOW, 60) == ""


def test_today_waits_for_the_interval() -> None:
    log = {"compiled_at": at(NOW - 59 * MINUTE)}
    assert due_logs.find_wait_reason(log, DAY, DAY, NOW, 60) == "compiled 59 min ago, due again after 60 min"
    assert due_logs.find_wait_reason(log, DAY, DAY, NOW + MINUTE, 60) == ""


def test_the_tail_of_a_past_day_is_due_at_once() -> None:
    assert due_logs.find_wait_reason({"compiled_at": at(NOW - MINUTE)}, DAY, NEXT, NOW, 60) == ""


@pytest.mark.parametrize("said", ["yesterday", None, 7, "", "2026-13-99T00:00:00", [], at(NOW + 5 * HOUR)])
def test_a_time_nobody_can_read_or_that_is_yet_to_come_blocks_nothing(said: Any) -> None:
    assert due_logs.find_wait_reason({"compiled_at": said}, DAY, DAY, NOW, 60) == ""


@pytest.mark.parametrize("minutes", [0, -5, None, "soon", 1.5, "60"])
def test_an_interval_that_is_none_is_the_usual_one(minutes: Any) -> None:
    assert "after 60 min" in due_logs.find_wait_reason({"compiled_at": at(NOW)}, DAY, DAY, NOW, minutes)


def test_a_naive_time_is_of_the_machines_zone() -> None:
    from datetime import datetime

    local = datetime.fromtimestamp((NOW - MINUTE) / 1_000_000).isoformat()
    assert due_logs.find_wait_reason({"compiled_at": local}, DAY, DAY, NOW, 60) != ""


def test_a_failure_is_tried_again_later_and_later_but_every_day() -> None:
    log: dict[str, Any] = {"hash": "x", "compiled_at": at(NOW - 5 * HOUR)}
    pauses = []
    for _ in range(12):
        log = due_logs.record_failure(log, "no answer", NOW)
        pauses.append((log["next_at"] - NOW) // MINUTE)
        assert "no answer" in due_logs.find_wait_reason(log, DAY, NEXT, NOW, 60)
        assert due_logs.find_wait_reason(log, DAY, NEXT, log["next_at"], 60) == ""
    assert pauses[:4] == [5, 10, 20, 40]
    assert max(pauses) == 24 * 60
    assert log["hash"] == "x"


def test_a_clock_that_was_set_back_holds_no_failure_for_ever() -> None:
    log = due_logs.record_failure({}, "x", NOW)
    assert due_logs.find_wait_reason(log, DAY, NEXT, NOW - 72 * HOUR, 60) == ""


@given(st.dictionaries(st.sampled_from(["compiled_at", "tries", "next_at", "problem", "hash"]), junk), junk)
def test_whatever_the_state_says_the_gate_answers(log: dict[str, Any], minutes: Any) -> None:
    assert isinstance(due_logs.find_wait_reason(log, DAY, DAY, NOW, minutes), str)
    assert due_logs.record_failure(log, "x", NOW)["tries"] >= 1
