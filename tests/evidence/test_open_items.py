"""What a session leaves undone: an item asks for something, and is struck off when it is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from tests.capture.transcripts import Claude
from tests.evidence.test_episodes import calls, edits


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


REVIEW = (
    "## Review\n\n### Strengths\n\n- **Good tests**: they cover every branch.\n\n### Issues\n\n"
    "#### 1. `read_header` ignores a truncated file (Medium)\n\n`parser.py:12` - the error is dropped silently.\n\n"
    "#### 2. Missing docstring on `write_footer`\n\nEvery public function has one.\n\n"
    "#### 3. `max()` of an empty list (Non-issue, just noting)\n\n### Verdict\n\nGood work.\n"
)


def test_findings_of_a_review_that_nobody_took_up_are_open(engram: Engram, claude: Claude) -> None:
    claude.says("Review the parser of the new format please")
    claude.runs("git diff main", "diff --git a/parser.py b/parser.py")
    claude.answers(REVIEW)
    claude.says("Add the missing docstring first, the rest comes another day")
    edits(claude, "/home/me/app/parser.py", "def write_footer():", 'def write_footer():\n    """Write it."""')
    claude.answers("Added the docstring of `write_footer`.")
    items = [item for item in read_open(engram, claude) if item.startswith("Review finding")]
    assert items == [
        (
            "Review finding: `read_header` ignores a truncated file (Medium): "
            "`parser.py:12` - the error is dropped silently."
        )
    ]


@pytest.mark.parametrize("reply", ["do both please", "Fix all of the issues you found"])
def test_findings_that_a_person_has_fixed_together_are_not_open(engram: Engram, claude: Claude, reply: str) -> None:
    claude.says("Review the parser of the new format please")
    claude.runs("git diff main", "diff --git a/parser.py b/parser.py")
    claude.answers(REVIEW)
    claude.says(reply)
    edits(claude, "/home/me/app/parser.py")
    claude.answers("Done.")
    assert read_open(engram, claude) == []


def test_findings_of_a_review_that_was_all_that_was_asked_for_are_not_open(engram: Engram, claude: Claude) -> None:
    claude.says("Review the parser of the new format please")
    claude.runs("git diff main", "diff --git a/parser.py b/parser.py")
    claude.answers(REVIEW)
    assert read_open(engram, claude) == []


def test_a_plan_of_which_nothing_was_carried_out_is_open(engram: Engram, claude: Claude) -> None:
    claude.says("Investigate why the totals differ and plan a fix")
    calls(
        claude,
        "Write",
        {
            "file_path": "/home/me/.claude/plans/calm-red-fox.md",
            "content": "# Fix the totals\n\n## Approach\n\nAdd a column that keeps the original base of each total.\n",
        },
        "File created",
    )
    claude.write(claude.record("user", message={"role": "user", "content": "[Request interrupted by user]"}))
    assert read_open(engram, claude) == [
        (
            "Plan not carried out: Fix the totals: Add a column that keeps the original base of each total. "
            "(calm-red-fox.md)"
        )
    ]


def test_a_plan_that_was_begun_is_not_open(engram: Engram, claude: Claude) -> None:
    claude.says("Investigate why the totals differ and plan a fix")
    calls(
        claude, "Write", {"file_path": "/home/me/.claude/plans/calm-red-fox.md", "content": "# Fix the totals\n"}, "ok"
    )
    edits(claude, "/home/me/app/totals.py")
    claude.answers("The totals are fixed.")
    assert read_open(engram, claude) == []


def test_a_choice_that_nobody_made_is_open_with_its_options(engram: Engram, claude: Claude) -> None:
    claude.says("Why does the test fail, and how can we fix it?")
    claude.answers(
        "There are two ways.\n\n**Option 1: Remove the parallel mark** (simplest)\n\n**Option 2: Pass the path**\n\n"
        "Option 1 is simple.\n\nWhich approach do you prefer?"
    )
    assert read_open(engram, claude) == [
        "Not decided: Which approach do you prefer? Remove the parallel mark (simplest) / Pass the path"
    ]


def test_tasks_created_one_by_one_are_open_until_they_are_completed(engram: Engram, claude: Claude) -> None:
    claude.says("Add the export command and document it")
    calls(claude, "TaskCreate", {"subject": "Add the export command"}, "ok")
    calls(claude, "TaskCreate", {"subject": "Document the export command"}, "ok")
    edits(claude, "/home/me/app/export.py")
    calls(claude, "TaskUpdate", {"taskId": "1", "status": "completed"}, "ok")
    claude.answers("The command works.")
    assert read_open(engram, claude) == ["Document the export command"]
    calls(claude, "TaskUpdate", {"taskId": "2", "status": "completed"}, "ok")
    assert read_open(engram, claude) == []


def test_a_task_that_was_begun_before_a_later_one_was_completed_is_not_open(engram: Engram, claude: Claude) -> None:
    claude.says("Add the export command and document it")
    for subject in ("Add the export command", "Document the export command"):
        calls(claude, "TaskCreate", {"subject": subject}, "ok")
    for number, status in (("1", "in_progress"), ("2", "in_progress"), ("2", "completed")):
        calls(claude, "TaskUpdate", {"taskId": number, "status": status}, "ok")
    claude.answers("Both are there.")
    assert read_open(engram, claude) == []


def test_a_step_of_a_plan_that_others_would_see_is_open_until_it_is_done(engram: Engram, claude: Claude) -> None:
    claude.says(
        "Implement the following plan:\n\n# Fix the totals\n\nThe totals of the report are wrong since Monday.\n\n"
        "### Step 1: Change the totals\n\n### Step 2: Reply to the comment on the pull request\n"
    )
    edits(claude, "/home/me/app/totals.py")
    claude.answers("The totals are right.")
    assert read_open(engram, claude) == ["Step of the plan not done: Reply to the comment on the pull request"]
    claude.runs("gh pr comment 12 --body 'Fixed'", "https://example.com/pull/12")
    assert read_open(engram, claude) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Removing the old reader is a good follow-up once nobody uses it.",
        "The checksum loop may already do nothing, but that is outside this issue's scope.",
        "Once the parser is merged, the importer needs the new name as well.",
        "Two findings are left as-is, flagged but not fixed, your call.",
    ],
)
def test_what_a_report_leaves_for_another_time_is_open(engram: Engram, claude: Claude, sentence: str) -> None:
    claude.says("Add a parser for the new format")
    edits(claude, "/home/me/app/parser.py")
    claude.answers(f"The parser is there and works. {sentence}")
    assert read_open(engram, claude) == [sentence]
