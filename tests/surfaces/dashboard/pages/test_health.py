"""The Health page: storage, failures, model, hooks, findings, store check."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from pathlib import Path

import pytest

from engram import Engram
from engram.clock import to_datetime
from engram.store import hook_log
from tests.conftest import ManualClock
from tests.models.speaking import says, speaking
from tests.summaries.talking import said
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
    """Return a part once its task has finished."""
    while 'hx-trigger="every' in (found := part(looker, name)):
        time.sleep(0.05)
    return found


def test_the_page_comes_first_and_slow_parts_after_it(looker: Looker) -> None:
    page = looker.page("/health")
    for name in ("storage", "doctor", "model"):
        assert f'hx-get="/health/{name}" hx-trigger="load"' in page
    assert "No failures" in page
    assert "No hook calls yet" in page


@pytest.mark.parametrize("name", ["storage", "doctor", "model", "failures", "check"])
def test_without_a_script_each_part_is_a_page_of_its_own(looker: Looker, name: str) -> None:
    assert "<html" in looker.page(f"/health/{name}")
    assert "<html" not in part(looker, name)


def test_storage_is_shown_against_its_limits(looker: Looker) -> None:
    result = part(looker, "storage")
    assert '<meter aria-labelledby="bodies-of" min="0" max="4000000000" high="2000000000"' in result
    assert "the maximum is 4.0 GB" in result


def test_hooks_have_a_row_and_a_bar_each(hub: Engram, looker: Looker) -> None:
    for milliseconds in (10, 20, 50):
        hook_log.write_entry(hub.settings.home, "claude", "Stop", milliseconds / 1000)
    hook_log.write_entry(hub.settings.home, "codex", "Stop", 0.2, "StoreBusy: <b>busy</b>")
    page = looker.page("/health")
    assert 'aria-label="p50 20 ms, p95 50 ms"' in page
    assert 'width="10.0"' in page  # 20 of 200 ms, the slowest
    assert "1 of the last 1 calls failed" in page
    assert "&lt;b&gt;busy" in page


def test_findings_come_with_the_command_that_fixes_them(hub: Engram, looker: Looker, tmp_path: Path) -> None:
    hook_log.write_entry(hub.settings.home, "claude", "Stop", 0.01)
    result = part(looker, "doctor")
    levels = re.findall(r"(✕ problem|⚠ warning|✓ well)</span>", result)
    assert levels == sorted(levels, key=["✕ problem", "⚠ warning", "✓ well"].index)
    mends = [finding.mend for finding in hub.doctor() if finding.mend]
    assert len(re.findall(r"data-copy-text=", result)) == len(mends)


def test_having_no_model_is_not_a_problem(looker: Looker) -> None:
    result = part(looker, "model")
    assert "No model is configured" in result
    assert "Try it" not in result


def test_a_failed_flush_is_retried_by_a_button(store: str, tmp_path: Path, clock: ManualClock) -> None:
    home = str(tmp_path / "home")
    with speaking(says({}, 529)) as api:
        choices = {"model": "openai", "model_name": "scripted", "model_url": f"{api.url}/v1", "clock": clock}
        with Engram(store=store, home=home, serving=True, **choices) as hub:  # type: ignore[arg-type]
            looker = Looker(hub)
            for name in ("talk", "other"):
                said(hub, name, (to_datetime(hub.now()) - timedelta(hours=1)).isoformat(), *TALK)
            hub.flush()
            assert part(looker, "failures").count(">Retry<") == 2
            text = looker.post("/health/failures", part=True, session="talk").text
            assert "2 attempts" in text
            assert "not ready" in looker.post("/health/model", part=True).text
    with Engram(store=store, home=home, serving=True) as hub:
        looker = Looker(hub)
        assert looker.post("/health/failures", session="talk").headers["location"] == "/health#failures"
        assert [failure.session_id for failure in hub.list_failures()] == ["other"]
        looker.post("/health/failures", part=True)
        assert "Retried 1 session; none failed." in settled(looker, "failures")
        assert hub.list_failures() == []


def test_the_store_is_checked_in_the_background(hub: Engram, looker: Looker) -> None:
    assert "Check the store now" in part(looker, "check")
    looker.post("/health/check", part=True)
    result = settled(looker, "check")
    assert "✓ no problems" in result
    assert "Check the store again" in result


def test_a_check_that_finds_something_says_what(hub: Engram, looker: Looker, tmp_path: Path) -> None:
    from tests.capture.transcripts import Claude

    talk = Claude(tmp_path)
    talk.says("please fix the parser")
    hub.ingest([str(tmp_path)])
    hub.engine.run("update captures set events = events + 1")
    looker.post("/health/check", part=True)
    result = settled(looker, "check")
    assert "session with a wrong event count" in result
    assert "engram check --repair" in result
