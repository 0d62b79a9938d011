"""`engram patterns` for people and scripts."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click import unstyle
from click.testing import CliRunner, Result

from engram import Engram
from engram.agents.running import find_running_agent
from engram.patterns.rules.catalog import Dossier, Pattern, PatternEvidence
from engram.surfaces.cli.render import render
from engram.surfaces.cli.root_group import build_command_line
from tests.patterns.planting import pattern, session

pytestmark = pytest.mark.skipif(
    find_running_agent() is not None, reason="an agent runs the tests, and only people decide"
)


@pytest.fixture
def engram(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engram]:
    """The store of the commands, with an agent's directory beside it."""
    (tmp_path / "user" / ".codex").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    with Engram(tmp_path / "home") as opened:
        yield opened


def run(*words: str, text: str = "", status: int = 0) -> Result:
    result = CliRunner().invoke(build_command_line(), ["patterns", *words], input=text, prog_name="engram")
    assert result.exit_code == status, result.output
    return result


def planted(engram: Engram, *names: str) -> list[str]:
    return [
        pattern(engram, name, title=f"{name} fails", seen=[session(engram, f"{name}-{n}") for n in range(9 - place)])
        for place, name in enumerate(names)
    ]


def test_a_review_decides_one_by_one_and_goes_on_later(engram: Engram) -> None:
    one, two, three, four = planted(engram, "npm", "pytest", "cargo", "make")
    first = run("review", text=f"a\nglobal\nr\nnot ours\nm\n{one}\nq\n").output
    assert "npm fails" in first
    assert "npm-0" in first  # the evidence
    assert f"{one} is approved." in first
    assert "1 left for later" in first
    states = {each.id: each.state for each in engram.list_patterns()}
    assert states == {one: "approved", two: "rejected", three: "merged", four: "candidate"}
    second = run("review", text="s\n").output
    assert "pytest fails" not in second
    assert "1 skipped" in second


def test_in_a_review_a_rule_is_edited_and_a_refusal_asks_again(engram: Engram) -> None:
    (one,) = planted(engram, "npm")
    out = run("review", text="e\nbad <!-- rule\n\ne\nUse npm ci.\nnpm ci\na\nnowhere\na\nflavor:codex\n").output
    assert "could break the block" in out
    assert "project:PATH" in out
    found = engram.get_pattern(one).pattern
    assert (found.state, found.rule, found.fix, found.scope) == ("approved", "Use npm ci.", "npm ci", "flavor:codex")


def test_a_review_that_ends_early_keeps_what_was_decided(engram: Engram) -> None:
    one, _ = planted(engram, "npm", "make")
    run("review", text="a\n\n")
    assert engram.get_pattern(one).pattern.state == "approved"


def test_every_decision_has_a_command(engram: Engram) -> None:
    one, two = planted(engram, "npm", "make")
    assert "is approved (v1, global)" in run("approve", one, "--rule", "Use npm ci.", "--reason", "often").output
    assert "v2" in run("edit", one, "--fix", "npm ci").output
    run("retire", one[:6], "--reason", "done")
    assert json.loads(run("restore", one, "--json").output)["state"] == "approved"
    run("reject", two)
    assert "pattern" in run("list").output
    assert [load["id"] for load in json.loads(run("list", "--state", "rejected", "--json").output)] == [two]
    shown = run("show", one).output
    for word in ("Use npm ci.", "Fix: npm ci", "2. approved", "often", "Evidence:", "context"):
        assert word in shown
    run("restore", two)
    assert "merged" in run("merge", one, two).output or engram.get_pattern(two).pattern.state == "merged"


def test_an_edit_without_words_opens_an_editor_or_asks(engram: Engram) -> None:
    (one,) = planted(engram, "npm")
    run("edit", one, text="Typed anew.\n-\n")
    assert engram.get_pattern(one).pattern.rule == "Typed anew."
    assert "Nothing was changed" in run("edit", one, text="\n\n").output


