"""The digest records what happened and how the session ended."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engram.capture.digests.fold import Fold
from engram.types import Event


class Story:
    """Builds the events of a session concisely."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(self, kind: str, **facts: Any) -> Story:
        number = len(self.events)
        self.events.append(
            Event(session="s", key=str(number), kind=kind, order=number, at=number * 1_000_000 + 1, **facts)
        )
        return self

    def user(self, text: str) -> Story:
        return self.add("message", role="user", text=text)

    def agent(self, text: str) -> Story:
        return self.add("message", role="assistant", text=text)

    def tool(self, name: str, arguments: Any, text: str = "", code: int = 0, verdict: str | None = None) -> Story:
        call = f"c{len(self.events)}"
        self.add("call", role="assistant", name=name, call_id=call, arguments=arguments)
        told = verdict or ("error" if code else "ok")
        return self.add("result", role="tool", call_id=call, text=text, verdict=told, exit_code=code or None)

    def run(self, command: str, text: str = "", code: int = 0) -> Story:
        return self.tool("Bash", {"command": command}, text, code)

    def edit(self, path: str) -> Story:
        return self.tool("Edit", {"file_path": path})

    def fold(self) -> Fold:
        fold = Fold()
        for event in self.events:
            fold.add_event(event)
        return fold

    def facts(self) -> dict[str, Any]:
        return self.fold().build_facts()


def test_files_read_and_changed_are_distinguished() -> None:
    facts = (
        Story().user("Go").tool("Read", {"file_path": "a.py"}).edit("b.py").tool("Write", {"file_path": "c.py"}).facts()
    )
    assert facts["read"] == ["a.py"]
    assert facts["changed"] == ["b.py", "c.py"]


def test_a_refused_edit_changed_nothing() -> None:
    story = Story().user("Go").tool("Edit", {"file_path": "a.py"}, verdict="denied")
    assert "changed" not in story.facts()
    assert story.facts()["denials"] == 1


def test_a_patch_names_its_files_in_any_agent() -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n*** Add File: src/b.rs\n*** End Patch"
    assert Story().tool("apply_patch", {"input": patch}).facts()["changed"] == ["src/a.rs", "src/b.rs"]
    assert Story().tool("shell", {"command": ["bash", "-lc", f"apply_patch <<'E'\n{patch}\nE"]}).facts()["changed"]


def test_an_error_is_shown_with_its_fix() -> None:
    story = Story().user("Fix").run("pytest -q", "E   NameError: name 'x' is not defined\n1 failed", 1)
    facts = story.edit("src/x.py").run("pytest -q", "3 passed").facts()
    assert facts["errors"] == ["NameError: name 'x' is not defined [pytest -q] → changed x.py"]
    assert facts["tests"] == {"runs": 2, "failed": 1, "last": True}


def test_tests_that_fail_behind_a_pipe_are_seen() -> None:
    facts = Story().user("Run them").run("go test ./... | tail -5", "--- FAIL: TestX\nFAIL\n").facts()
    assert facts["tests"]["last"] is False


def test_commits_and_discarded_work_are_recorded() -> None:
    story = Story().user("Commit").run('git commit -m "Add sums"', "[main 1a2b3c4] Add sums\n 1 file changed")
    facts = story.run("git reset --hard HEAD~1").facts()
    assert facts["commits"] == ["1a2b3c4 Add sums"]
    assert facts["reverted"] == 1


def test_the_users_objections_are_kept() -> None:
    facts = (
        Story().user("Rename it").agent("Done.").user("no, that's wrong, I meant the other file").agent("Ok").facts()
    )
    assert facts["corrections"] == ["no, that's wrong, I meant the other file"]


def test_a_command_to_the_program_is_not_a_request() -> None:
    story = Story().user("Go").edit("a").agent("Done.").add("message", role="user", name="command", text="/compact")
    assert story.facts()["prompts"] == 1
    assert story.fold().judge_outcome()[0] != "abandoned"


def test_open_steps_and_questions_are_left_open() -> None:
    todo = {"todos": [{"content": "Write docs", "status": "pending"}, {"content": "Code", "status": "completed"}]}
    facts = Story().user("Go").tool("TodoWrite", todo).agent("Shall I rename the module too?").facts()
    assert facts["open"] == ["Write docs", "Shall I rename the module too?"]


@pytest.mark.parametrize(
    ("story", "outcome"),
    [
        (
            Story()
            .user("Fix")
            .edit("a")
            .run("pytest", "3 passed")
            .run("git commit -m x", "[m 1234567] x")
            .agent("Done."),
            "success",
        ),
        (Story().user("Fix").edit("a").run("pytest", "2 failed", 1).agent("I was unable to fix it."), "failure"),
        (Story().user("Fix").edit("a").agent("Done.").user("still broken, revert it"), "abandoned"),
        (Story().user("Fix").edit("a").agent("Done.").user("that's wrong, undo it").agent("Sorry."), "failure"),
        (Story().user("Fix").edit("a").add("interrupt", role="user", text="stop"), "abandoned"),
        (Story().user("Fix").run("sleep 5"), "abandoned"),
        (Story().user("Hello").agent("Hello!"), "unclear"),
        (
            Story()
            .user("Fix")
            .edit("a")
            .run("git commit -m x", "[m 1234567] x")
            .run("pytest", "1 failed", 1)
            .agent("One test is left."),
            "partial",
        ),
        (Story().user("Fix").edit("a").agent("Done.").user("perfect, thanks!").agent("You're welcome."), "success"),
    ],
)
def test_outcomes_follow_the_evidence(story: Story, outcome: str) -> None:
    assert story.fold().judge_outcome()[0] == outcome, story.facts()["evidence"]


def test_more_evidence_makes_surer() -> None:
    little = Story().user("Fix").edit("a").agent("Done.").fold().judge_outcome()
    much = (
        Story().user("Fix").edit("a").run("pytest", "9 passed").run("git commit -m x", "[m 1234567] x").agent("Done.")
    )
    assert much.fold().judge_outcome()[1] > little[1]


def test_a_digest_fits_into_two_kilobytes_however_long_the_session() -> None:
    story = Story()
    for number in range(400):
        story.user(f"Request {number} " + "é" * 300).edit(f"/a/very/long/path/to/some/module_{number}.py")
        story.run(f"make target_{number}", f"error: cannot build target {'x' * 100} {number}", 2)
    fold = story.fold()
    facts = fold.build_facts()
    assert len(json.dumps(facts, ensure_ascii=False).encode()) <= 2048
    assert len(json.dumps(fold.state)) < 64_000


def test_a_fold_continues_from_its_state() -> None:
    story = Story().user("Fix").run("pytest", "1 failed", 1).edit("a.py").run("pytest", "2 passed").agent("Done.")
    for cut in range(len(story.events)):
        fold = Fold()
        for event in story.events[:cut]:
            fold.add_event(event)
        later = Fold(json.loads(json.dumps(fold.state)))
        for event in story.events[cut:]:
            later.add_event(event)
        assert later.build_facts() == story.facts()
