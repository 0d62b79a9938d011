"""What a session leaves undone: an item asks for something, and is struck off when it is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from tests.capture.transcripts import Claude
from tests.evidence.test_episodes import edits


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    return Claude(tmp_path / "agents")


def read_open(engram: Engram, transcript: Claude) -> list[str]:
    engram.ingest([str(transcript.path)])
    return list(engram.get_digest(transcript.session).facts.get("open") or ())


def test_what_the_final_report_says_is_not_done_is_open(engram: Engram, claude: Claude) -> None:
    claude.says("Add a parser for the new format")
    edits(claude, "/home/me/app/parser.py")
    claude.answers(
        "Added the parser.\n\n## Loose ends\n\n- The Windows path handling was not tested on a real machine.\n"
        "- Old files are untouched, as you asked."
    )
    assert read_open(engram, claude) == ["The Windows path handling was not tested on a real machine."]


def test_a_commit_that_the_agent_says_is_not_pushed_is_open_until_it_is(engram: Engram, claude: Claude) -> None:
    claude.says("Fix the colour of the prompt and commit it")
    claude.runs("git commit -am 'Fix colour'", "[next 1a2b3c4d] Fix colour\n 1 file changed")
    claude.answers("Committed. Not pushed, say the word if you want that too.")
    assert read_open(engram, claude) == ["Commit 1a2b3c4d on next is not pushed"]
    claude.says("Push it please, the branch is ready")
    claude.runs("git push", "To github.com:me/app\n 1..2 next -> next")
    claude.answers("Pushed.")
    assert read_open(engram, claude) == []


def test_an_offer_that_nobody_answered_is_open(engram: Engram, claude: Claude) -> None:
    claude.says("Fix what the reviewer found")
    edits(claude, "/home/me/app/parser.py")
    claude.answers("All three are fixed. Want me to reply to the review threads on the pull request?")
    assert read_open(engram, claude) == ["Want me to reply to the review threads on the pull request?"]


@pytest.mark.parametrize(
    "ending",
    [
        "Done. Anything else I can help with?",
        "Done. How can I assist you with the next feature today?",
        "Done. The old tests are skipped by design and remain untouched.",
        "Done. Not pushed, as you asked.",
        "Done. To use this, you'll need to install the library first.",
    ],
)
def test_what_asks_for_nothing_is_no_open_item(engram: Engram, claude: Claude, ending: str) -> None:
    claude.says("Fix the colour of the prompt")
    claude.runs("git commit -am 'Fix colour'", "[next 1a2b3c4d] Fix colour\n 1 file changed")
    claude.answers(ending)
    assert read_open(engram, claude) == []


def test_what_a_person_puts_off_is_open(engram: Engram, claude: Claude) -> None:
    claude.says("Add the export command to the importer")
    edits(claude, "/home/me/app/export.py")
    claude.answers("Added. The docs need a page as well.")
    claude.says("Good. We'll do the documentation page in another PR.")
    claude.answers("Understood.")
    assert "We'll do the documentation page in another PR." in read_open(engram, claude)


def test_tests_that_fail_at_the_end_are_open(engram: Engram, claude: Claude) -> None:
    claude.says("Make the tests pass")
    claude.runs("pytest -q", "FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed in 0.1s", 1)
    claude.answers("One of them is hard.")
    assert read_open(engram, claude) == ["The last tests failed: FAILED tests/test_a.py::test_b - assert 1 == 2"]


def test_a_transcript_that_is_cut_after_the_work_passed_is_a_success(engram: Engram, claude: Claude) -> None:
    claude.says("Make the tests pass")
    edits(claude, "/home/me/app/a.py")
    claude.runs("pytest -q", "3 passed in 0.1s")
    engram.ingest([str(claude.path)])
    assert engram.get_digest(claude.session).outcome == "success"


def test_an_objection_that_was_followed_by_a_commit_is_no_failure(engram: Engram, claude: Claude) -> None:
    claude.says("Fix the colour of the prompt")
    edits(claude, "/home/me/app/a.py")
    claude.answers("Fixed; I opened a pull request.")
    claude.says("No, don't create a pull request, just a commit")
    claude.runs("git commit -am 'Fix colour'", "[next 1a2b3c4d] Fix colour\n 1 file changed")
    claude.answers("Committed.")
    engram.ingest([str(claude.path)])
    assert engram.get_digest(claude.session).outcome == "success"