def test_distribute_shows_asks_and_takes_back(engram: Engram, tmp_path: Path) -> None:
    (one,) = planted(engram, "npm")
    run("approve", one, "--rule", "Use npm ci.")
    path = tmp_path / "user" / ".codex" / "AGENTS.md"
    assert f"+- [{one}] Use npm ci." in run("distribute", "--files", "--dry-run").output
    refused = CliRunner().invoke(build_command_line(), ["patterns", "distribute", "--files"])
    assert refused.exit_code == 2
    assert "pass --yes to confirm" in refused.output
    assert not path.exists()
    done = json.loads(run("distribute", "--files", "--yes", "--json").output)
    assert done["files"][0]["patterns"] == [one]
    assert one in path.read_text()
    assert "Restored 1 file." in run("distribute", "--undo", "--yes").output
    assert not path.exists()
    again = run("distribute", "--undo").output
    assert again.startswith("No file contains our rules.\n")
    assert "Restored" not in again


def test_a_file_that_cannot_be_written_fails_the_command(engram: Engram, tmp_path: Path) -> None:
    (one,) = planted(engram, "npm")
    run("approve", one, "--rule", "Use npm ci.")
    path = tmp_path / "user" / ".codex" / "AGENTS.md"
    path.write_text("mine")
    path.chmod(stat.S_IRUSR)
    assert "read-only" in run("distribute", "--files", "--yes", status=1).output


def test_export_and_import_make_a_round(engram: Engram, tmp_path: Path) -> None:
    (one,) = planted(engram, "npm")
    run("approve", one, "--rule", "Use npm ci.")
    assert "Wrote 1 file" in run("export", str(tmp_path / "rules")).output
    path = next((tmp_path / "rules").iterdir())
    path.write_text(path.read_text().replace("Use npm ci.", "Always use npm ci."))
    assert "+Always use npm ci." in run("import", str(tmp_path / "rules"), "--dry-run").output
    assert "Not a terminal" in run("import", str(tmp_path / "rules"), status=2).output
    run("import", str(tmp_path / "rules"), "--yes", "--author", "anna")
    assert engram.get_pattern(one).versions[-1].author == "anna"
    path.write_text("broken")
    assert "line 1" in run("import", str(tmp_path / "rules"), "--yes", status=1).output


def test_measure_prints_a_table_and_json(engram: Engram) -> None:
    (one,) = planted(engram, "npm")
    assert "No rule has been distributed" in run("measure").output
    run("approve", one, "--rule", "Use npm ci.")
    output = run("measure").output
    assert "too early" in output
    assert "0 (0 … 0)" not in output  # nothing saved or measured yet
    assert f"{one} (sessions that called npm): " in output or f"{one} (all sessions): " in output
    data: list[dict[str, Any]] = json.loads(run("measure", one, "--json").output)
    assert data[0]["verdict"] == "too early"


def test_an_agent_that_runs_the_command_may_not_decide(engram: Engram, tmp_path: Path) -> None:
    """A program with the name of an agent runs our command, like its shell tool does."""
    import subprocess
    import sys

    (one,) = planted(engram, "npm")
    agent = tmp_path / "codex"
    agent.symlink_to(sys.executable)
    code = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    words = [sys.executable, "-m", "engram", "patterns"]
    for rest in (["approve", one], ["distribute", "--files", "--yes"], ["review"], ["import", ".", "--yes"]):
        done = subprocess.run(
            [str(agent), "-c", code, *words, *rest], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        assert done.returncode == 3, done.stdout + done.stderr
        assert "Only a person decides" in done.stderr
    assert engram.get_pattern(one).pattern.state == "candidate"


@pytest.mark.parametrize(("quote", "shown"), [("make: no rule", False), ("it was never there", True)])
def test_a_quote_is_shown_if_the_evidence_does_not_say_it_already(engram: Engram, quote: str, shown: bool) -> None:
    (one,) = planted(engram, "npm")
    result = engram.get_pattern(one)
    piece = PatternEvidence(**{**vars(result.evidence[0]), "text": "make: no rule (from 'make all')", "quote": quote})
    text = render(Dossier(**{**vars(result), "evidence": (piece,)}))
    assert (f"“{quote}”" in text) is shown


def test_a_pattern_of_several_agents_says_so_before_its_kind_and_what_it_cost(engram: Engram) -> None:
    (one,) = planted(engram, "npm")
    result = engram.get_pattern(one)
    several = Pattern(
        **{**vars(result.pattern), "flavors": ("claude", "codex"), "times": 1, "tokens": 1_000, "seconds": 90}
    )
    told = unstyle(render(Dossier(**{**vars(result), "pattern": several})))
    assert "kind   known-fix, with several agents\n" in told
    assert "seen   1 time in 9 sessions of claude, codex, " in told
    assert "cost   1,000 tokens, 1 min\n" in told
