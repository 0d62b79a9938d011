"""Init, uninit and doctor for people and scripts."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.capture.transcripts import Claude
from tests.surfaces.conftest import Run


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with Codex, and with Claude Code that fixed something."""
    home = tmp_path / "user"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    work = Claude(home)
    work.says("Mend the login form")
    work.runs("pytest -q", "3 passed")
    work.answers("Done: the form works.")
    (home / ".codex").mkdir()
    return home


def at_a_terminal(*words: str, typed: bytes, **env: str) -> tuple[int, str]:
    """Run a command in a terminal and type into it."""
    outer, inner = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "engram", *words], stdin=inner, stdout=inner, stderr=inner, env={**os.environ, **env}
    ) as process:
        os.close(inner)
        os.write(outer, typed)
        said = b""
        try:
            while block := os.read(outer, 65536):
                said += block
        except OSError:
            pass  # the terminal closes with its process
    os.close(outer)
    return process.returncode, said.decode().replace("\r\n", "\n")


def test_init_shows_writes_takes_in_history_and_says_what_is_next(run: Run, user: Path) -> None:
    output = run("init", "--yes").stdout
    for part in ("Agents found: Claude Code, Codex.", "Not found: Gemini CLI", '+    "SessionStart"', "Wrote 4 files",
                 "Your sessions since 2026-11-01, without subagents: 1 claude. 1 success", "Mend the login form",
                 "Next: start claude", "Codex ignores the hooks until you start it and trust them"):  # fmt: skip
        assert part in output, part
    assert "hooks" in json.loads((user / ".claude/settings.json").read_text())


def test_uninit_leaves_nothing_and_keeps_the_memory(run: Run, user: Path) -> None:
    before = sorted(str(path) for path in user.rglob("*"))
    run("init", "--yes")
    output = run("uninit", "--yes").stdout
    assert "Restored 4 files" in output
    assert "Your sessions stay in" in output
    assert sorted(str(path) for path in user.rglob("*")) == before
    assert "No agent is connected." in run("uninit").stdout
    assert "Mend the login form" in run("sessions", "--captured").stdout


def test_without_a_terminal_nothing_is_written_unasked(run: Run, user: Path) -> None:
    result = run("init", status=2)
    assert "--yes" in result.stderr
    assert '"SessionStart"' in result.stdout
    assert not (user / ".claude/settings.json").exists()
    run("init", "--yes", "--no-history")
    assert "--yes" in run("uninit", status=2).stderr


def test_a_dry_run_shows_and_stops(run: Run, user: Path) -> None:
    output = run("init", "--dry-run").stdout
    assert '+    "SessionStart"' in output
    assert output.rstrip().endswith("Nothing was written. Run `engram init` to write it.")
    assert not (user / ".claude/settings.json").exists()


def test_init_answers_as_json(run: Run, user: Path) -> None:
    shown = json.loads(run("init", "--dry-run", "--json").stdout)
    assert (shown["agents"], len(shown["files"]), shown["dry_run"]) == (["claude", "codex"], 4, True)
    assert run("init", "--json", status=2)
    wired = json.loads(run("init", "--json", "--yes").stdout)
    assert (wired["problems"], len(wired["untrusted"])) == ([], 7)
    assert [
        load["level"] for load in json.loads(run("doctor", "--json", status=1).stdout) if load["subject"] == "store"
    ] == ["ok"]


def test_a_problem_is_shown_and_the_rest_is_done(run: Run, user: Path) -> None:
    (user / ".claude/settings.json").write_text("{\n\noops")
    output = run("init", "--yes", "--no-history", status=1).stdout
    assert ".claude/settings.json, line 3" in output
    assert (user / ".codex/hooks.json").exists()


@pytest.mark.parametrize(
    ("typed", "written", "trusted"), [(b"y\ny\n", True, True), (b"\n\n", True, False), (b"n\nn\n", False, False)]
)
def test_a_person_is_asked(user: Path, typed: bytes, written: bool, trusted: bool) -> None:
    status, said = at_a_terminal("init", "--no-history", typed=typed, NO_COLOR="1")
    assert "Trust Engram's hooks now" in said
    assert "Write 4 files?" in said
    assert (user / ".claude/settings.json").exists() is written
    assert status == (0 if written else 1)
    assert (written and "trusted_hash" in (user / ".codex/config.toml").read_text()) is trusted
    assert "\x1b[" not in said


def test_a_person_sees_who_is_here_before_the_first_question_and_the_files_before_the_last(user: Path) -> None:
    _, said = at_a_terminal("init", "--no-history", typed=b"n\ny\n", NO_COLOR="1", COLUMNS="80")
    marks = [
        "Agents found: Claude Code",
        "Trust Engram's hooks now",
        '"SessionStart"',
        "agent        purpose",
        "Write 4 files?",
    ]
    assert sorted(marks, key=said.index) == marks
    listed = said[said.index("agent        purpose") : said.index("Write 4 files?")]
    assert re.findall(r"~\S+", listed) == [
        "~/.claude/settings.json", "~/.claude.json", "~/.codex/hooks.json", "~/.codex/config.toml",
    ]  # fmt: skip
    assert all(len(line) <= 80 for line in said[said.index("Wrote 4 files") :].splitlines())
    _, said = at_a_terminal("uninit", typed=b"y\n", NO_COLOR="1")
    assert "Remove Engram from 4 files?" in said


