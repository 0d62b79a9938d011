"""A session is told as episodes: what was asked, decided and done, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engram import Decision, Engram, Episode
from tests.capture.transcripts import Claude

PLAN = """# Rate limits

## Context

The API answers 429 under load.

- Add a token bucket
- Keep the limits in one table"""


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    return Claude(tmp_path / "agents")


def read(engram: Engram, transcript: Claude) -> list[Episode]:
    engram.ingest([str(transcript.path)])
    return engram.list_episodes(transcript.session)


def texts(decisions: tuple[Decision, ...]) -> list[str]:
    return [decision.text for decision in decisions]


def edits(transcript: Claude, path: str, old: str = "a", new: str = "b") -> None:
    calls(transcript, "Edit", {"file_path": path, "old_string": old, "new_string": new}, "edited")


def calls(transcript: Claude, tool: str, arguments: dict[str, Any], result: str, *, refused: bool = False) -> None:
    call = f"toolu_{transcript.clock}"
    block = {"type": "tool_use", "id": call, "name": tool, "input": arguments}
    message = {"id": f"m{call}", "role": "assistant", "model": "x", "usage": {"output_tokens": 1}, "content": [block]}
    transcript.write(transcript.record("assistant", message=message))
    answer = {"type": "tool_result", "tool_use_id": call, "content": result, "is_error": refused}
    transcript.write(transcript.record("user", message={"role": "user", "content": [answer]}))


def test_a_new_request_after_work_begins_an_episode(engram: Engram, claude: Claude) -> None:
    claude.says("Fix the crash in the importer")
    edits(claude, "/home/me/app/importer.py")
    claude.runs("pytest -q", "3 passed in 0.1s")
    claude.answers("Fixed the crash.")
    claude.says("Add a --verbose flag to the exporter")
    edits(claude, "/home/me/app/exporter.py")
    claude.answers("Added.")
    first, second = read(engram, claude)
    assert (first.title, first.result, first.tests) == ("Fix the crash in the importer", "fixed", "passed")
    assert first.changed == ("/home/me/app/importer.py",)
    assert (second.title, second.result) == ("Add a --verbose flag to the exporter", "done")


def test_a_request_is_shown_without_wrappers_and_boilerplate(engram: Engram, claude: Claude) -> None:
    claude.says(f"Implement the following plan:\n\n{PLAN}\n\n<system-reminder>Be nice.</system-reminder>")
    claude.answers("On it.")
    (episode,) = read(engram, claude)
    assert episode.title == "Rate limits"
    assert "429" in episode.request
    assert "reminder" not in episode.request
    assert any("token bucket" in text for text in texts(episode.decisions))  # handing over a plan accepts it
    assert engram.get_digest(claude.session).facts["goal"].startswith("Rate limits")


def test_answers_to_an_agent_s_question_are_decisions(engram: Engram, claude: Claude) -> None:
    claude.says("Add a cache")
    question = {
        "question": "Which eviction policy?",
        "options": [{"label": "LRU", "description": "drop what was used least recently"}, {"label": "FIFO"}],
    }
    answer = 'User has answered your questions: "Which eviction policy?"="LRU". You can now continue.'
    calls(claude, "AskUserQuestion", {"questions": [question]}, answer)
    (episode,) = read(engram, claude)
    (decision,) = episode.decisions
    assert decision.kind == "answer"
    assert decision.text == "LRU: drop what was used least recently"
    assert decision.about == "Which eviction policy?"
    assert decision.events  # what it stands on can be read


def test_a_correction_and_what_it_turns_down(engram: Engram, claude: Claude) -> None:
    claude.says("The retries hammer the upstream, can you look?")
    claude.answers("The budget is 10. I'll lower MAX_ATTEMPTS to a round 5, which is safe.")
    claude.says("No, not 5. We measured it: use exactly 7, the eighth trips the limiter.")
    claude.answers("Understood: MAX_ATTEMPTS is exactly 7, measured to fit the limiter's window.")
    claude.says("Right, leave it at 7.")
    (episode,) = read(engram, claude)
    decided = " ".join(texts(episode.decisions))
    assert "exactly 7" in decided
    assert any("round 5" in text for text in texts(episode.rejected))
    assert "round 5" not in decided


def test_a_refused_call_with_its_reason(engram: Engram, claude: Claude) -> None:
    claude.says("Set up the project")
    refusal = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected. The user provided the"
        " following reason for the rejection:  use pnpm"
    )
    calls(claude, "Bash", {"command": "npm install"}, refusal, refused=True)
    (episode,) = read(engram, claude)
    assert texts(episode.decisions) == ["use pnpm"]
    assert texts(episode.rejected) == ["run npm install"]


def test_talk_without_a_decision_has_none(engram: Engram, claude: Claude) -> None:
    claude.says("How does the index find a phrase?")
    claude.answers("It intersects the positions of the words. The tokenizer makes sure that parts match too.")
    claude.says("Makes sense. And does it handle Chinese, or only words with spaces?")
    claude.answers("It indexes pairs of characters for that.")
    claude.says("Got it, thanks!")
    assert [episode.decisions for episode in read(engram, claude)] == [()]


def test_a_later_decision_supersedes_the_earlier_one(engram: Engram, tmp_path: Path) -> None:
    first, second = Claude(tmp_path / "a"), Claude(tmp_path / "b")
    first.says("Synced contacts are duplicated")
    first.answers("I'd key duplicates on the email. When two contacts collide, should I keep the newer one?")
    first.says("Yes, keep the newer contact on a collision.")
    first.answers("Settled: contacts are keyed on the email, and on a collision the newer contact wins.")
    second.clock = 600
    second.says("Amendment to the contact merge: keeping the newer contact loses phone numbers on a collision.")
    second.answers("Should the contact with more filled fields win the collision then?")
    second.says("Exactly, on a collision the contact with more filled fields wins.")
    second.answers("Amended rule: contacts keyed on the email, the fuller contact wins a collision.")
    read(engram, first)
    read(engram, second)
    in_force = engram.list_decisions()
    assert all("newer contact wins" not in decision.text for decision in in_force)
    assert any("fuller contact" in decision.text for decision in in_force)
    older = [decision for decision in engram.list_decisions(everything=True) if decision.superseded_by]
    assert {decision.superseded_by for decision in older} <= {decision.id for decision in in_force}
    engram.delete_session(second.session)
    assert any("newer contact wins" in decision.text for decision in engram.list_decisions())  # nothing is lost


def test_what_the_agent_reports_to_have_replaced_is_superseded_in_a_later_episode(
    engram: Engram, claude: Claude
) -> None:
    claude.says("The sack labels need a shade that fits their width")
    claude.answers("Which syntax should a label with one shade have?")
    claude.says("Use `shade-label(#hue)` with a single hue, and derive the lighter one from it.")
    edits(claude, "/home/me/mill/labels.py", "hue = None", "hue = shade(hue)")
    claude.answers("Done: a label with one hue is shaded.")
    claude.says("The labels look too dark on small sacks. Please find another way to shade the single hue.")
    edits(claude, "/home/me/mill/labels.py", "hue = shade(hue)", "hue = dark(hue)")
    claude.answers("`dark-label(#hue)` and `light-label(#hue)` replace the old single hue `shade-label(#hue)` syntax.")
    read(engram, claude)
    texts = [decision.text for decision in engram.list_decisions()]
    assert any("dark-label" in text for text in texts)
    assert not any(text.startswith("Use `shade-label(#hue)`") for text in texts)
    replaced = [decision for decision in engram.list_decisions(everything=True) if decision.superseded_by]
    assert ["Use `shade-label(#hue)`" in decision.text for decision in replaced] == [True]


def test_an_error_is_joined_to_what_ended_it(engram: Engram, claude: Claude) -> None:
    claude.says("Make the tests pass")
    claude.runs("pytest -q", "E   NameError: name 'os' is not defined\n1 failed in 0.1s", 1)
    claude.answers("The issue is that the module uses os without importing it.")
    edits(claude, "/home/me/app/paths.py", "import re", "import os\nimport re")
    claude.runs("pytest tests -q | tail -3", "4 passed in 0.1s")
    claude.answers("All tests pass now.")
    (episode,) = read(engram, claude)
    (error,) = episode.errors
    assert "NameError" in error.error
    assert error.fix.startswith("changed paths.py: added `import os`")
    assert "without importing" in error.cause
    assert any("without importing" in cause for cause in episode.causes)


def test_what_is_open_is_struck_off_when_it_is_done(engram: Engram, claude: Claude) -> None:
    todos = [{"content": "Write the migration", "status": "completed"}, {"content": "Update docs", "status": "pending"}]
    claude.says("Rename the table")
    calls(claude, "TodoWrite", {"todos": todos}, "ok")
    edits(claude, "/home/me/app/table.sql")
    claude.answers("Done. The rollback script is not yet tested on PostgreSQL.")
    (episode,) = read(engram, claude)
    assert episode.open == ("Update docs", "The rollback script is not yet tested on PostgreSQL.")
    assert {item.text for item in engram.list_open_items()} == set(episode.open)
    calls(claude, "TodoWrite", {"todos": [{**todo, "status": "completed"} for todo in todos]}, "ok")
    claude.answers("Updated docs and tested the rollback.")
    (episode,) = read(engram, claude)
    assert episode.open == ()
    assert engram.list_open_items() == []


def test_every_episode_of_a_long_session_is_kept(engram: Engram, claude: Claude) -> None:
    for number in range(30):
        claude.says(f"Change module number {number} of the parser")
        edits(claude, f"/home/me/app/m{number}.py")
        claude.answers("Done.")
    assert [episode.number for episode in read(engram, claude)] == list(range(30))


def test_reading_a_session_in_parts_gives_the_same_episodes(engram: Engram, tmp_path: Path) -> None:
    whole, parts = Claude(tmp_path / "a", "whole-1"), Claude(tmp_path / "b", "parts-1")

    def tell(transcript: Claude, after_each: Callable[[], object]) -> None:
        steps: list[Callable[[], None]] = [
            lambda: transcript.says("Fix the parser"),
            lambda: edits(transcript, "/home/me/app/p.py"),
            lambda: transcript.runs("pytest", "1 failed in 0.1s", 1),
            lambda: transcript.answers("Should I keep tabs?"),
            lambda: transcript.says("No, never tabs. Use spaces only."),
            lambda: transcript.answers("Spaces only, then."),
            lambda: transcript.runs("pytest", "2 passed in 0.1s"),
            lambda: transcript.answers("All pass."),
        ]
        for step in steps:
            step()
            after_each()

    tell(whole, lambda: None)
    tell(parts, lambda: engram.ingest([str(parts.path)]))

    def shape(episode: Episode) -> list[object]:
        return [episode.title, episode.result, texts(episode.decisions), episode.changed, episode.tests]

    assert list(map(shape, read(engram, parts))) == list(map(shape, read(engram, whole)))
    assert "never tabs" in " ".join(texts(engram.list_episodes("parts-1")[0].decisions))
