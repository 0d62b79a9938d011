"""The Sessions page: the list with its filters, and transcripts in sections."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engram import Engram
from tests.patterns.writers import Claude, Codex
from tests.surfaces.dashboard.looking import Looker


@pytest.fixture
def person(tmp_path: Path) -> Path:
    return tmp_path / "person"


def worked(hub: Engram, person: Path, turns: int = 3, name: str = "one") -> str:
    """Ingest a session with a failed command, an edit and an answer; return its id."""
    work = Claude(person, name, "/home/mara/harbour")
    for turn in range(turns):
        work.says(f"Question {turn}: why is the fare wrong?")
        work.runs(f"pytest tests/test_{turn}.py", "KeyError: 'fare'", 1)
        work.edits("src/fare.py", "return fare", "return fare or 0")
        work.answers(f"Answer {turn}: it was **nobody's** fault.", 5_000)
    hub.ingest([str(person)])
    return next(capture.session.id for capture in hub.list_sessions() if capture.session.native_id == work.session)


def test_the_list_shows_what_a_session_cost_and_leads_to_it(hub: Engram, looker: Looker, person: Path) -> None:
    session = worked(hub, person)
    page = looker.page("/sessions")
    assert f'href="/sessions/{session}"' in page
    assert "$0.2" in page


def test_the_list_keeps_to_its_filters(hub: Engram, looker: Looker, person: Path) -> None:
    session = worked(hub, person)
    other = Codex(person, "two", "/home/mara/ferry")
    other.says("Is the ferry late?")
    other.answers("No.")
    hub.ingest([str(person)])
    for query, held in (
        ("flavor=claude", True), ("flavor=codex", False), ("project=/home/mara/harbour", True),
        ("project=/home/mara/ferry", False), ("min_cost=0.1", True), ("min_cost=5", False),
        ("since=2026-11-01", True), ("since=2026-11-03", False), ("until=2026-10-31", False),
        ("until=2026-11-01", True),
    ):  # fmt: skip
        assert (session in looker.page(f"/sessions?{query}")) is held, query


@pytest.mark.parametrize("query", ["min_cost=much", "since=yesterday", "after=-1", "after=x", "min_cost=nan"])
def test_an_invalid_filter_is_reported(looker: Looker, query: str) -> None:
    answer = looker.get(f"/sessions?{query}")
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text


def test_a_long_list_is_loaded_in_pages(hub: Engram, looker: Looker) -> None:
    for number in range(60):
        hub.remember(f"s{number:02}", "user", f"Word {number}")
    first = looker.page("/sessions")
    more = re.search(r'hx-get="(/sessions\?[^"]*after=50)"', first)
    assert more
    rest = looker.page(more[1], part=True)
    assert len(re.findall("data-item", first)) == 50
    assert len(re.findall("data-item", rest)) == 10
    assert "after=100" not in rest
    address = looker.get(more[1], part=True).headers["hx-replace-url"]
    assert len(re.findall("data-item", looker.page(address))) == 60  # reloading the page shows all of them


def test_a_call_is_collapsed_with_its_result(hub: Engram, looker: Looker, person: Path) -> None:
    session = worked(hub, person, turns=1)
    page = looker.page(f"/sessions/{session}")
    assert page.count("<details hx-get=") == 2  # the command and the edit, their results inside
    assert 'class="beat did assistant failed"' in page
    assert '<span class="added">+1</span> <span class="removed">−1</span>' in page
    fetched = re.findall(r'<details hx-get="([^"]+)"', page)
    command, edit = (looker.page(path, part=True) for path in fetched)
    assert "pytest tests/test_0.py" in command
    assert "KeyError" in command
    assert '<div class="add">' in edit


def test_instructions_to_the_model_are_collapsed(hub: Engram, looker: Looker, person: Path) -> None:
    work = Codex(person, "two", "/home/mara/ferry")
    work._message("developer", "input_text", "Obey. " * 99)
    work.says("Is the ferry late?")
    hub.ingest([str(person)])
    session = hub.list_sessions()[0].session.id
    page = looker.page(f"/sessions/{session}")
    folded = re.search(r'id="e(\d+)"[^>]*>\s*<details[^>]*>\s*<summary><span class="tool">instructions', page)
    assert folded is not None
    assert page.count("Obey.") < 99
    assert looker.page(f"/sessions/{session}/event/{folded[1]}", part=True).count("Obey.") == 99


def test_a_link_to_an_event_opens_the_stretch_it_is_in(hub: Engram, looker: Looker, person: Path) -> None:
    session = worked(hub, person, turns=60)  # six events each
    events = hub.get_events(session, limit=1000)
    late = events[250]
    assert len(events) == 360
    page = looker.page(f"/sessions/{session}?at=e{late.id}")
    assert f'id="e{late.id}"' in page
    assert f'id="e{events[0].id}"' not in page
    assert page.count('class="stretch') == 4
    assert looker.get(f"/sessions/{session}?at=e999999").status_code == 404


def test_stretches_together_show_every_event_once(hub: Engram, looker: Looker, person: Path) -> None:
    session = worked(hub, person, turns=55)
    drawn = "".join(looker.page(f"/sessions/{session}/stretch/{place}", part=True) for place in range(4))
    shown = re.findall(r'<article [^>]*id="e(\d+)"', drawn)
    results = {event.id for event in hub.get_events(session, kind="result", limit=1000)}
    every = {event.id for event in hub.get_events(session, limit=1000)}
    assert len(shown) == len(set(shown))
    assert {int(each) for each in shown} == every - results  # a result is inside its call


def test_a_subagent_is_nested_where_it_began(hub: Engram, looker: Looker, person: Path) -> None:
    work = Claude(person, "parent", "/home/mara/harbour")
    work.says("Send somebody to look at the pier.")
    child = Claude(person, "child", "/home/mara/harbour", work.now)
    child.path = work.path.parent / work.session / "subagents" / "agent-a1.jsonl"
    child.path.parent.mkdir(parents=True)
    child.session = work.session
    for words in ("Look at the pier.", "Go on."):
        child.record("user", message={"role": "user", "content": words}, isSidechain=True, agentId="a1")
    work.answers("It is there.")
    hub.ingest([str(person)])
    session = next(each.session.id for each in hub.list_sessions())
    children = hub.get_children(session)
    page = looker.page(f"/sessions/{session}")
    assert len(children) == 1
    assert f'hx-get="/sessions/{children[0].session.id}/stretch/0?nested=1"' in page
    assert "Look at the pier." in looker.page(f"/sessions/{children[0].session.id}/stretch/0?nested=1", part=True)
    assert f'part of <a href="/sessions/{session}">' in looker.page(f"/sessions/{children[0].session.id}")


def test_only_the_conversation_or_only_what_failed(hub: Engram, looker: Looker, person: Path) -> None:
    session = worked(hub, person)
    talk, failed = (looker.page(f"/sessions/{session}?only={only}") for only in ("talk", "failed"))
    assert talk.count('class="beat said') == 6
    assert "<details hx-get" not in talk
    assert failed.count('class="beat did') == 3
    assert failed.partition("<aside")[0].count("pytest tests/test_") == 6  # and in full at its own link
    assert looker.get(f"/sessions/{session}?only=nonsense").status_code == 400


def test_a_person_corrects_how_it_ended(hub: Engram, looker: Looker, person: Path) -> None:
    session = worked(hub, person)
    part = looker.post(f"/sessions/{session}/outcome", part=True, outcome="failure")
    assert "set by a person" in part.text
    assert hub.get_digest(session).outcome == "failure"
    assert looker.post(f"/sessions/{session}/outcome", outcome="").headers["location"] == f"/sessions/{session}"
    assert hub.get_digest(session).inferred is None


def test_a_session_is_found_in_daily_log_and_wiki(hub: Engram, looker: Looker, person: Path) -> None:
    session = worked(hub, person)
    assert "No daily log" in looker.page(f"/sessions/{session}/told", part=True)
    hub.flush()
    assert 'href="/wiki/daily/2026-11-01#' in looker.page(f"/sessions/{session}/told", part=True)


def test_a_session_without_a_transcript_is_shown_too(hub: Engram, looker: Looker) -> None:
    number = hub.remember("by-hand", "user", "The quay is *closed* on Sundays.")
    page = looker.page("/sessions/by-hand")
    assert f'id="x{number}"' in page
    assert "<em>closed</em>" in page


def test_a_long_one_that_was_only_remembered_shows_its_end(hub: Engram, looker: Looker) -> None:
    for number in range(205):
        hub.remember("feature/x", "user", f"Note {number}. " + "word " * 2_000)
    page = looker.page("/sessions/feature/x")
    assert "5 earlier messages are not shown" in page
    assert "Note 4." not in page
    assert "Note 204." in page
    assert len(page) < 205 * 7_000


def test_a_command_is_shown_as_it_was_typed(hub: Engram, looker: Looker, person: Path) -> None:
    work = Claude(person, "one", "/home/mara/harbour")
    name = "<command-name>/review</command-name>\n<command-message>review</command-message>"
    work.says(f"{name}\n<command-args>the last commit</command-args>")
    work.answers("It is well.")
    hub.ingest([str(person)])
    page = looker.page(f"/sessions/{hub.list_sessions()[0].session.id}")
    assert "<code>/review</code> the last commit" in page


def test_all_of_an_event_is_a_page_of_its_own_too(hub: Engram, looker: Looker, person: Path) -> None:
    session = worked(hub, person, turns=1)
    call = next(event for event in hub.get_events(session) if event.kind == "call")
    assert "<h1>Bash</h1>" in looker.page(f"/sessions/{session}/event/{call.id}")


def test_a_session_at_work_shows_its_log_and_what_it_holds(hub: Engram, looker: Looker) -> None:
    session = hub.register("claude", "mend the pier", project="/home/mara/harbour")
    hub.log(session, "The planks are ordered.")
    hub.lock_resource(session, "/home/mara/harbour/src/pier.py", note="planks")
    page = looker.page(f"/sessions/{session}")
    assert "The planks are ordered." in page
    assert ">src/pier.py</code>" in page
    assert "yet. It is ingested" in page
    assert f"/now?to=one%20{session}#write" in page


def test_without_a_script_every_stretch_has_a_link(hub: Engram, looker: Looker, person: Path) -> None:
    session = worked(hub, person, turns=50)
    page = looker.page(f"/sessions/{session}")
    assert f'<noscript><p><a href="/sessions/{session}?stretch=1">' in page
    assert "Question 49" not in page.partition("<aside")[0]
    assert "Question 49" in looker.page(f"/sessions/{session}?stretch=2").partition("<aside")[0]


def test_days_and_times_are_told(hub: Engram, looker: Looker, person: Path) -> None:
    page = looker.page(f"/sessions/{worked(hub, person)}")
    assert page.count('class="day"') == 1
    assert "1 November 2026" in page


def test_an_unknown_session_is_reported_as_a_page(looker: Looker) -> None:
    answer = looker.get("/sessions/nobody")
    assert answer.status_code == 404
    assert "nobody" in answer.text


def test_deleted_bodies_are_reported_as_deleted(hub: Engram, looker: Looker, person: Path) -> None:
    session = worked(hub, person)
    hub.engine.run("update blobs set evicting_at = 1, lost = 1")
    assert "deleted to stay within the storage limit" in looker.page(f"/sessions/{session}")
