"""What a subagent does counts for the session that started it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engram import Engram
from tests.capture.transcripts import Claude
from tests.evidence.test_episodes import calls, edits


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    return Claude(tmp_path / "agents")


def add_subagent(parent: Claude) -> Claude:
    """Return the transcript of a subagent, whose records name its parent's session."""
    child = Claude(parent.path.parents[3], session=parent.session)
    child.path = parent.path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    child.path.parent.mkdir(parents=True)
    child.clock = parent.clock
    return child


def mark_sidechain(child: Claude) -> None:
    records = [json.loads(line) for line in child.path.read_text().splitlines()]
    marked = [{**record, "isSidechain": True, "agentId": "a1"} for record in records]
    child.path.write_text("".join(json.dumps(record) + "\n" for record in marked))


def test_the_files_and_tests_of_a_subagent_are_its_parents(engram: Engram, claude: Claude) -> None:
    claude.says("Rename the parser with a subagent")
    calls(claude, "Task", {"prompt": "Rename it"}, "done")
    child = add_subagent(claude)
    child.says("Rename it")
    edits(child, "/home/me/app/parser.py")
    child.runs("pytest -q", "3 passed in 0.1s")
    mark_sidechain(child)
    claude.clock = child.clock
    claude.answers("The subagent renamed the parser.")
    engram.ingest([str(claude.path), str(child.path)])
    (episode,) = engram.list_episodes(claude.session)
    facts = engram.get_digest(claude.session).facts
    assert (episode.changed, episode.tests) == (("/home/me/app/parser.py",), "passed")
    assert facts["changed"] == ["parser.py"]
    assert facts["tests"]["last"] is True
    (subagent,) = [found for found in engram.list_sessions(subagents=True) if found.relation == "subagent"]
    assert subagent.outcome != "abandoned"


def test_files_that_git_names_after_a_subagent_are_changed(engram: Engram, claude: Claude) -> None:
    claude.says("Implement it with a subagent")
    calls(claude, "Task", {"prompt": "Implement it"}, "started in the background")
    claude.runs("git diff --stat", " src/gradient.go | 12 ++++\n 1 file changed, 12 insertions(+)")
    claude.runs("git add src/colors.go && git commit -m x", "[main 1a2b3c4d] x\n 1 file changed")
    claude.answers("Done.")
    engram.ingest([str(claude.path)])
    (episode,) = engram.list_episodes(claude.session)
    assert episode.changed == ("src/gradient.go", "src/colors.go")
