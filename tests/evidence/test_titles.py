"""Titles and goals that name no subject get it from what the work was about."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from tests.capture.transcripts import Claude
from tests.evidence.test_episodes import edits


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    return Claude(tmp_path / "agents")


def read_titles(engram: Engram, transcript: Claude) -> list[str]:
    engram.ingest([str(transcript.path)])
    return [episode.title for episode in engram.list_episodes(transcript.session)]


def read_goal(engram: Engram, transcript: Claude) -> str:
    engram.ingest([str(transcript.path)])
    return str(engram.get_digest(transcript.session).facts.get("goal", ""))


def test_a_request_to_commit_is_named_by_its_commit(engram: Engram, claude: Claude) -> None:
    claude.says("Let the importer skip empty rows")
    edits(claude, "/home/me/app/importer.py")
    claude.answers("It skips them.")
    claude.says("commit and push")
    claude.runs("git commit -am 'Skip empty rows'", "[main 1a2b3c4d] Skip empty rows\n 1 file changed")
    claude.answers("Pushed.")
    assert read_titles(engram, claude) == ["Let the importer skip empty rows", "commit and push: Skip empty rows"]


def test_a_vague_goal_names_the_file_that_was_changed(engram: Engram, claude: Claude) -> None:
    claude.says("we need to fix some merge conflicts")
    edits(claude, "/home/me/app/importer.py")
    claude.answers("Both sides are kept.")
    assert read_goal(engram, claude) == "we need to fix some merge conflicts: importer.py"


def test_a_goal_that_names_its_subject_is_left_as_it_is(engram: Engram, claude: Claude) -> None:
    claude.says("Fix the crash in the importer")
    edits(claude, "/home/me/app/rows.py")
    claude.runs("git commit -am 'Skip empty rows'", "[main 1a2b3c4d] Skip empty rows\n 1 file changed")
    assert read_goal(engram, claude) == "Fix the crash in the importer"


def test_a_command_without_a_request_is_named_by_what_the_agent_reports(engram: Engram, claude: Claude) -> None:
    claude.says("<command-message>review</command-message>\n<command-name>/review</command-name>")
    claude.runs("gh pr diff 12", "diff --git a/parser.py b/parser.py")
    claude.answers("Here is my review.\n\n## Code Review: PR #12 - Read truncated files\n\n### Issues\n\nNone.")
    claude.says("Rename the reader to parser before you push")
    edits(claude, "/home/me/app/parser.py")
    claude.answers("Renamed.")
    assert read_titles(engram, claude)[0] == "/review: PR #12 - Read truncated files"
    assert read_goal(engram, claude) == (
        "/review: PR #12 - Read truncated files; then Rename the reader to parser before you push"
    )


def test_a_continued_session_is_about_what_was_in_hand(engram: Engram, claude: Claude) -> None:
    summary = (
        "This session is being continued from a previous conversation that ran out of context.\n\nSummary:\n"
        "1. Primary Request and Intent:\n   - User wanted to brainstorm the new report format\n"
        "   - Created three tickets for it\n   - Currently implementing the totals of the report\n\n"
        "2. Key Technical Concepts:\n   - Totals\n"
    )
    claude.write(claude.record("user", message={"role": "user", "content": summary}, isCompactSummary=True))
    edits(claude, "/home/me/app/totals.py")
    claude.answers("The totals are there.")
    assert read_goal(engram, claude) == (
        "Currently implementing the totals of the report. User wanted to brainstorm the new report format"
    )


def test_what_a_person_wrote_below_a_pasted_terminal_is_the_goal(engram: Engram, claude: Claude) -> None:
    claude.says(
        "$ git push origin main\nerror: No `prek.toml` found in the current directory\n\nhint: rerun your command\n"
        "error: failed to push some refs\n\nplease fix, I no longer use prek"
    )
    claude.answers("I look at the hooks.")
    assert read_goal(engram, claude) == (
        "please fix, I no longer use prek: git push origin main: error: No `prek.toml` found in the current directory"
    )
