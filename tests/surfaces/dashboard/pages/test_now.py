"""The Now page: running agents, locks and messages."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator

import pytest

from engram import Engram
from engram.errors import Held
from engram.surfaces.dashboard.pages.live_board import PARTS
from tests.conftest import ManualClock
from tests.surfaces.dashboard.looking import Looker

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def shop(hub: Engram) -> list[str]:
    """Two sessions in one project."""
    return [hub.register("claude-code", f"task {n}", flavor="claude", project="/shop") for n in (1, 2)]


@pytest.fixture
def ended() -> Iterator[int]:
    """The id of a process that runs until the test ends it."""
    process = subprocess.Popen(["sleep", "600"])
    yield process.pid
    process.kill()
    process.wait()


def part(looker: Looker, name: str) -> str:
    return looker.page(f"/now/part/{name}", part=True)


def test_an_empty_store_says_what_to_do(looker: Looker) -> None:
    page = looker.page("/now")
    assert "No agents are running" in page
    assert "engram init" in page
    assert "Write one for all projects" in page
    assert 'data-stream="/now/stream"' in page


def test_every_part_of_the_board_is_on_the_page_and_can_be_had_alone(looker: Looker, shop: list[str]) -> None:
    page = looker.page("/now")
    for name in PARTS:
        assert f'<section id="{name}"' in page
        assert "<html" not in part(looker, name)
    assert looker.get("/now/part/nonsense").status_code == 404


def test_a_card_shows_the_task_locks_and_messages_of_a_session(hub: Engram, looker: Looker, shop: list[str]) -> None:
    first, second = shop
    hub.log(first, "half of it is done")
    hub.lock_resource(first, "/shop/src/app.py", "renaming")
    hub.send(second, first, "hello")
    board = part(looker, "board")
    for words in ("task 1", "half of it is done", "src/app.py", "“renaming”", "✉ 1 unread", "● active", "data-until"):
        assert words in board
    assert board.index("task 2") < board.index("task 1")  # the newest is first, and stays there


def test_sessions_stand_with_their_project(hub: Engram, looker: Looker, shop: list[str]) -> None:
    hub.register("codex", "far away", flavor="codex", project="/parser")
    board = part(looker, "board")
    assert re.findall(r'<h3 title="([^"]+)">', board) == ["/parser", "/shop"]
    assert "2 sessions" in board


def test_a_waiting_session_is_shown_at_the_lock_it_waits_for(hub: Engram, looker: Looker, shop: list[str]) -> None:
    from engram.sessions.lock_requests import LockRequest

    first, second = shop
    hub.lock_resource(first, "db:schema")
    LockRequest(hub, second, ["db:schema"], None, "exclusive", None, None).show_waiting(hub.steady() + 60_000_000)
    assert f"{second[-8:]}</span></a> is waiting" in part(looker, "board")
    assert second[-8:] in part(looker, "locks")


def test_idle_and_ended_sessions_are_shown_as_such(timed: Engram, clock: ManualClock, ended: int) -> None:
    looker = Looker(timed)
    timed.register("codex", "quiet", project="/p")
    clock.pass_(3600)
    gone = timed.register("codex", "killed", project="/p", pid=ended)
    os.kill(ended, signal.SIGKILL)
    while timed.get_session(gone).presence != "gone":
        pass
    board = part(looker, "board")
    assert "◌ idle" in board
    assert "✕ gone" in board
    clock.pass_(25 * 3600)
    assert "2 sessions idle for more than a day" in part(looker, "board")


def test_expired_locks_are_shown_as_such(timed: Engram, clock: ManualClock) -> None:
    looker = Looker(timed)
    holder = timed.register("codex", "work", project="/p")
    timed.lock_resource(holder, "db:schema", minutes=1)
    assert "expired" not in part(looker, "locks")
    clock.pass_(120)
    assert "expired" in part(looker, "locks")


def test_prevented_conflicts_are_described_and_counted(hub: Engram, looker: Looker, shop: list[str]) -> None:
    first, second = shop
    assert "No conflicts yet" in part(looker, "conflicts")
    hub.lock_resource(first, "/shop/src/app.py")
    with pytest.raises(Held):
        hub.lock_resource(second, "/shop/src/app.py")
    result = part(looker, "conflicts")
    assert "<b>1</b> <span>conflicts prevented</span>" in result
    assert re.search(rf"{second[-8:]}</span></a>\s+was refused\s+<span class=\"mono\">src/app.py</span>", result)


def test_done_work_is_listed(hub: Engram, looker: Looker, shop: list[str]) -> None:
    hub.complete(shop[0], "all is well now")
    assert "all is well now" in part(looker, "done")


def test_untrusted_text_does_not_act(hub: Engram, looker: Looker) -> None:
    bad = hub.register("codex", f"sum {HOSTILE}", flavor="codex", project=f"/p/{HOSTILE}", model=HOSTILE)
    hub.log(bad, HOSTILE)
    hub.lock_resource(bad, f"db:{HOSTILE}", HOSTILE)
    hub.send(bad, bad, HOSTILE)
    hub.set_world_state(f"{HOSTILE} [x](javascript:alert(1)) <img src=x onerror=alert(1)>", HOSTILE)
    hub.set_world_state(HOSTILE, project=f"/p/{HOSTILE}")
    hub.complete(hub.register("codex", "x", project="p"), HOSTILE)
    page = looker.page("/now")
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert "<img" not in page
    assert 'href="javascript' not in page


def test_a_person_writes_to_one_session(hub: Engram, looker: Looker, shop: list[str]) -> None:
    form = looker.page(f"/now/message?to=one+{shop[0]}&body=half+a+word", part=True)
    assert f'value="one {shop[0]}" selected' in form
    assert "half a word" in form
    answer = looker.post("/now/message", part=True, to=f"one {shop[0]}", body="please\r\nstop")
    assert "Sent to 1 session." in answer.headers["hx-trigger"]
    (message,) = hub.inbox(shop[0])
    assert (message.body, message.sender) == ("please\nstop", None)


def test_a_person_writes_to_all_in_a_project_and_to_the_next(hub: Engram, looker: Looker, shop: list[str]) -> None:
    answer = looker.post("/now/message", to="all /shop", body="five o'clock")
    assert (answer.status_code, answer.headers["location"]) == (303, "/now")
    assert sorted(str(m.recipient) for m in hub.list_messages()) == sorted(shop)
    looker.post("/now/message", to="next /shop", body="for later")
    assert hub.list_messages(limit=1)[0].recipient is None


def test_a_message_that_cannot_be_sent_is_not_lost(looker: Looker, shop: list[str]) -> None:
    answer = looker.post("/now/message", part=True, to="one nobody", body="long words")
    assert answer.status_code == 404
    assert "long words" in answer.text
    assert 'role="alert"' in answer.text


def test_a_session_that_is_called_like_everybody_is_one_session(hub: Engram, looker: Looker, shop: list[str]) -> None:
    hub.ensure_session("all /shop")
    looker.post("/now/message", part=True, to="one all /shop", body="for one")
    assert [message.recipient for message in hub.list_messages()] == ["all /shop"]


def test_a_version_that_never_was_loses_no_words(looker: Looker) -> None:
    answer = looker.post("/now/world", part=True, project="/none", content="typed with care", version="9")
    assert answer.status_code == 409
    assert "typed with care" in answer.text


def test_the_world_state_is_shown_with_its_last_change(hub: Engram, looker: Looker, shop: list[str]) -> None:
    hub.set_world_state("# Plan\n\n- **one**", shop[0])
    hub.set_world_state("# Plan\n\n- **two**", "jana")
    result = part(looker, "world")
    assert "<strong>two</strong>" in result
    assert "version 2 by jana" in result
    assert re.search(r'class="del">.*- \*\*one\*\*', result)
    assert "Write one for shop" in result


def test_of_many_world_states_those_changed_last_are_shown_and_the_others_named(hub: Engram, looker: Looker) -> None:
    hub.set_world_state("of everything")
    for n in range(8):
        hub.set_world_state(f"words of {n}", project=f"/p{n}")
    result = part(looker, "world")
    assert [n for n in range(8) if f"words of {n}" in result] == [2, 3, 4, 5, 6, 7]
    assert "of everything" in result
    assert "2 more world states" in result
    assert 'href="/now/world?project=/p0"' in result


def test_the_world_state_is_edited_in_place(hub: Engram, looker: Looker) -> None:
    hub.set_world_state("old", project="/shop")
    editor = looker.page("/now/world?project=%2Fshop", part=True)
    assert "<html" not in editor
    assert 'name="version" value="1"' in editor
    answer = looker.post("/now/world", part=True, project="/shop", version="1", content="new\r\nlines")
    assert (answer.status_code, "version 2" in answer.headers["hx-trigger"]) == (200, True)
    assert hub.get_world_state("/shop") == "new\nlines"
    assert hub.world_state("/shop").updated_by


def test_without_a_script_the_editor_is_a_page_of_its_own(hub: Engram, looker: Looker) -> None:
    assert "<html" in looker.page("/now/world")
    answer = looker.post("/now/world", project="", version="0", content="first words")
    assert (answer.status_code, answer.headers["location"]) == (303, "/now#world")
    assert hub.get_world_state() == "first words"


@pytest.mark.parametrize("part", [True, False])
def test_two_concurrent_edits_lose_no_text(hub: Engram, looker: Looker, part: bool) -> None:
    hub.set_world_state("one\ntwo")
    hub.set_world_state("one\nTWO by another")
    answer = looker.post("/now/world", part=part, project="", version="1", content="my own words")
    assert answer.status_code == 409
    assert "my own words</textarea>" in answer.text
    assert "+TWO by another" in answer.text
    assert 'name="version" value="2"' in answer.text
    assert hub.get_world_state() == "one\nTWO by another"
    again = looker.post("/now/world", part=part, project="", version="2", content="my own words, and TWO")
    assert again.status_code in (200, 303)
    assert hub.get_world_state() == "my own words, and TWO"


def test_two_concurrent_first_versions_are_both_shown(hub: Engram, looker: Looker) -> None:
    hub.set_world_state("theirs")
    answer = looker.post("/now/world", part=True, project="", version="0", content="mine")
    assert answer.status_code == 409
    assert "<pre>theirs</pre>" in answer.text
    assert "mine</textarea>" in answer.text


def test_a_text_that_is_too_long_is_refused_with_the_reason(hub: Engram, looker: Looker) -> None:
    answer = looker.post("/now/world", part=True, project="", version="0", content="word " * 20_000)
    assert answer.status_code == 413
    assert "word word" in answer.text
    assert hub.list_world_states() == []


def test_two_looks_at_the_same_find_the_same(hub: Engram, shop: list[str]) -> None:
    hub.lock_resource(shop[0], "db:schema")
    hub.set_world_state("x")
    looks = [[each.load(hub) for each in PARTS.values()] for _ in range(2)]
    assert looks[0] == looks[1]
    hub.heartbeat(shop[1], "something else")
    assert PARTS["board"].load(hub) != looks[0][0]
