"""Events as each agent sends them are parsed, and answered in its format.

The golden files contain events of real programs, one file per agent and version, named as in tools/clients.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.agents.agent import AFTER, BEFORE, PROMPT, START
from engram.surfaces.hooks import hook_event, responses, tool_files
from engram.surfaces.hooks.responses import MAX_CONTEXT_CHARS, HookResponse
from tests.capture.transcripts import SHARED

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(path.stem for path in GOLDEN.glob("*.json"))
CHANGED = {"claude", "gemini", "grok", "qwen", "copilot", "codex"}


def met(record: dict[str, Any]) -> hook_event.HookEvent:
    result = hook_event.read_hook_event(json.dumps(record["payload"]).encode(), [], record["env"])
    assert result is not None
    return result


def golden(name: str) -> list[tuple[dict[str, Any], hook_event.HookEvent]]:
    records = json.loads((GOLDEN / f"{name}.json").read_text())
    return [(record, met(record)) for record in records]


@pytest.mark.parametrize("name", FILES)
def test_the_agent_is_recognized_by_its_event(name: str) -> None:
    assert {event.flavor for _, event in golden(name)} == {name.partition("-")[0]}


@pytest.mark.parametrize("name", FILES)
def test_every_event_is_known_by_its_name(name: str) -> None:
    for record, event in golden(name):
        assert event.event == hook_event.EVENTS[record["event"].lower()]
        assert event.session
        assert event.cwd == "/home/me/app"


@pytest.mark.parametrize("name", FILES)
def test_what_the_user_asked_is_read_without_what_hooks_put_before_it(name: str) -> None:
    prompts = {event.prompt for _, event in golden(name) if event.event == PROMPT}
    assert all(prompt.startswith("change the constant") for prompt in prompts)
    assert prompts


@pytest.mark.parametrize("name", FILES)
def test_the_files_a_tool_is_about_to_write_are_known(name: str) -> None:
    before = [event for _, event in golden(name) if event.event == BEFORE]
    written = {path for each in before for path in tool_files.list_edited_files(each.tool, each.tool_input)}
    assert {Path(path).name for path in written} <= {"app.py", "new.py"}
    assert written
    read = {path for each in before for path in tool_files.list_read_files(each.tool, each.tool_input)}
    assert {Path(path).name for path in read} <= {"app.py"}
    assert "by-claude" in name or any(tool_files.is_shell(each.tool) for each in before)


@pytest.mark.parametrize("name", FILES)
def test_a_refusal_is_in_the_shape_the_agent_obeys(name: str) -> None:
    each = next(event for _, event in golden(name) if event.event == BEFORE)
    answer = responses.format_response(each, HookResponse(refusal="held by another"))
    inner = answer if each.flavor == "copilot" and not each.borrowed else answer["hookSpecificOutput"]
    assert (inner["permissionDecision"], inner["permissionDecisionReason"]) == ("deny", "held by another")
    if each.flavor in ("gemini", "grok"):
        assert (answer["decision"], answer["reason"]) == ("deny", "held by another")


@pytest.mark.parametrize("name", FILES)
def test_context_is_in_the_shape_the_agent_takes_in(name: str) -> None:
    record, each = next((r, event) for r, event in golden(name) if event.event == AFTER)
    answer = responses.format_response(each, HookResponse(context="news"))
    if each.flavor == "copilot" and not each.borrowed:
        assert answer == {"additionalContext": "news"}
    else:
        assert answer["hookSpecificOutput"] == {"hookEventName": record["event"], "additionalContext": "news"}


def test_context_is_not_given_where_the_model_would_not_get_it() -> None:
    deaf = {
        (name, event.event)
        for name in FILES
        for _, event in golden(name)
        if event.event in (START, PROMPT) and not responses.reaches_model(event)
    }
    assert {(name.partition("-")[0], "by-claude" in name) for name, _ in deaf} == {("grok", False), ("copilot", True)}


RECORDED = [
    path
    for path in sorted((SHARED / "realclients" / "samples").glob("*/*/hooks.jsonl"))
    if not path.parts[-3].startswith("opencode")  # it has no hooks; its plugin speaks our own words
]


@pytest.mark.skipif(not RECORDED, reason="the recorded hook events are not here (../shared)")
@pytest.mark.parametrize("recording", RECORDED or [Path()])
def test_every_recorded_event_of_the_shared_samples_is_understood(recording: Path) -> None:
    flavor = recording.parts[-3].partition("-")[0]
    for line in recording.read_text().splitlines():
        record = json.loads(line)
        result = hook_event.read_hook_event(json.dumps(record["input"]).encode(), [], record["env"])
        known = record["event"].lower() in hook_event.EVENTS
        assert (result is not None) == known
        assert result is None or (result.flavor, result.event) == (flavor, hook_event.EVENTS[record["event"].lower()])


def test_a_patch_names_every_file_it_touches() -> None:
    lines = ("Begin Patch", "Add File: a.py", "Update File: b.py", "Move to: c.py", "Delete File: d.py", "End Patch")
    patch = "\n".join(f"*** {line}" for line in lines)
    assert tool_files.list_edited_files("apply_patch", {"command": patch}) == ["a.py", "b.py", "c.py", "d.py"]
    assert tool_files.list_edited_files("Bash", {"command": f"apply_patch <<'EOF'\n{patch}\nEOF"}) == [
        "a.py",
        "b.py",
        "c.py",
        "d.py",
    ]
    assert tool_files.list_edited_files("Bash", {"command": "ls"}) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
)
NAMES = st.sampled_from([
    "session_id", "sessionId", "hook_event_name", "hookEventName", "tool_name", "toolName", "tool_input", "toolArgs",
    "cwd", "prompt", "transcript_path", "turn_id", "prompt_id", "source", "flavor", "agent_id", "model", "reason",
])  # fmt: skip


@given(st.dictionaries(NAMES, JSON | st.sampled_from(["PreToolUse", "Edit", "s1", "SessionStart"])))
def test_any_event_is_parsed_or_ignored(payload: dict[str, Any]) -> None:
    result = hook_event.read_hook_event(json.dumps(payload).encode(), [], {})
    if result is not None:
        assert result.event in set(hook_event.EVENTS.values())
        assert all(isinstance(path, str) for path in tool_files.list_edited_files(result.tool, result.tool_input))
        json.dumps(responses.format_response(result, HookResponse(context="a", refusal="b")))


@given(st.text(max_size=30_000), st.integers(1, 60))
def test_context_fits_every_agent(text: str, times: int) -> None:
    fitted = responses.truncate_context(text * times)
    assert len(fitted.encode("utf-8", "replace")) <= MAX_CONTEXT_CHARS
