"""The page of now: who is here, what they hold, and words to them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator

import pytest

from engram import Engram
from engram.errors import Held
from engram.surfaces.dashboard.pages.board import PARTS
from tests.conftest import ManualClock
from tests.surfaces.dashboard.looking import Looker

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def shop(hub: Engram) -> list[str]:
    """Two sessions in one project."""
    return [hub.register("claude-code", f"task {n}", flavor="claude", project="/shop") for n in (1, 2)]


@pytest.fixture
def ended() -> Iterator[int]:
    """The number of a process that lives until the test ends it."""
    process = subprocess.Popen(["sleep", "600"])
    yield process.pid
    process.kill()
    process.wait()


def part(looker: Looker, name: str) -> str:
    return looker.page(f"/now/part/{name}", part=True)


def test_an_empty_store_says_what_to_do(looker: Looker) -> None:
    page = looker.page("/now")
    assert "Nobody is here" in page
    assert "engram init" in page
    assert "Write one of everything" in page
    assert 'data-stream="/now/stream"' in page


def test_every_part_of_the_board_is_on_the_page_and_can_be_had_alone(looker: Looker, shop: list[str]) -> None:
    page = looker.page("/now")
    for name in PARTS:
        assert f'<section id="{name}"' in page
        assert "<html" not in part(looker, name)
    assert looker.get("/now/part/nonsense").status_code == 404


def test_a_card_tells_what_a_session_does_holds_and_was_told(hub: Engram, looker: Looker, shop: list[str]) -> None:
    first, second = shop
    hub.log(first, "half of it is done")
    hub.lock_resource(first, "/shop/src/app.py", "renaming")
    hub.send(second, first, "hello")
    board = part(looker, "board")
    for words in ("task 1", "half of it is done", "src/app.py", "“renaming”", "✉ 1 unread", "● here", "data-until"):
        assert words in board
    assert board.index("task 2") < board.index("task 1")  # the one that came last is first, and stays there


def test_sessions_stand_with_their_project(hub: Engram, looker: Looker, shop: list[str]) -> None:
    hub.register("codex", "far away", flavor="codex", project="/parser")
    board = part(looker, "board")
    assert re.findall(r'<h3 title="([^"]+)">', board) == ["/parser", "/shop"]
    assert "2 sessions" in board


def test_who_waits_is_named_at_what_it_waits_for(hub: Engram, looker: Looker, shop: list[str]) -> None:
    from engram.coordination.claims import Claim

    first, second = shop
    hub.lock_resource(first, "db:schema")
    Claim(hub, second, ["db:schema"], None, "exclusive", None, None).show_waiting(hub.steady() + 60_000_000)
    assert f"{second[-8:]}</span></a> waits" in part(looker, "board")
    assert second[-8:] in part(looker, "locks")


def test_who_fell_silent_or_ended_is_told_so(timed: Engram, clock: ManualClock, ended: int) -> None:
    looker = Looker(timed)
    timed.register("codex", "quiet", project="/p")
    clock.pass_(3600)
    gone = timed.register("codex", "killed", project="/p", pid=ended)
    os.kill(ended, signal.SIGKILL)
    while timed.get_session(gone).presence != "gone":
        pass
    board = part(looker, "board")
    assert "◌ silent" in board
    assert "✕ gone" in board
    clock.pass_(25 * 3600)
    assert "2 sessions silent for more than a day" in part(looker, "board")


def test_locks_that_lapsed_are_shown_as_such(timed: Engram, clock: ManualClock) -> None:
    looker = Looker(timed)
    holder = timed.register("codex", "work", project="/p")
    timed.lock_resource(holder, "db:schema", minutes=1)
    assert "lapsed" not in part(looker, "locks")
    clock.pass_(120)
    assert "lapsed" in part(looker, "locks")


def test_what_was_prevented_is_told_in_words_and_counted(hub: Engram, looker: Looker, shop: list[str]) -> None:
    first, second = shop
    assert "Nobody got into another's way yet" in part(looker, "conflicts").replace("&#39;", "'")
    hub.lock_resource(first, "/shop/src/app.py")
    with pytest.raises(Held):
        hub.lock_resource(second, "/shop/src/app.py")
    found = part(looker, "conflicts")
    assert "<b>1</b> <span>conflicts prevented</span>" in found
    assert re.search(rf"{second[-8:]}</span></a>\s+was refused\s+<span class=\"mono\">src/app.py</span>", found)


def test_done_work_is_listed(hub: Engram, looker: Looker, shop: list[str]) -> None:
    hub.complete(shop[0], "all is well now")
    assert "all is well now" in part(looker, "done")


def test_what_strangers_say_does_not_act(hub: Engram, looker: Looker) -> None:
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
    assert [each.recipient for each in hub.list_messages()] == ["all /shop"]


def test_a_version_that_never_was_loses_no_words(looker: Looker) -> None:
    answer = looker.post("/now/world", part=True, project="/none", content="typed with care", version="9")
    assert answer.status_code == 409
    assert "typed with care" in answer.text


def test_the_world_state_is_shown_with_its_last_change(hub: Engram, looker: Looker, shop: list[str]) -> None:
    hub.set_world_state("# Plan\n\n- **one**", shop[0])
    hub.set_world_state("# Plan\n\n- **two**", "jana")
    found = part(looker, "world")
    assert "<strong>two</strong>" in found
    assert "version 2 by jana" in found
    assert re.search(r'class="del">.*- \*\*one\*\*', found)
    assert "Write one of shop" in found


def test_of_many_world_states_those_changed_last_are_shown_and_the_others_named(hub: Engram, looker: Looker) -> None:
    hub.set_world_state("of everything")
    for n in range(8):
        hub.set_world_state(f"words of {n}", project=f"/p{n}")
    found = part(looker, "world")
    assert [n for n in range(8) if f"words of {n}" in found] == [2, 3, 4, 5, 6, 7]
    assert "of everything" in found
    assert "2 more world states" in found
    assert 'href="/now/world?project=/p0"' in found


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
def test_of_two_who_edit_at_once_neither_loses_a_word(hub: Engram, looker: Looker, part: bool) -> None:
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


def test_of_two_who_write_the_first_one_both_texts_are_shown(hub: Engram, looker: Looker) -> None:
    hub.set_world_state("theirs")
    answer = looker.post("/now/world", part=True, project="", version="0", content="mine")
    assert answer.status_code == 409
    assert "<pre>theirs</pre>" in answer.text
    assert "mine</textarea>" in answer.text


def test_a_text_that_is_too_long_comes_back_with_the_reason(hub: Engram, looker: Looker) -> None:
    answer = looker.post("/now/world", part=True, project="", version="0", content="word " * 20_000)
    assert answer.status_code == 413
    assert "word word" in answer.text
    assert hub.list_world_states() == []


def test_two_looks_at_the_same_find_the_same(hub: Engram, shop: list[str]) -> None:
    hub.lock_resource(shop[0], "db:schema")
    hub.set_world_state("x")
    looks = [[each.look(hub) for each in PARTS.values()] for _ in range(2)]
    assert looks[0] == looks[1]
    hub.heartbeat(shop[1], "something else")
    assert PARTS["board"].look(hub) != looks[0][0]
