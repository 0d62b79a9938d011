"""The Timeline page: the year, the months, spending, and the dream."""

from __future__ import annotations

import re
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.surfaces.dashboard.pages import dreams
from tests.capture.transcripts import Claude
from tests.summaries.talking import said
from tests.surfaces.dashboard.looking import Looker

HOSTILE = "<script>alert(1)</script>"


def talk(hub: Engram, session: str = "s1") -> str:
    """Record a message today; return the day."""
    now = datetime.now(UTC).replace(hour=0, minute=0, second=0)
    said(hub, session, now.isoformat(), "Do it", "Done.", "And that", "That too.")
    return str(hub.count_days()[-1].day)


def spend(hub: Engram, user: Path, cwd: str = "/home/me/app") -> None:
    work = Claude(user, cwd=cwd)
    work.says("Add two numbers")
    work.answers("Done.", output=1_000_000)
    hub.ingest()
    hub.engine.run("update spent set slot = :now / 900000000", now=hub.now())


def test_a_model_without_a_price_is_named_on_every_page_with_costs(hub: Engram, looker: Looker, tmp_path: Path) -> None:
    work = Claude(tmp_path / "user")
    work.says("Add two numbers")
    work.answers("Done.", output=500, model="house-model-1", cache_creation_input_tokens=20)
    hub.ingest()
    (capture,) = hub.list_sessions()
    hub.engine.run("update spent set slot = :now / 900000000", now=hub.now())
    assert "No price for house-model-1" in looker.page("/timeline/spending", part=True)
    assert "no price" in looker.page("/sessions")
    page = looker.page(f"/sessions/{capture.session.id}")
    assert page.count("no price for house-model-1") == 2
    assert "625 tokens" in page
    assert "5 in, 500 out, 100 from cache, 20 to cache" in page


def ended(hub: Engram) -> None:
    """Wait until the requested pass has finished."""
    for thread in threading.enumerate():
        if thread.daemon and thread.name.startswith("Thread-"):
            thread.join(30)
    task = dreams.find_task(hub)
    assert task is not None
    assert not task.is_under_way


def test_an_empty_store_says_what_to_do(looker: Looker) -> None:
    page = looker.page("/timeline")
    assert "engram ingest" in page
    assert "engram summarize" in page
    assert "No passes yet" in looker.page("/timeline/dream", part=True)
    assert "engram ingest" in looker.page("/timeline/spending", part=True)


def test_a_day_with_something_links_to_its_sessions(hub: Engram, looker: Looker) -> None:
    day = talk(hub)
    page = looker.page("/timeline")
    assert page.count(f'href="/sessions?since={day}&amp;until={day}"') == 2  # in the field and in the table
    assert "1 session, 2 prompts, 2 answers" in page


def test_months_are_anchors_the_newest_first_and_two_of_them_open(hub: Engram, looker: Looker) -> None:
    for month in ("2026-01", "2026-03", "2026-02"):
        hub.store_era(month, f"In {month} **much** was done. {HOSTILE}", 1)
    page = looker.page("/timeline")
    assert re.findall(r'<details class="era" id="([\d-]+)" data-item( open)?', page) == [
        ("2026-03", " open"), ("2026-02", " open"), ("2026-01", ""),
    ]  # fmt: skip
    assert page.count("<strong>much</strong>") == 2
    assert HOSTILE not in page


def test_a_month_that_is_unfolded_is_fetched(hub: Engram, looker: Looker) -> None:
    hub.store_era("2026-01", f"In January **much** was done. {HOSTILE}", 1)
    part, page = looker.page("/timeline/months/2026-01", part=True), looker.page("/timeline/months/2026-01")
    assert "<strong>much</strong>" in part
    assert "<html" not in part
    assert "<h1>2026-01</h1>" in page
    assert HOSTILE not in part + page.partition("<main")[2]
    assert looker.get("/timeline/months/1999-01").status_code == 404


def test_profile_and_narrative_come_with_version_and_maker(hub: Engram, looker: Looker) -> None:
    hub.set_profile("Lives in Bremen.")
    hub.set_profile(f"Lives in *Oslo*. {HOSTILE}")
    hub.set_narrative("The harbour is nearly done.")
    page = looker.page("/timeline")
    assert "profile, version 2, written by given" in page
    assert "<em>Oslo</em>" in page
    assert "The harbour is nearly done." in page
    assert HOSTILE not in page


@pytest.mark.usefixtures("home")
def test_spending_is_drawn_in_parts(hub: Engram, looker: Looker, home: Path) -> None:
    spend(hub, home)
    page = looker.page("/timeline/spending?days=90&by=model&unit=money", part=True)
    assert "claude-sonnet-4-5: $15.00" in page
    assert '<svg class="plot stack" role="img"' in page
    assert "1.0M" in looker.page("/timeline/spending?by=project&unit=tokens", part=True)
    assert 'class="tone-claude"' in looker.page("/timeline/spending?by=flavor", part=True)


