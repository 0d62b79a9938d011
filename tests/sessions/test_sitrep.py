"""The sitrep: everything that matters now, never more than its budget."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram import Engram
from engram.platform.text import count_tokens
from tests.conftest import ManualClock


def test_an_empty_store_explains_how_to_start(engram: Engram) -> None:
    report = engram.get_situation_report()
    assert report.startswith("No world state set yet")
    assert "engram register" in report


def test_it_shows_both_world_states_sessions_locks_messages_and_recent_work(engram: Engram, repository: Path) -> None:
    here = str(repository)
    first = engram.register("claude-code", "refactor\nthe `parser`", cwd=here)
    second = engram.register("codex", "write tests", cwd=here)
    engram.set_world_state("# Everything")
    engram.set_world_state("# This project", project=here)
    engram.lock_resource(first, "src/app.py", note="renaming")
    engram.send(first, second, "mind the parser")
    done = engram.register("gemini", "review", cwd=here)
    engram.complete(done, "reviewed, two bugs found")
    report = engram.get_situation_report(second)
    order = ["# Everything", "# This project", "mind the parser", "**Active sessions (2):**", "**Locked resources:**"]
    assert [report.index(part) for part in order] == sorted(report.index(part) for part in order)
    assert f"- ● `{first}` (claude-code on main): refactor the 'parser'" in report
    assert f"`{repository}/src/app.py` by `{first}`" in report
    assert "reviewed, two bugs found" in report


def test_sessions_that_fell_silent_or_crashed_are_marked(timed: Engram, clock: ManualClock) -> None:
    timed.register("codex", "quiet one")
    clock.pass_(31 * 60)
    assert "⚠ stale" in timed.get_situation_report()


def test_a_summary_stays_on_one_line_of_a_hundred_characters(engram: Engram) -> None:
    engram.register("codex", "**bold**\n# Heading\n" + "x" * 500)
    line = next(line for line in engram.get_situation_report().splitlines() if line.startswith("- "))
    assert len(line.partition("): ")[2]) == 100
    assert line.endswith("…")


def test_work_in_other_projects_is_mentioned_apart(engram: Engram, repository: Path) -> None:
    here = engram.register("codex", "here", cwd=str(repository))
    engram.register("codex", "there", cwd="/")
    engram.lock_resource(engram.register("codex", "far", cwd="/"), "x:y")
    report = engram.get_situation_report(here)
    assert "**In other projects (2):**" in report
    assert "Locked" not in report


@pytest.mark.parametrize("budget", [1, 40, 150, 500, 2000])
def test_it_always_fits_its_budget_and_names_the_command_for_the_rest(
    engram: Engram, repository: Path, budget: int
) -> None:
    here = str(repository)
    engram.set_world_state("line of the world\n" * 400)
    engram.set_world_state("line of the project\n" * 300, project=here)
    ids = [engram.register("codex", f"task {n} " * 10, cwd=here) for n in range(60)]
    for number, session_id in enumerate(ids):
        engram.lock_resource(session_id, f"file{number}.py", note="a rather long note about it")
        engram.send(session_id, ids[0], "word " * 50)
    report = engram.get_situation_report(ids[0], tokens=budget)
    assert count_tokens(report) <= budget
    if budget >= 500:
        for part in ("line of the world", "line of the project", "Active sessions (50+)", "engram locks"):
            assert part in report


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(summary=st.text(min_size=1, max_size=300), budget=st.integers(10, 400))
def test_no_text_breaks_the_report(timed: Engram, summary: str, budget: int) -> None:
    session_id = timed.register("codex", f"x{summary}")
    assert count_tokens(timed.get_situation_report(session_id, tokens=budget)) <= budget
