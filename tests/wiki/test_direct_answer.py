"""Ask answers in the first lines: a command, the work of a time, what is open, a statement; or says that it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.wiki.ask import NOT_DIRECT, UNKNOWN
from tests.capture.transcripts import Claude


@pytest.fixture
def claude(tmp_path: Path, engram: Engram) -> Claude:
    transcript = Claude(tmp_path, cwd=str(tmp_path / "mill"))
    transcript.says("The flour invoices are an hour late every night. Find out why and mend it.")
    transcript.runs("pytest tests/test_invoices.py", "FAILED tests/test_invoices.py::test_late - 1 failed", 1)
    transcript.answers(
        "Root cause: the invoice export reads every row twice because the cursor is opened per page.\n\n"
        "Should I keep one cursor for the export, or cache the pages?"
    )
    transcript.says("Keep one cursor for the whole export, never a cache: the pages change while we read them.")
    transcript.edits("src/invoices.py", "open_cursor(page)", "open_cursor()")
    transcript.runs("pytest", "12 passed in 0.4s")
    transcript.answers("Fixed: the export keeps one cursor now. All 12 tests pass.")
    engram.ingest([str(tmp_path)])
    return transcript


def ask(engram: Engram, question: str) -> list[str]:
    return engram.ask(question).answer.splitlines()


@pytest.mark.usefixtures("claude")
def test_a_command_is_the_answer_to_how_it_is_run(engram: Engram) -> None:
    assert ask(engram, "How do I run the tests?")[0].startswith("Run `pytest` (passed 1 time")


@pytest.mark.usefixtures("claude")
def test_a_decision_and_a_cause_answer_with_day_and_session(engram: Engram) -> None:
    decided = ask(engram, "What did we decide about the cursor of the export?")[0]
    assert decided.startswith("> Decided: ")
    assert "one cursor for the whole export" in decided
    assert "session `" in decided
    cause = ask(engram, "Why were the flour invoices late?")
    assert any("reads every row twice" in line for line in cause[:2])


@pytest.mark.usefixtures("claude")
def test_the_history_of_a_file_names_who_changed_it_and_what_was_decided(engram: Engram) -> None:
    lines = ask(engram, "Who changed src/invoices.py and why?")
    assert lines[0].startswith("- The flour invoices are an hour late")
    assert "[claude, done]" in lines[0]
    assert "one cursor" in lines[1]


@pytest.mark.usefixtures("claude")
def test_what_nothing_states_has_no_direct_answer(engram: Engram) -> None:
    answer = engram.ask("Which licence do the invoices of the export carry?").answer
    assert answer == UNKNOWN or answer.startswith(NOT_DIRECT)
