"""The whole tour in a real browser: watch, look up, read, decide, write."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.browser.site import PHONE, Site
from tests.live.conftest import live, runner
from tests.live.test_agents import project
from tests.patterns.writers import Claude
from tools import season

__all__ = ["live", "project", "runner"]
Make = Callable[..., Site]


def test_now_follows_a_real_agent_while_it_works(chromium: Any, live: Any, project: Path) -> None:
    turns = [
        {"tool": "write", "file": "calc.py", "content": "def add(a, b):\n    return a + b\n"},
        {"text": "calc.py is there."},
    ]
    agent = live("claude", {"turns": turns}).wired()
    agent.store.chmod(0o700)
    board = Site(agent.store, chromium)
    tab = board.open("/now")
    tab.evaluate("window.stayed = true")
    tab.get_by_text("live", exact=True).wait_for()
    work = threading.Thread(target=agent.run, args=("Create calc.py with an add function",))
    work.start()
    tab.get_by_text("Create calc.py with an add function").first.wait_for(timeout=90_000)
    assert tab.locator(".flavor.claude").count() >= 1
    work.join(120)
    assert tab.evaluate("window.stayed")
    board.close()


def test_the_board_changes_without_a_reload(site: Make) -> None:
    board = site()
    tab = board.open("/now")
    tab.evaluate("window.stayed = true")
    tab.get_by_text("live", exact=True).wait_for()
    with board.engram() as engram:
        ids = season.working(engram)
        tab.get_by_text("Put season tickets into src/prices.py").first.wait_for()
        tab.locator("time[data-until]").first.wait_for()
        engram.complete(ids["gemini"], "The winter timetable holds.")
        tab.get_by_text("The winter timetable holds.").first.wait_for()
    assert tab.evaluate("window.stayed")


def test_search_answers_while_one_types_and_leads_to_the_very_words(harbour: Site) -> None:
    tab = harbour.open("/sessions")
    tab.keyboard.press("/")
    tab.wait_for_url("**/search")
    tab.get_by_role("searchbox").press_sequentially("integer cents", delay=20)
    tab.locator(".hit mark").first.wait_for()
    assert "q=integer" in tab.url
    assert tab.locator(".hit mark").first.inner_text().lower() in ("integer", "cents")
    tab.locator("select[name=kind]").select_option(label="Conversations")
    tab.wait_for_url("**kind=talk**")  # what was found for everything is replaced by then
    tab.locator(".hit .chip", has_text="exchange").first.wait_for()
    link = tab.locator(".hit h2 a").first
    address = link.get_attribute("href")
    link.click()
    tab.wait_for_url(re.compile(r"/sessions/.*#e\d+"))
    said = tab.locator(f"#{str(address).partition('#')[2]}")
    said.wait_for()
    assert "cents" in said.inner_text()
    assert said.evaluate(
        "each => { const box = each.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight }"
    )


def test_a_transcript_folds_its_work_and_shows_diffs_and_errors(harbour: Site) -> None:
    with harbour.engram() as engram:
        hit = next(each for each in engram.recall("family ticket 3 children", 10, flavor="claude") if each.session_id)
    tab = harbour.open(f"/sessions/{hit.session_id}")
    tab.get_by_text("We decided: integer cents everywhere").first.wait_for()
    edit = tab.locator("details", has=tab.locator(".tool", has_text="Edit")).first
    assert edit.locator(".diff").count() == 0  # fetched only when it is opened
    edit.locator("summary").click()
    edit.locator(".diff .add").first.wait_for()
    assert "2000 + children * 505" in edit.locator(".diff").inner_text()
    assert tab.locator(".beat.failed").count() == 2
    tab.get_by_role("link", name=re.compile(r"Errors \(2\)")).click()
    tab.wait_for_url("**only=failed")
    assert tab.locator(".beat").count() == 2
    tab.get_by_label("Actual outcome").select_option("failure")
    tab.get_by_role("button", name="Set").click()
    tab.get_by_text("set by a person").wait_for()
    tab.get_by_role("heading", name="Mentioned in").wait_for()
    tab.locator("aside a[href^='/wiki/daily/']").first.click()
    tab.wait_for_url("**/wiki/daily/**")


def test_a_pattern_is_approved_by_a_key(harbour: Site) -> None:
    with harbour.engram() as engram:
        waiting = engram.list_patterns(state="candidate")
    tab = harbour.open("/patterns")
    tab.get_by_role("button", name=re.compile("Approve")).first.wait_for()
    tab.keyboard.press("a")
    tab.get_by_role("button", name=re.compile("Undo")).first.wait_for()
    with harbour.engram() as engram:
        approved = engram.list_patterns(state="approved")
    assert len(approved) == 1
    assert approved[0].id in {each.id for each in waiting}
    tab.keyboard.press("u")
    tab.get_by_text("Restored:").wait_for()
    with harbour.engram() as engram:
        assert engram.get_pattern(approved[0].id).pattern.state == "candidate"


def test_a_page_is_edited_and_a_second_hand_loses_nothing(harbour: Site) -> None:
    with harbour.engram() as engram:
        target = next(each.target for each in engram.list_pages().pages if each.target.startswith("concepts/"))
        one, other = harbour.open(f"/wiki/{target}"), harbour.open(f"/wiki/{target}")
        for tab in (one, other):
            tab.keyboard.press("e")
            tab.locator("textarea").wait_for()
        one.locator("textarea").fill("---\ntitle: Edited\n---\n\n# Edited\n\nBy the first hand.\n")
        other.locator("textarea").fill("---\ntitle: Edited\n---\n\n# Edited\n\nBy the second hand.\n")
        one.get_by_role("button", name=re.compile("^Save")).click()
        one.get_by_text("By the first hand.").first.wait_for()
        other.get_by_role("button", name=re.compile("^Save")).click()
        other.locator(".problem, .note").first.wait_for()
        assert "By the second hand." in other.locator("textarea").input_value()
        assert "By the first hand." in other.locator("body").inner_text()
        assert "By the first hand." in engram.get_page(target).content


def test_a_session_of_many_thousand_events_stays_small_in_the_browser(site: Make, tmp_path: Path) -> None:
    def fill(engram: Any) -> None:
        work = Claude(tmp_path / "person", "long", season.HARBOUR)
        for number in range(2_500):
            work.says(f"Prompt number {number}")
            work.answers(f"Answer number {number}")
        engram.ingest([str(tmp_path / "person")])

    board = site(fill)
    with board.engram() as engram:
        session = engram.list_sessions()[0].session.id
    tab = board.open(f"/sessions/{session}")
    tab.get_by_text("Prompt number 0", exact=True).first.wait_for()
    first = tab.locator(".beat").count()
    assert first <= 300
    tab.evaluate("scrollTo(0, document.body.scrollHeight)")
    tab.locator(".beat.said", has_text="Answer number 2499").first.wait_for()
    for share in (0.3, 0.6, 0.1):
        tab.evaluate(f"scrollTo(0, document.body.scrollHeight * {share})")
        tab.wait_for_timeout(300)
    assert tab.locator(".beat").count() <= 1_500  # what is far away was let go
    tab.goto(tab.url.partition("?")[0])
    tab.locator(".turns a", has_text="Prompt number 400").first.click()
    tab.locator(".beat.said:target", has_text="Prompt number 400").wait_for()
    for key, number in (("n", 401), ("n", 402), ("p", 401)):
        tab.keyboard.press(key)
        tab.locator(".beat.said:target", has_text=f"Prompt number {number}").wait_for()


def test_long_names_and_addresses_leave_everything_in_sight(site: Make, tmp_path: Path) -> None:
    def fill(engram: Any) -> None:
        work = Claude(tmp_path / "person", "one", f"/home/mara/{'a-long-name-' * 8}")
        work.says("See https://example.org/" + "abcdefgh" * 30)
        engram.ingest([str(tmp_path / "person")])

    board = site(fill)
    for path in ("/sessions", "/search?q=example"):
        phone = board.open(path, viewport=PHONE)
        assert phone.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
    tab = board.open("/sessions")
    assert tab.evaluate("(each => each.scrollWidth - each.clientWidth)(document.getElementById('list'))") == 0


def test_every_page_fits_a_phone(harbour: Site) -> None:
    tab = harbour.open("/now", viewport=PHONE)
    for path in ("/now", "/sessions", "/search?q=ferry", "/wiki", "/wiki/graph", "/timeline", "/patterns", "/health"):
        tab.goto(harbour.url + path)
        tab.wait_for_load_state("networkidle") if path != "/now" else tab.wait_for_timeout(500)
        assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path


def test_keys_lead_everywhere(harbour: Site) -> None:
    tab = harbour.open("/now")
    for key, path in (("s", "/sessions"), ("w", "/wiki"), ("t", "/timeline"), ("p", "/patterns"), ("h", "/health")):
        tab.keyboard.press("g")
        tab.keyboard.press(key)
        tab.wait_for_url(f"**{path}")
    tab.goto(harbour.url + "/sessions")
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/sessions/*")
    tab.keyboard.press("?")
    tab.get_by_role("heading", name="Keyboard shortcuts").wait_for()


def test_what_is_typed_is_neither_pressed_nor_left(harbour: Site) -> None:
    tab = harbour.open("/patterns")
    tab.keyboard.press("e")
    tab.keyboard.type("a rule")
    assert "a rule" in tab.locator("textarea:focus").input_value()
    with harbour.engram() as engram:
        assert engram.list_patterns(state="approved") == []
    asked: list[str] = []
    tab.remove_listener("dialog", harbour.interrupted)

    def stay(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    tab.on("dialog", stay)
    tab.locator("nav a", has_text="Wiki").first.click()
    tab.wait_for_timeout(300)
    assert asked == ["beforeunload"]
    assert tab.url.endswith("/patterns")


def test_escape_leaves_the_box_and_keeps_what_was_found(harbour: Site) -> None:
    tab = harbour.open("/search?q=integer+cents")
    tab.get_by_role("searchbox").press("Escape")
    tab.keyboard.press("j")
    assert tab.locator(".hit:focus-within").count() == 1
    assert "q=integer" in tab.url


def test_an_open_board_goes_on_when_the_server_starts_anew(harbour: Site) -> None:
    tab = harbour.open("/now")
    tab.get_by_text("live", exact=True).wait_for()
    harbour.restart()
    tab.get_by_text("live", exact=True).wait_for(timeout=60_000)
    with harbour.engram() as engram:
        engram.register("claude", "came after the restart", project=season.HARBOUR)
    tab.get_by_text("came after the restart").first.wait_for()
    harbour.complaints = [each for each in harbour.complaints if "ERR_" not in each]  # while nobody served
