"""The page of health: room, failures, the model, hooks, findings, the check."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from pathlib import Path

import pytest

from engram import Engram
from engram.clock import moment
from engram.store import hook_log
from tests.conftest import ManualClock
from tests.llm.speaking import says, speaking
from tests.memory.talking import said
from tests.surfaces.dashboard.looking import Looker

TALK = (
    "Please make the export of invoices faster, it takes an hour.",
    "The export reads every row twice. I will use one query instead.",
    "We decided to keep the CSV format because accounting depends on it.",
    "Done: the export takes four minutes now. The archive is still to be moved.",
)


def part(looker: Looker, name: str) -> str:
    return looker.page(f"/health/{name}", part=True)


def settled(looker: Looker, name: str) -> str:
    """Return a part once what it tells of is over."""
    while 'hx-trigger="every' in (found := part(looker, name)):
        time.sleep(0.05)
    return found


def test_the_page_comes_first_and_what_is_slow_after_it(looker: Looker) -> None:
    page = looker.page("/health")
    for name in ("storage", "doctor", "model"):
        assert f'hx-get="/health/{name}" hx-trigger="load"' in page
    assert "Nothing failed" in page
    assert "No agent has called yet" in page


@pytest.mark.parametrize("name", ["storage", "doctor", "model", "failures", "check"])
def test_without_a_script_each_part_is_a_page_of_its_own(looker: Looker, name: str) -> None:
    assert "<html" in looker.page(f"/health/{name}")
    assert "<html" not in part(looker, name)


def test_room_is_told_against_its_caps(looker: Looker) -> None:
    found = part(looker, "storage")
    assert '<meter aria-labelledby="bodies-of" min="0" max="4000000000" high="2000000000"' in found
    assert "there are never more than 4.0 GB" in found


def test_hooks_have_a_row_and_a_bar_each(hub: Engram, looker: Looker) -> None:
    for milliseconds in (10, 20, 50):
        hook_log.note(hub.settings.home, "claude", "Stop", milliseconds / 1000)
    hook_log.note(hub.settings.home, "codex", "Stop", 0.2, "StoreBusy: <b>busy</b>")
    page = looker.page("/health")
    assert 'aria-label="p50 20 ms, p95 50 ms"' in page
    assert 'width="10.0"' in page  # 20 of 200 ms, the slowest
    assert "1 of the last 1 failed" in page
    assert "&lt;b&gt;busy" in page


def test_findings_come_with_the_command_that_mends_them(hub: Engram, looker: Looker, tmp_path: Path) -> None:
    hook_log.note(hub.settings.home, "claude", "Stop", 0.01)
    found = part(looker, "doctor")
    levels = re.findall(r"(✕ problem|⚠ warning|✓ well)</span>", found)
    assert levels == sorted(levels, key=["✕ problem", "⚠ warning", "✓ well"].index)
    mends = [each.mend for each in hub.doctor() if each.mend]
    assert len(re.findall(r"data-copy-text=", found)) == len(mends)


def test_no_model_is_no_fault(looker: Looker) -> None:
    found = part(looker, "model")
    assert "No model is chosen" in found
    assert "Try it" not in found


def test_a_failed_flush_is_retried_by_a_button(store: str, tmp_path: Path, clock: ManualClock) -> None:
    home = str(tmp_path / "home")
    with speaking(says({}, 529)) as api:
        choices = {"model": "openai", "model_name": "scripted", "model_url": f"{api.url}/v1", "clock": clock}
        with Engram(store=store, home=home, serving=True, **choices) as hub:  # type: ignore[arg-type]
            looker = Looker(hub)
            for name in ("talk", "other"):
                said(hub, name, (moment(hub.now()) - timedelta(hours=1)).isoformat(), *TALK)
            hub.flush()
            assert part(looker, "failures").count(">Retry<") == 2
            found = looker.post("/health/failures", part=True, session="talk").text
            assert "tried 2 times" in found
            assert "not ready" in looker.post("/health/model", part=True).text
    with Engram(store=store, home=home, serving=True) as hub:
        looker = Looker(hub)
        assert looker.post("/health/failures", session="talk").headers["location"] == "/health#failures"
        assert [each.session_id for each in hub.list_failures()] == ["other"]
        looker.post("/health/failures", part=True)
        assert "1 session tried again, none failed." in settled(looker, "failures")
        assert hub.list_failures() == []


def test_the_store_is_checked_in_the_background(hub: Engram, looker: Looker) -> None:
    assert "Check the store now" in part(looker, "check")
    looker.post("/health/check", part=True)
    found = settled(looker, "check")
    assert "✓ sound" in found
    assert "Check the store again" in found


def test_a_check_that_finds_something_says_what(hub: Engram, looker: Looker, tmp_path: Path) -> None:
    from tests.capture.transcripts import Claude

    talk = Claude(tmp_path)
    talk.says("please fix the parser")
    hub.ingest([str(tmp_path)])
    hub.engine.run("update captures set events = events + 1")
    looker.post("/health/check", part=True)
    found = settled(looker, "check")
    assert "sessions counted wrong" in found
    assert "engram check --repair" in found
