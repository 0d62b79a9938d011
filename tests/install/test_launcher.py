"""The launcher: its path stays the same, whatever happens to the installation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engram import Engram
from engram.install import launcher


def hook(program: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    payload = {"hook_event_name": "SessionStart", "session_id": "abc", "cwd": str(cwd), "source": "startup"}
    return subprocess.run(
        ["sh", "-c", f"'{program}' hook"], input=json.dumps(payload), cwd=cwd, env={**os.environ, **env},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["home", "a home with blanks", 'quo"te', "dollar$HOME", "back`tick", "cur}ly{"])
def test_it_starts_us_and_knows_its_home(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENGRAM_HOME")
    home = str(tmp_path / name)
    launcher.write_launcher(home)
    done = hook(launcher.get_launcher_path(home), tmp_path)
    assert "You are session" in done.stdout, done.stderr
    with Engram(home) as engram:
        assert [session.native_id for session in engram.get_active_sessions()] == ["abc"]
    asked = subprocess.run([launcher.get_launcher_path(home), "--version"], capture_output=True, text=True, check=True)
    assert asked.stdout.startswith("engram")


def test_what_a_project_puts_before_our_modules_does_not_stand_in_for_them(tmp_path: Path) -> None:
    home, project = str(tmp_path / "home"), tmp_path / "project"
    (project / "engram").mkdir(parents=True)
    for name in ("engram/__init__.py", "apsw.py", "time.py"):
        (project / name).write_text("raise SystemExit('not ours')")
    launcher.write_launcher(home)
    done = hook(
        launcher.get_launcher_path(home), project, PYTHONPATH=str(project), PYTHONSTARTUP=str(project / "time.py")
    )
    assert "You are session" in done.stdout, done.stderr


def test_where_the_installation_is_gone_the_agent_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = str(tmp_path / "home")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone" / "python"))
    launcher.write_launcher(home)
    done = hook(launcher.get_launcher_path(home), tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert launcher.read_interpreter(launcher.get_launcher_path(home)) == str(tmp_path / "gone" / "python")


def test_it_says_what_it_starts_and_other_files_say_nothing(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    launcher.write_launcher(home)
    assert launcher.read_interpreter(launcher.get_launcher_path(home)) == sys.executable
    assert launcher.read_interpreter(__file__) is None
    assert launcher.read_interpreter(str(tmp_path / "nowhere")) is None
    launcher.remove_launcher(home)
    assert not os.path.exists(os.path.join(home, "bin"))


@pytest.mark.parametrize("rest", ["", "\npython=", "\npython='unfinished"])
def test_a_launcher_that_was_cut_short_starts_nothing(tmp_path: Path, rest: str) -> None:
    home = str(tmp_path / "home")
    launcher.write_launcher(home)
    whole = Path(launcher.get_launcher_path(home)).read_text()
    Path(launcher.get_launcher_path(home)).write_text(whole.partition("\npython=")[0] + rest)
    assert launcher.read_interpreter(launcher.get_launcher_path(home)) == ""
    assert not launcher.is_current(home)
    launcher.write_launcher(home)
    assert launcher.is_current(home)


def test_it_reaches_a_server_as_well(tmp_path: Path, postgres_store: str) -> None:
    """Started without `site`, the PostgreSQL driver must be found all the same."""
    home = str(tmp_path / "home")
    launcher.write_launcher(home)
    done = hook(launcher.get_launcher_path(home), tmp_path, ENGRAM_STORE=postgres_store)
    assert "You are session" in done.stdout, done.stderr
