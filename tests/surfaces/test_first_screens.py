"""The first screens: `engram`, `engram --help`, `engram help` and `engram sessions`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import pytest
from click.testing import CliRunner

from engram.surfaces.cli import help_screen
from engram.surfaces.cli.command_table import COMMANDS, GROUPS, MODULES
from engram.surfaces.cli.root_group import build_command_line
from tests.capture.transcripts import Claude
from tests.surfaces.conftest import Run


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with two projects, one of whose directories is gone."""
    home = tmp_path / "user"
    for number, project in enumerate(("mill", "gone")):
        work = Claude(home, session=f"00000000-0000-4000-8000-00000000000{number}", cwd=str(home / project))
        work.says(f"Repair the {project} before the rain comes, and say what it costs in the end")
        work.answers("Done.", output=100_000)
    (home / "mill").mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def unpriced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home with one session of today, by a model that has no price."""
    home = tmp_path / "user"
    work = Claude(home)
    work.says("Repair the mill before the rain comes, and say what it costs in the end")
    work.answers("Done.", output=1_000, model="house-model-1", cache_creation_input_tokens=20)
    today = datetime.now(timezone.utc).isoformat()[:19]
    work.path.write_text(re.sub(r"2026-11-01T10:00:0\d", today, work.path.read_text()))
    monkeypatch.setenv("HOME", str(home))


def test_a_model_without_a_price_is_named_and_not_free(run: Run, unpriced: None) -> None:
    run("ingest")
    (entry,) = json.loads(run("sessions", "--json").stdout)
    assert (entry["money"], entry["unpriced"]) == (0, ["house-model-1"])
    for words in ((), ("cost",), ("show", entry["id"]), ("show", entry["id"], "--cost")):
        shown = run(*words).stdout
        assert "No price for house-model-1" in shown, words
        assert "$0" not in shown, words
    assert "no price" in run("sessions").stdout
    (cost,) = json.loads(run("cost", "--json").stdout)
    assert cost["unpriced"] == ["house-model-1"]
    shown = json.loads(run("show", entry["id"], "--json").stdout)
    assert shown["capture"]["unpriced"] == shown["digest"]["facts"]["tokens"]["unpriced"] == ["house-model-1"]


def test_the_tokens_of_a_session_add_up_in_its_line(run: Run, unpriced: None) -> None:
    run("ingest")
    (entry,) = json.loads(run("sessions", "--json").stdout)
    line = re.search(r"for ([\d,]+) tokens: (.*)", run("show", entry["id"]).stdout)
    assert line is not None
    assert line[2] == "5 input, 1,000 output, 100 read from cache, 20 written to cache"
    assert line[1] == "1,125"


def test_help_fits_a_screen_and_names_the_everyday_commands_first(run: Run) -> None:
    lines = run("--help", COLUMNS="80").stdout.splitlines()
    assert len(lines) <= 20
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    named = [line.split()[0] for line in lines if line.startswith("  ")]
    assert named == [*help_screen.EVERYDAY, *help_screen.GROUPS]


def test_every_command_is_in_one_group_and_explained() -> None:
    listed = [*help_screen.EVERYDAY, *(name for _, names in help_screen.GROUPS.values() for name in names)]
    paths = [*(spec.path for spec in COMMANDS), *MODULES, *GROUPS]
    assert sorted(listed) == sorted({path for path in paths if " " not in path})
    shown = CliRunner().invoke(build_command_line(), ["help", "all"], env={"COLUMNS": "80"}).output
    assert all(f"  {name} " in shown for name in listed)
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("words", [("help", "agents"), ("help", "wiki", "show"), ("help", "wiki"), ("help",)])
def test_help_explains_groups_and_commands(run: Run, words: tuple[str, ...]) -> None:
    assert run(*words).stdout.strip()
    assert "No such command" in run(*words[:1], "nonsense", status=2).stderr


def test_a_new_home_is_told_what_to_do(run: Run) -> None:
    shown = run().stdout
    assert "no sessions yet" in shown
    assert "engram init" in shown


def test_the_overview_shows_the_latest_work_per_project(run: Run, history: Path) -> None:
    run("ingest")
    run("register", "Grind the rye")
    shown = run(COLUMNS="80").stdout
    assert shown.startswith("3 sessions, 1 agent running, $")
    assert [project for project in ("mill", "gone", "work") if f"  {project} " in shown] == ["mill", "gone", "work"]
    assert shown.count("engram show") == 1
    assert max(map(len, shown.splitlines())) <= 80


def test_sessions_lists_the_past_with_running_ones_on_top(run: Run, history: Path) -> None:
    run("ingest")
    me = run("register", "Grind the rye").stdout.strip()
    first, *rest = run("sessions", COLUMNS="80").stdout.splitlines()[1:]
    assert first.startswith(f"●  {me[-8:]}  now ")
    assert len(rest) == 2
    listed = json.loads(run("sessions", "--json").stdout)
    assert [(entry["id"] == me, entry["running"]) for entry in listed] == [(True, True), (False, False), (False, False)]
    run("complete", "done", "-s", me)
    assert "●" not in run("sessions").stdout


@pytest.mark.parametrize("width", ["40", "80", "100", "160"])
@pytest.mark.parametrize("words", [("sessions",), ("cost", "--days", "9999"), ("projects",), (), ("doctor",)])
def test_no_line_is_wider_than_the_terminal(run: Run, history: Path, words: tuple[str, ...], width: str) -> None:
    run("ingest")
    lines = run(*words, COLUMNS=width).stdout.splitlines()
    long = [line for line in lines if len(line) > int(width) and any(len(word) < int(width) for word in line.split())]
    assert [line for line in long if " " in line.strip()] == []


def test_a_session_is_shown_by_its_short_id(run: Run, history: Path) -> None:
    run("ingest")
    entry = json.loads(run("sessions", "--json").stdout)[0]
    assert entry["id"] in run("show", entry["id"][-8:]).stdout


@pytest.mark.parametrize("name", ["gone", "Gone", "~/gone"])
def test_a_project_is_named_by_its_name_even_when_its_directory_is_gone(run: Run, history: Path, name: str) -> None:
    run("ingest")
    listed = json.loads(run("sessions", "-p", name.replace("~", str(history)), "--json").stdout)
    assert [entry["project"] for entry in listed] == [str(history / "gone")]
    assert "Known projects: gone, mill" in run("sessions", "-p", "nowhere", status=1).stderr


def test_a_name_of_two_projects_is_refused_with_both(run: Run, history: Path) -> None:
    Claude(history, session="00000000-0000-4000-8000-00000000000f", cwd=str(history / "old" / "mill")).says("Hello")
    run("ingest")
    assert f"{history}/mill, {history}/old/mill" in run("sessions", "-p", "mill", status=2).stderr


def test_groups_list_when_no_subcommand_is_given(run: Run) -> None:
    assert run("patterns").stdout == run("patterns", "list").stdout
    assert run("wiki").stdout == run("wiki", "list").stdout


@pytest.mark.parametrize("words", [("sitrep",), ("locks",), ("sessions",), ("log", "milled the rye")])
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_quick_commands_do_not_import_click_and_answer_like_the_others(
    run: Run, words: tuple[str, ...], form: tuple[str, ...]
) -> None:
    me = run("register", "Grind the rye").stdout.strip()
    environment = {**os.environ, "ENGRAM_SESSION": me}
    code = "import sys; from engram.surfaces.cli import main; main(); sys.exit('click' in sys.modules)"
    quick = subprocess.run(
        [sys.executable, "-c", code, *words, *form], env=environment, capture_output=True, text=True, check=False
    )
    assert quick.returncode == 0, quick.stderr
    full = CliRunner().invoke(build_command_line(), [*words, *form], env={"ENGRAM_SESSION": me})
    assert _without_times(full.stdout, me) == _without_times(quick.stdout, me)


def _without_times(shown: str, session: str) -> str:
    """Return the output without digits, because ids, times and ages differ between calls."""
    return "".join(character for character in shown.replace(session, "") if not character.isdigit())


def test_the_older_option_name_still_works(run: Run, history: Path) -> None:
    run("ingest")
    assert run("sessions", "--flavor", "claude").stdout == run("sessions", "--agent", "claude").stdout
