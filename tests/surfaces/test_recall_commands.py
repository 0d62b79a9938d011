"""Recall on the command line, for people and scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engram import Engram
from tests.summaries.talking import said
from tests.surfaces.conftest import Run

BEGAN = "2026-03-10T10:00:00+00:00"


@pytest.fixture
def talked(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        engram.ensure_session("billing", "The billing rework")
        said(engram, "billing", BEGAN, "How do we cache invoices?", "With redis, for an hour.")
        said(engram, "harbour", BEGAN, "Lunch on friday is at the harbour.")


def test_an_empty_store_says_what_to_do(run: Run) -> None:
    assert "engram ingest" in run("recall", "redis").stdout
    assert json.loads(run("recall", "redis", "--json").stdout) == []


def test_a_question_needs_words(run: Run) -> None:
    assert "Try: engram recall" in run("recall", status=2).stderr


@pytest.mark.usefixtures("talked")
def test_a_hit_is_shown_with_where_and_when_it_was_said(run: Run) -> None:
    shown = run("recall", "redis", "hour").stdout
    for part in (
        "With redis, for an hour.",
        "billing",
        "turn 1",
        "asked: How do we cache invoices?",
        "The billing rework",
    ):
        assert part in shown
    assert "harbour" not in shown
    assert "cover" not in shown
    assert "cover" in run("recall", "redis", "--why").stdout


@pytest.mark.usefixtures("talked")
def test_nothing_relevant_is_said_to_be_so_and_may_be_shown_anyway(run: Run) -> None:
    assert "Nothing relevant" in run("recall", "submarine", "periscope").stdout
    assert json.loads(run("recall", "submarine", "--json").stdout) == []
    run("recall", "submarine", "--anyway")


@pytest.mark.usefixtures("talked")
def test_a_program_gets_every_field(run: Run) -> None:
    (hit, *_) = json.loads(run("recall", "redis hour", "--json").stdout)
    assert hit["session_id"] == "billing"
    assert (hit["tier"], hit["role"], hit["turn"], hit["state"]) == ("exchange", "assistant", 1, "current")
    assert hit["at"] == "2026-03-10T10:01:00Z"
    assert hit["why"]["cover"] > 0


@pytest.mark.usefixtures("talked")
def test_filters_come_as_options(run: Run) -> None:
    assert json.loads(run("recall", "redis", "--json", "-s", "harbour").stdout) == []
    assert json.loads(run("recall", "redis", "--json", "--not-session", "billing").stdout) == []
    assert json.loads(run("recall", "redis", "--json", "--since", "2026-03-11").stdout) == []
    assert json.loads(run("recall", "redis", "--json", "--role", "tool").stdout) == []
    assert (
        len(json.loads(run("recall", "redis", "--json", "-k", "1", "--in", "exchange", "--by", "session").stdout)) == 1
    )
    assert "as a time" in run("recall", "redis", "--since", "soon", status=2).stderr
    run("recall", "redis", "--in", "nowhere", status=2)


@pytest.mark.usefixtures("talked")
def test_the_session_that_asks_is_left_out(run: Run) -> None:
    assert json.loads(run("recall", "redis", "--json", ENGRAM_SESSION="billing").stdout) == []


@pytest.mark.usefixtures("talked")
def test_keywords_alone_are_said_to_be_alone(run: Run) -> None:
    done = run("recall", "redis", "hour", ENGRAM_EMBEDDER="none")
    assert "With redis" in done.stdout
    assert "Keyword search only" in done.stderr


def test_a_note_is_remembered_and_found(run: Run) -> None:
    assert run("remember", "The", "deploy", "key", "is", "in", "vault.").stdout.startswith("Remembered as x")
    assert json.loads(run("remember", "--json", "-s", "billing", "Invoices go out on mondays.").stdout)[
        "id"
    ].startswith("x")
    assert "vault" in run("recall", "deploy key").stdout
    assert "Invoices go out" in run("history", "billing").stdout
    assert "The deploy key" in run("history", "notes").stdout


def test_a_note_can_come_through_a_pipe(run: Run) -> None:
    run("remember", "--role", "assistant", text="The build is green.\nAt last.\n")
    (kept,) = json.loads(run("history", "notes", "--json").stdout)
    assert (kept["role"], kept["content"]) == ("assistant", "The build is green.\nAt last.\n")
    assert "Must not be empty" in run("remember", text="", status=2).stderr


@pytest.mark.usefixtures("talked")
def test_a_hit_is_shown_with_its_surroundings(run: Run) -> None:
    (hit, *_) = json.loads(run("recall", "redis hour", "--json").stdout)
    shown = run("get", hit["id"]).stdout
    assert "▶ assistant" in shown
    assert shown.index("| How do we cache") < shown.index("| With redis")
    data = json.loads(run("get", hit["id"], "--around", "0", "--json").stdout)
    assert [exchange["content"] for exchange in data["exchanges"]] == ["With redis, for an hour."]


def test_an_unknown_hit_is_said_to_be_so(run: Run) -> None:
    assert "may have been deleted" in run("get", "x99", status=1).stderr
    assert "such as x12" in run("get", "99", status=2).stderr


@pytest.mark.usefixtures("talked")
def test_the_index_is_brought_up_to_date_and_made_anew(run: Run) -> None:
    assert "Indexed 3" in run("index").stdout
    assert "Indexed 0, embedded 0; 3 in the index." in run("index").stdout
    assert json.loads(run("index", "--rebuild", "--no-embed", "--json").stdout) == {
        "indexed": 3, "embedded": 0, "waiting": 0, "docs": 3
    }  # fmt: skip


@pytest.mark.usefixtures("talked")
def test_a_session_is_deleted_only_when_one_says_so(run: Run) -> None:
    refused = run("delete", "harbour", text="n\n", status=1)
    assert "for good?" in refused.stderr
    assert "harbour" in run("recall", "lunch friday").stdout
    assert "Deleted 1 session: 1 message." in run("delete", "harbour", "--yes").stdout
    assert "Nothing relevant" in run("recall", "lunch friday harbour").stdout
    assert json.loads(run("delete", "billing", "--json").stdout)["exchanges"] == 2
    assert "engram sessions" in run("delete", "nobody", "-y", status=1).stderr


@pytest.mark.usefixtures("talked")
def test_context_is_told_or_nothing(run: Run) -> None:
    assert (
        "| Lunch on friday is at the harbour." in run("context", "Is the harbour lunch outdoors, on the quay?").stdout
    )
    assert "Nothing relevant found for this prompt" in run("context", "Paint the submarine yellow.").stdout
    assert json.loads(run("context", "--json").stdout)["left_out"] == 0


@pytest.mark.usefixtures("talked")
def test_a_conversation_is_shown_in_order(run: Run) -> None:
    shown = run("history", "billing").stdout
    assert shown.index("| How do we cache") < shown.index("| With redis")
    assert [load["role"] for load in json.loads(run("history", "billing", "--json").stdout)] == ["user", "assistant"]
    assert "engram sessions" in run("history", "nobody", status=1).stderr


def test_what_was_logged_is_recalled_and_answers(run: Run) -> None:
    session = run("register", "Mending").stdout.strip()
    run("log", "-s", session, "The heron migration needs the advisory lock 7405291")
    assert "7405291" in run("recall", "heron migration advisory lock").stdout
    assert "7405291" in run("ask", "which advisory lock does the heron migration need").stdout


@pytest.mark.usefixtures("talked")
def test_an_empty_answer_does_not_advise_what_was_already_asked(run: Run) -> None:
    assert "--anyway" in run("recall", "zyzzyva", "--flavor", "codex").stdout
    shown = run("recall", "zyzzyva", "--flavor", "codex", "--anyway").stdout
    assert "Nothing" in shown
    assert "--anyway" not in shown
