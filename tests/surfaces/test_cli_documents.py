"""Documents on the command line: what deleting will change, what they said before, and bringing that back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engram import Engram
from engram.store import rules
from tests.memory.test_forget_only import several
from tests.memory.test_import_lyra import Lyra
from tests.surfaces.conftest import Run

__all__ = ["several"]


def test_deleting_says_what_will_change_before_it_asks(run: Run, several: Lyra) -> None:
    several.db.execute("update eras set content = 'They grew apples. The parser was mended.'")
    run("import", "lyra", several.path)
    shown = run("delete", "code", "--dry-run").stdout
    assert "Would delete 1 session" in shown
    assert "era 2026-03 (import): 1 of 2 sentences removed" in shown
    assert json.loads(run("delete", "code", "--dry-run", "--json").stdout)["dry_run"] is True
    asked = run("delete", "code", text="n\n", status=1)
    assert "era 2026-03" in asked.stdout + asked.stderr
    assert "Deleted 1 session" in run("delete", "code", "--yes").stdout


@pytest.mark.parametrize(
    ("command", "write"),
    [
        (("gist", "garden"), ("memory", "set-gist", "garden")),
        (("eras", "2026-03"), ("memory", "set-era", "2026-03")),
        (("profile",), ("memory", "set-profile")),
        (("narrative",), ("memory", "set-narrative")),
        (("self",), ("memory", "set-self")),
        (("world", "show"), ("world", "set")),
        (("wiki", "show", "concepts/owl"), ()),
    ],
)
def test_every_document_shows_its_history_and_an_older_version_and_brings_it_back(
    run: Run, several: Lyra, command: tuple[str, ...], write: tuple[str, ...], tmp_path: Path
) -> None:  # fmt: skip
    """LY-B09."""
    run("import", "lyra", several.path)
    words = ['{"mood": "first"}', '{"mood": "second"}'] if command[0] == "self" else ["The first.", "The second."]
    if command[0] == "wiki":
        with Engram() as engram:
            version = engram.edit_page("concepts/owl", f"# Owl\n\n{words[0]}\n").version
            engram.edit_page("concepts/owl", f"# Owl\n\n{words[1]}\n", version)
    for each in words if write else ():
        run(*write, each)
    listed = json.loads(run(*command, "--history", "--json").stdout)
    older = str(listed[0 if command[0] == "wiki" else 1]["version"])
    assert older in run(*command, "--history").stdout
    assert words[0].strip("{}") in run(*command, "--version", older).stdout
    assert run(*command, "--restore", older).stdout
    assert words[0].strip("{}") in run(*command).stdout
    assert run(*command, "--history", "--restore", older, status=2).stderr


def test_a_rule_shows_its_history_and_brings_an_older_version_back(run: Run) -> None:
    with Engram() as engram:
        rules.enter(engram.engine, "p1", "correction", "Tests are skipped", engram.now())
        engram.approve_pattern("p1", rule="Run the tests.", fix="Run them.", author="ada")
        engram.edit_pattern("p1", rule="Run all tests.", author="ada")
    listed = json.loads(run("patterns", "show", "p1", "--history", "--json").stdout)
    assert [each["version"] for each in listed] == [2, 1]
    assert "Run the tests." in run("patterns", "show", "p1", "--version", "1").stdout
    run("patterns", "show", "p1", "--restore", "1")
    with Engram() as engram:
        found = engram.get_pattern("p1").pattern
    assert (found.rule, found.state, found.version) == ("Run the tests.", "approved", 3)
