"""Documents on the command line: what a deletion changes, older versions, and restoring them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engram import Engram
from engram.store import rules
from tests.summaries.test_forget_only import several
from tests.summaries.test_import_lyra import Lyra
from tests.surfaces.conftest import Run

__all__ = ["several"]


def test_deleting_says_what_will_change_before_it_asks(run: Run, several: Lyra) -> None:
    several.db.execute("update eras set content = 'They grew apples. The parser was mended.'")
    run("import", "lyra", several.path)
    shown = run("delete", "code", "--dry-run").stdout
    assert "Would delete 1 session" in shown
    assert "kept, but may still mention this session: era 2026-03 (parser)" in shown
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
        rules.insert_pattern(engram.engine, "p1", "correction", "Tests are skipped", engram.now())
        engram.approve_pattern("p1", rule="Run the tests.", fix="Run them.", author="ada")
        engram.edit_pattern("p1", rule="Run all tests.", author="ada")
    listed = json.loads(run("patterns", "show", "p1", "--history", "--json").stdout)
    assert [each["version"] for each in listed] == [2, 1]
    assert "Run the tests." in run("patterns", "show", "p1", "--version", "1").stdout
    run("patterns", "show", "p1", "--restore", "1")
    with Engram() as engram:
        pattern = engram.get_pattern("p1").pattern
    assert (pattern.rule, pattern.state, pattern.version) == ("Run the tests.", "approved", 3)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("gist", "garden"), "The gist garden"),
        (("eras", "2026-03"), "The era 2026-03"),
        (("profile",), "The profile"),
        (("narrative",), "The narrative"),
        (("self",), "The self state"),
        (("world", "show"), "The world state"),
    ],
)
def test_version_zero_is_refused(run: Run, several: Lyra, command: tuple[str, ...], name: str) -> None:
    run("import", "lyra", several.path)
    run("world", "set", "All is well.")
    for option in ("--restore", "--version"):
        refused = run(*command, option, "0", status=1)
        assert (refused.stdout, f"{name} has no version 0." in refused.stderr) == ("", True)
    assert run(*command, "--history", "--restore", "0", status=2).stderr


def test_what_is_missing_is_asked_for_in_plain_words(run: Run) -> None:
    assert run("eras", "--history", status=2).stderr.strip() == (
        "engram: Name the month, e.g. `engram eras 2026-03 --history`."
    )
    assert run("gist", "--history", status=2).stderr.strip() == (
        "engram: No session given. Pass --session ID or set ENGRAM_SESSION."
    )


def test_deleting_counts_all_that_goes(run: Run) -> None:
    me, you = (run("register", each).stdout.strip() for each in ("mend boats", "pick apples"))
    run("remember", "-s", me, "The boats are blue.")
    run("log", "-s", me, "Painted one boat.")
    run("log", "-s", me, "Painted another boat.")
    run("send", you, "The boats are ready.", "-s", me)
    run("send", me, "The apples are ripe.", "-s", you)
    run("memory", "set-gist", me, "They paint boats.")
    run("complete", "-s", me, "Two boats are blue.")
    line = "1 session: 1 message, 2 log entries, 1 completion, 1 summary, 1 sent message, 1 received message."
    assert run("delete", me, "--dry-run").stdout.splitlines()[0] == f"Would delete {line}"
    assert line in run("delete", me, text="n\n", status=1).stderr
    counts = json.loads(run("delete", me, "--dry-run", "--json").stdout)
    names = ("exchanges", "events", "logs", "completions", "gists", "locks", "sent", "received")
    assert [counts[name] for name in names] == [1, 0, 2, 1, 1, 0, 1, 1]
    assert run("delete", me, "--yes").stdout.splitlines()[0] == f"Deleted {line}"
    assert "boats" not in run("messages").stdout