def test_the_last_work_says_what_was_asked_not_what_an_agent_made_of_it(run: Run, user: Path) -> None:
    asked = "Why does the mill stand still when the wind comes from the north and the sluice is shut since Tuesday?"
    work = Claude(user, session="00000000-0000-4000-8000-00000000000b", cwd=str(user / "mill"))
    work.says(asked)
    work.answers("The sluice.")
    work.write(work.record("ai-title", aiTitle="Mill"))
    output = run("init", "--yes").stdout
    assert asked in output
    assert "  Mill" not in output
    _, shown = at_a_terminal("init", typed=b"n\n", NO_COLOR="1", COLUMNS="80")
    row = next(line for line in shown.splitlines() if line.startswith("  mill "))
    assert len(row) <= 80
    assert "Why does the mill stand" in row
    assert row.endswith("…")


def test_one_project_shows_its_last_sessions_and_many_show_one_each(run: Run, user: Path) -> None:
    for number in range(3):
        Claude(user, cwd=str(user / "mill")).says(f"Grind sack {number} of the rye before the rain comes")
    output = run("init", "--yes").stdout
    assert [output.count(f"Grind sack {number} of the rye") for number in range(3)] == [1, 1, 1]
    for number in range(9):
        Claude(user, cwd=str(user / f"{number}" / "barn")).says(f"Mend roof {number} of the barn before the rain comes")
    output = run("init", "--yes").stdout
    shown = re.findall(r"^  (\S+) .* claude  ", output, re.MULTILINE)
    assert (len(shown), len(set(shown))) == (8, 8)
    assert (
        sum(bool(re.fullmatch(r"\d/barn", each)) for each in shown) >= 6
    )  # with the same last part, so more of the path is shown
    assert "… and 3 more projects" in output


def test_without_history_the_demo_is_named(run: Run, tmp_path: Path) -> None:
    nobody = {"HOME": str(tmp_path / "nobody"), "PATH": "/usr/bin:/bin"}
    output = run("init", "--yes", "--agent", "claude", **nobody).stdout
    assert "No history yet" in output
    assert "`engram demo`" in output


def test_colours_are_for_terminals(user: Path) -> None:
    _, said = at_a_terminal("init", "--dry-run", typed=b"")
    assert re.search(r"\x1b\[32m\+ +\"SessionStart\"", said)


def test_an_agent_that_waits_for_trust_has_one_next_step(run: Run, user: Path) -> None:
    output = " ".join(run("init", "--yes", "--no-history", "--agent", "codex").stdout.split())
    assert output.count("Next:") == 1
    assert "Next: start codex and trust Engram's hooks when it asks. Run `engram doctor`" in output
    codex = [line for line in run("doctor", status=1).stdout.splitlines() if " codex: " in line]
    assert len([line for line in codex if "tart" in line]) == 1  # not also "No hook has fired yet. Start a session"


def test_doctor_names_what_mends_and_fails_on_a_problem(run: Run, user: Path) -> None:
    output = run("doctor").stdout
    assert "⚠ codex: Codex is not connected." in output
    assert "→ engram init --agent codex" in output
    run("init", "--yes", "--no-history")
    assert "--trust-hooks" in run("doctor", status=1).stdout
    run("init", "--yes", "--no-history", "--trust-codex", "--agent", "codex")
    assert "passes over" not in run("doctor").stdout


def test_doctor_works_while_the_store_does_not(run: Run, user: Path) -> None:
    address = "postgresql://me:s3cret@127.0.0.1:1/engram"
    output = run("doctor", status=1, ENGRAM_STORE=address).stdout
    assert "✗ store:" in output
    assert "s3cret" not in output
    assert "codex: Codex is not connected." in output


def test_wiring_stays_though_the_store_cannot_be_opened(run: Run, user: Path) -> None:
    result = run("init", "--yes", status=1, ENGRAM_STORE="postgresql://me@127.0.0.1:1/engram")
    assert "Cannot use the store" in result.stderr
    assert "Next: start claude" in result.stdout
    assert "SessionStart" in (user / ".claude/settings.json").read_text()


def test_a_project_is_wired_where_one_stands(run: Run, user: Path, tmp_path: Path) -> None:
    run("init", "--project", "--yes", "--no-history", "--agent", "claude")
    settings = json.loads((tmp_path / "work" / ".claude" / "settings.json").read_text())
    assert settings["hooks"]["Stop"][0]["hooks"][0]["command"] == "engram hook"
    run("uninit", "--project", ".", "--yes")
    assert os.listdir(tmp_path / "work") == []


def test_doctor_works_while_our_own_settings_do_not(run: Run, user: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "config.toml").write_text("model = [")
    output = run("doctor", status=1).stdout
    assert str(tmp_path / "home" / "config.toml") in output
    assert "Codex is not connected" in output
