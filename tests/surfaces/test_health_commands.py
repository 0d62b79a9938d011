"""Commands about the health of the store."""

from __future__ import annotations

import json
from pathlib import Path

from engram.store import hook_log
from tests.surfaces.conftest import Run


def test_storage_is_told_for_people_and_as_json(run: Run) -> None:
    assert "deleted above 2.0 GB" in run("storage").stdout
    assert json.loads(run("storage", "--json").stdout)["waiting"] == 0


def test_hooks_are_told_by_agent_and_event(run: Run, tmp_path: Path) -> None:
    assert "No agent has called a hook yet" in run("hooks").stdout
    hook_log.write_entry(str(tmp_path / "home"), "claude", "Stop", 0.012, "StoreBusy: it is busy")
    assert run("hooks").stdout.splitlines()[1].split()[:6] == ["claude", "Stop", "1", "12", "12", "12"]
    assert json.loads(run("hooks", "--json").stdout)[0]["failures"] == 1


def test_nothing_that_failed_is_told_as_such(run: Run) -> None:
    assert run("failures").stdout == "No failures.\n"


def test_messages_of_everybody_say_whom_they_are_for(run: Run) -> None:
    first, second = (run("register", "work").stdout.strip() for _ in range(2))
    run("send", second, "hello", "-s", first)
    run("send", "next", "for later", "-s", first)
    output = run("messages").stdout
    assert f"to {second} (unread)" in output
    assert "for the next session in work" in output
    assert f"to {second}" not in run("inbox", "-s", second).stdout


def test_world_states_are_listed_with_what_they_are_of(run: Run) -> None:
    run("world", "set", "of all")
    run("world", "set", "of here", "-p", ".")
    output = run("world", "list").stdout
    assert "all projects" in output
    assert "of here" in output


def test_locks_that_lapsed_are_asked_for(run: Run) -> None:
    assert run("locks", "--lapsed").stdout == "No lock has expired.\n"