def test_the_address_follows_what_is_chosen_and_not_what_is_loaded(looker: Looker) -> None:
    path = "/timeline/spending?days=90&by=model&unit=tokens"
    chosen = looker.get(path, True, {"hx-trigger": "spending-choice"})
    assert chosen.headers["hx-replace-url"] == "/timeline?days=90&by=model&unit=tokens"
    assert "hx-replace-url" not in looker.get(path, True).headers
    assert "/timeline/spending?days=90&amp;by=model&amp;unit=tokens" in looker.page(
        "/timeline?days=90&by=model&unit=tokens"
    )


@pytest.mark.parametrize("query", ["days=7", "by=session", "unit=euros", "days=-1", "by=<b>"])
def test_what_cannot_be_chosen_is_refused(looker: Looker, query: str) -> None:
    for path in ("/timeline", "/timeline/spending"):
        answer = looker.get(f"{path}?{query}")
        assert answer.status_code == 400
        assert "Choose one of" in answer.text
        assert "<b>" not in answer.text.partition("<main")[2]


@pytest.mark.usefixtures("home")
def test_projects_of_one_name_are_distinguished(hub: Engram, looker: Looker, home: Path) -> None:
    for cwd in ("/home/me/app", "/srv/app", "/home/me/site"):
        spend(hub, home, cwd)
    page = looker.page("/timeline/spending?by=project", part=True)
    for name in ("me/app", "srv/app", "site"):
        assert f"<span>{name}</span>" in page


def test_drives_are_shown_with_their_thresholds(looker: Looker) -> None:
    part = looker.page("/timeline/dream", part=True)
    for name in ("continuity", "coherence", "curiosity", "hygiene", "stability"):
        assert f"<b>{name}</b>" in part
    assert "nothing to do" in part


def test_a_pass_runs_in_the_background_and_reports_when_it_has_finished(hub: Engram, looker: Looker) -> None:
    talk(hub)
    begun = looker.post("/timeline/dream", part=True, force="yes")
    assert begun.status_code == 200
    ended(hub)
    response = looker.get("/timeline/dreaming", True)
    assert response.headers["hx-trigger"] == "dreamt"
    assert "Pass 1 finished" in response.text
    assert "hx-trigger=" not in response.text  # it is not started again
    part = looker.page("/timeline/dream", part=True)
    assert "<b>Pass 1</b>" in part
    assert "Undo pass 1" in part


def test_a_second_pass_is_refused_while_one_is_under_way(
    hub: Engram, looker: Looker, monkeypatch: pytest.MonkeyPatch
) -> None:
    going, may_end, dream = threading.Event(), threading.Event(), Engram.dream

    def slow(engram: Engram, **how: Any) -> object:
        going.set()
        may_end.wait(30)
        return dream(engram, **how)

    monkeypatch.setattr(Engram, "dream", slow)
    assert "A pass is running" in looker.post("/timeline/dream", part=True).text
    assert going.wait(30)
    refused = looker.post("/timeline/dream", part=True)
    assert refused.status_code == 409
    assert "already running" in refused.text
    assert 'hx-trigger="every 2s"' in looker.page("/timeline/dreaming", part=True)
    may_end.set()
    ended(hub)


def test_a_pass_of_another_process_is_shown_and_not_disturbed(hub: Engram, looker: Looker) -> None:
    from engram.dream.lease import Lease

    talk(hub)
    with Lease(hub):
        looker.post("/timeline/dream", part=True, force="yes")
        ended(hub)
        assert "A dream is already running on this store" in looker.page("/timeline/dreaming", part=True)


def test_a_pass_is_undone_once(hub: Engram, looker: Looker) -> None:
    talk(hub)
    hub.dream(force=True)
    undone = looker.post("/timeline/passes/1/undo", part=True)
    assert "Pass 1 was undone" in undone.text
    assert "told" in undone.headers["hx-trigger"]
    assert "Undo pass 1" not in undone.text
    again = looker.post("/timeline/passes/1/undo", part=True)
    assert again.status_code == 400
    assert "already undone" in again.text


@pytest.mark.parametrize("number", ["x", "-1", "9" * 30, "²"])
def test_an_unknown_pass_is_refused(looker: Looker, number: str) -> None:
    assert looker.post(f"/timeline/passes/{number}/undo", part=True).status_code in (400, 404)


def test_without_a_script_a_form_leads_back_to_the_page(hub: Engram, looker: Looker) -> None:
    answer = looker.post("/timeline/dream")
    assert (answer.status_code, answer.headers["location"]) == (303, "/timeline#dream")
    ended(hub)
    for path in ("/timeline/dream", "/timeline/spending"):
        assert "<!doctype html>" in looker.page(path)
