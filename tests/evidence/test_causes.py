"""A cause counts when the agent states it as a fact and what followed bears it out."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from tests.capture.transcripts import Claude
from tests.evidence.test_episodes import edits


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    return Claude(tmp_path / "agents")


def read_causes(engram: Engram, transcript: Claude) -> list[str]:
    engram.ingest([str(transcript.path)])
    return [cause for episode in engram.list_episodes(transcript.session) for cause in episode.causes]


@pytest.mark.parametrize(
    "cause",
    [
        "The cause: the flag `--clean` wipes the directory before the archive is uploaded.",
        "The release step wipes the directory before building, so the archive is deleted before the upload.",
        "`shouldFilter` doesn't include the summary file, and the secret in it passes through the filter.",
    ],
)
def test_a_fact_with_the_wrong_that_follows_from_it_is_a_cause(engram: Engram, claude: Claude, cause: str) -> None:
    claude.says("Fix the missing archive, the upload fails since yesterday")
    claude.answers(cause)
    edits(claude, "/home/me/app/release.yml")
    claude.runs("pytest -q", "3 passed in 0.1s")
    claude.answers("It works.")
    assert read_causes(engram, claude) == [cause]


@pytest.mark.parametrize(
    "sentence",
    [
        "The problem might be that the directory is wiped before the archive is uploaded.",
        "Root cause fix: `release.yml` now sets the directory before it builds the archive.",
        "Let me find the root cause of the missing archive in the release workflow first.",
    ],
)
def test_a_guess_or_a_plan_is_no_cause(engram: Engram, claude: Claude, sentence: str) -> None:
    claude.says("Fix the missing archive, the upload fails since yesterday")
    claude.answers(sentence)
    edits(claude, "/home/me/app/release.yml")
    claude.runs("pytest -q", "3 passed in 0.1s")
    claude.answers("It works.")
    assert read_causes(engram, claude) == []


def test_the_sentence_after_the_named_cause_belongs_to_it(engram: Engram, claude: Claude) -> None:
    claude.says("Fix the failing release")
    claude.answers(
        "Root cause: the tags exist but the package was never published. Tags pushed by the workflow's own token "
        "do not start the publish workflow. Let me change that."
    )
    edits(claude, "/home/me/app/release.yml")
    claude.answers("Changed.")
    assert read_causes(engram, claude) == [
        (
            "Root cause: the tags exist but the package was never published. Tags pushed by the workflow's own token "
            "do not start the publish workflow."
        )
    ]


def test_what_follows_an_announced_issue_is_the_cause(engram: Engram, claude: Claude) -> None:
    claude.says("Fix the empty prompt of a reused checkpoint")
    claude.answers(
        "I see the issue. When a checkpoint is reused we drop the session that provided it, and the prompt remains "
        "empty."
    )
    edits(claude, "/home/me/app/checkpoint.py")
    claude.answers("Changed.")
    assert read_causes(engram, claude) == [
        "When a checkpoint is reused we drop the session that provided it, and the prompt remains empty."
    ]
