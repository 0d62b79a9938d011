"""Recall answers with what settled an episode, by its problem, its file, its error, its time or its command."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.search.narration import is_narration
from tests.capture.transcripts import Claude

PROBLEM = "The printed invoice and the ledger differ by one centime for Swiss customers since the tariff change."
PROPOSAL = "I propose to round every line of the invoice half up before the totals are summed in export_invoices."
DECISION = "No, never round the lines: export_invoices must sum the exact amounts and round only the total to 0.05."


@pytest.fixture
def shop(engram: Engram, home: Path) -> Engram:
    """A store with a decided problem, an unrelated session and a chat."""
    decided = Claude(home, cwd="/home/me/shop")
    decided.says(PROBLEM)
    decided.answers(PROPOSAL)
    decided.says(DECISION)
    decided.edits("/home/me/shop/billing/export.py")
    decided.runs("cd /home/me/shop && pytest -q", "4 passed in 0.1s")
    decided.answers("export_invoices sums the exact amounts now.")
    other = Claude(home, cwd="/home/me/garden")
    other.says("Add a watering plan for the tomato greenhouse.")
    other.answers("Let me look at the greenhouse first.")
    other.edits("/home/me/garden/plan.py")
    other.answers("The watering plan waters the tomato beds at six in the morning.")
    engram.ingest()
    engram.remember("chat", "user", "My sister's birthday party is in the boathouse.")
    return engram


def test_an_episode_is_found_by_its_problem_and_shows_its_decision(shop: Engram) -> None:
    (hit, *_) = shop.recall("invoice and ledger differ by a centime")
    assert (hit.tier, hit.project) == ("episode", "/home/me/shop")
    assert "round only the total to 0.05" in hit.snippet
    assert "Decided" in hit.snippet.splitlines()[0]


def test_each_episode_is_one_hit_and_single_messages_are_asked_for(shop: Engram) -> None:
    hits = shop.recall("invoice ledger centime export_invoices rounds the total")
    assert len({hit.id for hit in hits if hit.project == "/home/me/shop"}) == 1
    messages = shop.recall("invoice ledger centime export_invoices rounds the total", messages=True)
    assert {hit.tier for hit in messages} <= {"exchange", "event"}
    assert len(messages) > 1


def test_an_episode_can_be_read_on(shop: Engram) -> None:
    hit = shop.recall("invoice and ledger differ by a centime")[0]
    around = shop.get(hit.id)
    assert hit.read_on == f"engram get {hit.id}"
    assert around.tier == "episode"
    assert "round only the total" in around.content
    assert PROBLEM in [exchange.content for exchange in around.exchanges]


def test_a_question_that_nothing_answers_gets_no_hit(shop: Engram) -> None:
    assert shop.recall("kubernetes ingress controller timeout") == []
    assert shop.recall("who won the chess tournament in Oslo") == []


def test_the_file_of_an_episode_leads_to_it(shop: Engram) -> None:
    hits = shop.recall("who changed billing/export.py and why")
    assert [hit.project for hit in hits] == ["/home/me/shop"]


def test_a_chat_is_answered_by_its_message(shop: Engram) -> None:
    (hit, *_) = shop.recall("where is my sister's birthday party")
    assert (hit.tier, hit.session_id) == ("exchange", "chat")
    assert "boathouse" in hit.snippet


def test_the_command_that_passed_answers_how_to_run_the_tests(shop: Engram) -> None:
    (hit,) = shop.recall("How do I run the tests?", project="/home/me/shop")
    assert hit.tier == "command"
    assert hit.snippet.startswith("pytest")
    assert "passed 1 time, last " in hit.snippet


def test_a_time_and_a_project_are_filters_of_a_question_about_work(shop: Engram) -> None:
    day = shop.recall("invoice ledger centime")[0].at
    assert day is not None
    asked = f"what did I work on on {day.date().isoformat()}"
    later = "2027-03-01T12:00:00+00:00"
    hits = shop.recall(asked, now=later)
    assert {hit.tier for hit in hits} == {"session"}
    assert {"/home/me/shop", "/home/me/garden"} <= {hit.project for hit in hits}
    assert {hit.project for hit in shop.recall(f"{asked} in garden", now=later)} == {"/home/me/garden"}
    assert shop.recall("what did I do yesterday", now=later) == []


def test_an_error_text_leads_to_what_ended_it(engram: Engram, home: Path) -> None:
    work = Claude(home, cwd="/home/me/shop")
    work.says("Make the import of the ledger work.")
    work.runs("python ledger.py", "ModuleNotFoundError: No module named 'ledgerlib'", code=1)
    work.runs("pip install ledgerlib", "Successfully installed ledgerlib")
    work.runs("python ledger.py", "ok")
    work.answers("The import of the ledger works.")
    engram.ingest()
    hit = engram.recall("ModuleNotFoundError: No module named 'ledgerlib'")[0]
    assert "pip install ledgerlib" in hit.snippet


@pytest.mark.parametrize(
    "text", ["Let me look at the config.", "Now run the tests.", "All green. Committing it now.", "Reading the file:"]
)
def test_what_an_agent_does_next_is_narration(text: str) -> None:
    assert is_narration("assistant", text)


@pytest.mark.parametrize("text", ["The port is 7311.", "Now it works: the cache had no index.", "We keep the tag."])
def test_what_an_agent_found_out_is_no_narration(text: str) -> None:
    assert not is_narration("assistant", text)
    assert not is_narration("user", "Now run the tests.")
