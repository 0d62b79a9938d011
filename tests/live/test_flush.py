"""Real agents: what was said is in the daily log once a session ends, and before it is compacted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engram.wiki.vault import daily_log, vault
from tests.live.conftest import AGENTS, Live
from tests.live.test_agents import Make, project, until

__all__ = ["project"]

ASKED = "Please find out why the lighthouse of the harbour blinks twice at night."
NEXT = "And now write down which ships pass the lighthouse in the morning, please."


def entries(live: Live) -> list[daily_log.LogEntry]:
    with live.open() as engram:
        place = vault.open_vault(engram)
        return [
            entry
            for day in daily_log.list_days(place)
            for entry in daily_log.parse_entries(place.read(f"daily/{day}") or "", day)
        ]


def holding(live: Live, words: str) -> daily_log.LogEntry:
    def found() -> daily_log.LogEntry | None:
        return next((entry for entry in entries(live) if words in entry.content), None)

    entry: daily_log.LogEntry = until(found, live)
    return entry


@pytest.mark.parametrize("agent", AGENTS)
def test_a_session_that_ended_is_in_the_daily_log_once(live: Make, agent: str, project: Path) -> None:
    turns: list[dict[str, Any]] = [{"text": "Because two lamps turn."}, {"text": "Three ships pass."}]
    one = live(agent, {"turns": turns}).wired()
    run = one.run(ASKED)
    assert run.exit_code == 0, run.stderr
    if agent == "qwen":  # it says nothing at its end; the next session's worker finds that it is gone
        one.run("hello there", timeout=90)
    first = holding(one, "blinks twice at night")
    assert (first.flavor, first.project) == (agent, str(project))
    assert one.run(NEXT, resume=run.session_id).exit_code == 0
    if agent == "qwen":
        one.run("hello again", timeout=90)
    second = holding(one, "which ships pass")
    assert second.session_id == first.session_id
    assert "blinks twice" not in second.content
    assert [line for line in one.log().splitlines() if not line.endswith(" ok")] == []


def test_what_is_about_to_be_compacted_is_flushed(live: Make, project: Path) -> None:
    turns: list[dict[str, Any]] = [{"text": "Because two lamps turn."}]
    summary = f"<summary>The lighthouse blinks twice. {'More will come. ' * 20}</summary>"
    one = live("claude", {"turns": turns, "summary": summary}).wired()
    settings = one.home / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace('"SessionEnd"', '"SessionEndNot"'))  # nothing but compaction tells
    run = one.run(ASKED)
    assert run.exit_code == 0, run.stderr
    assert entries(one) == []
    one.run("/compact", resume=run.session_id)
    entry = holding(one, "blinks twice at night")
    with one.open() as engram:
        assert engram.get_session(entry.session_id).native_id == run.session_id


def test_our_model_writes_the_entry_and_no_hook_hears_of_it(live: Make, project: Path) -> None:
    kept = {"verdict": "keep", "context": "The lighthouse has two lamps.", "exchanges": [], "decisions": [],
            "lessons": ["Count the lamps first."], "actions": []}  # fmt: skip
    turns = [
        {"text": "Because two lamps turn.", "when": {"user": "blinks twice"}},
        {"tool_calls": [{"name": "StructuredOutput", "input": kept}], "when": {"kind": "any"}, "times": 0},
    ]
    one = live("claude", {"turns": turns}).wired()
    one.client.extra_env |= {
        "ENGRAM_MODEL": "claude", "PATH": f"{one.client.cli.parent}:{one.client.environment()['PATH']}"
    }  # fmt: skip
    run = one.run(ASKED)
    assert run.exit_code == 0, run.stderr
    entry = holding(one, "The lighthouse has two lamps.")
    assert "Count the lamps first." in entry.content
    assert one.log().count(" claude start ") == 1
    with one.open() as engram:
        assert [each.session.native_id for each in engram.list_sessions()] == [run.session_id]
