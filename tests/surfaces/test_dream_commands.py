"""The dream commands, each in its own process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.dream.lease import Lease
from tests.dream.test_schedule import SYSTEMCTL, System
from tests.surfaces.conftest import Run

TEXTS = (
    "Please move the billing code to Rust; I always prefer Rust over Go.",
    "I moved billing.go to billing.rs and all 12 tests pass. We decided to keep the old API.",
)
# With idle priority the process would starve on a busy machine.
AWAKE = """
import os, runpy, signal, sys
del os.nice
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
runpy.run_module("engram", run_name="__main__", alter_sys=True)
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory without agents, and an Engram home with a fast embedder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    made = tmp_path / "home"
    made.mkdir()
    (made / "config.toml").write_text('embedder = "static"\n')
    return made


def talk(home: Path, session: str = "s1") -> None:
    with Engram(home) as engram:
        for place, text in enumerate(TEXTS):
            engram.remember(session, ("user", "assistant")[place % 2], text)


def parsed(told: str) -> Any:
    return json.loads(told)


def until(found: Callable[[], bool]) -> None:
    """Wait until a condition is true; the machine may be slow."""
    for _ in range(1200):
        if found():
            return
        time.sleep(0.1)
    raise AssertionError("it never came to that")


def test_over_an_empty_store_nothing_is_due_and_nothing_is_written_down(run: Run) -> None:
    output = run("dream").stdout
    assert output.startswith("Nothing to do.\n")
    assert [line.split()[0] for line in output.splitlines()[1:]] == [
        "continuity", "coherence", "curiosity", "hygiene", "stability",
    ]  # fmt: skip
    assert run("dream", "log").stdout == "No pass has run yet. Run `engram dream`.\n"
    assert parsed(run("dream", "log", "--json").stdout) == []


def test_a_pass_tells_why_it_did_what_and_how_to_take_it_back(run: Run, home: Path) -> None:
    talk(home)
    output = run("dream").stdout
    assert output.startswith("Pass 1, ")
    assert ", asked\n" in output
    assert "because continuity 0.62: 1 session to flush, 1 session to summarize, 2 new turns" in output
    assert "summarized 1 session" in output
    assert "`engram dream --undo 1` undoes it" in output
    assert "Rust over Go" in run("gist", "s1").stdout
    assert run("dream", "--once").stdout.startswith("Nothing to do.")


def test_a_forced_pass_goes_below_the_thresholds(run: Run, home: Path) -> None:
    (home / "config.toml").write_text('embedder = "none"\ncontinuity_threshold = 100\n')
    talk(home)
    assert "summarized" not in run("dream").stdout
    result = parsed(run("dream", "--force", "--json").stdout)
    assert (result["why"], result["changes"]["gist"]) == ("forced", 1)
    assert result["drives"]["stability"]["level"] == 1.0
    assert result["calls"] == 0


def test_drives_are_shown_with_their_reasons(run: Run, home: Path) -> None:
    talk(home)
    line = run("dream", "drives").stdout.splitlines()[0]
    assert re.fullmatch(r"continuity +█+·+ 0\.\d\d  .*1 session to summarize, 2 new turns", line)
    assert parsed(run("dream", "drives", "--json").stdout)[0]["name"] == "continuity"


def test_a_dry_run_shows_the_diff_and_leaves_all_as_it_is(run: Run, home: Path) -> None:
    talk(home)
    before = _files(home)
    output = run("dream", "--dry-run").stdout
    assert "Would run gist: 1 waiting" in output
    assert "+++ b/gist/s1" in output
    assert "Rust over Go" in output
    result = parsed(run("dream", "--dry-run", "--force", "--json").stdout)
    assert result["steps"]["gist"] == 1
    assert _files(home) == before
    assert run("dream", "log").stdout.startswith("No pass has run yet")


def _files(home: Path) -> list[str]:
    return sorted(str(path) for path in home.rglob("*") if not path.name.startswith("engram.db"))


def test_a_pass_is_undone_once_by_its_number(run: Run, home: Path) -> None:
    talk(home)
    run("dream")
    output = run("dream", "--undo", "1").stdout
    assert output.startswith("Undid pass 1.")
    assert "removed: gist s1" in output
    assert run("gist", "s1").stdout.startswith("No summary yet")
    assert "(undone)" in run("dream", "log").stdout
    assert "already undone" in run("dream", "--undo", "1", status=2).stderr
    assert "engram dream log" in run("dream", "--undo", "7", status=1).stderr


def test_a_budget_of_no_time_leaves_all_for_the_next_pass(run: Run, home: Path) -> None:
    talk(home)
    output = run("dream", "--budget", "0s").stdout
    assert "out of time, 1 left" in output
    assert "summarized" not in output
    result = parsed(run("dream", "--budget", "5m, 50k tokens, $0.20", "--json").stdout)
    assert result["budget"] == "300 s, $0.20 and 50,000 tokens"
    assert result["changes"]["gist"] == 1


@pytest.mark.parametrize("budget", ["much", "5", "-5m", "5m 3m", "$-1", "€5", "nan s", "1e9s", "½h"])
def test_a_budget_nobody_understands_is_refused_with_what_to_say(run: Run, budget: str) -> None:
    told = run("dream", f"--budget={budget}", status=2).stderr
    assert "as a limit" in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    "words",
    [
        ["--loop", "5", "--once"], ["--dry-run", "--undo", "1"], ["--loop", "5", "--dry-run"],
        ["--uninstall", "--once"], ["--install", "--undo", "1"], ["--install", "--uninstall"],
        ["--install", "--loop", "9"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_options_that_do_not_go_together_are_refused(run: Run, words: list[str], home: Path) -> None:
    assert re.search(r"--[a-z-]+: it cannot be combined with --[a-z-]+\.", run("dream", *words, status=2).stderr)
    assert not (home / "engram.db").exists()


@pytest.mark.parametrize("pause", ["0", "-1", "nan", "inf", "1e300", "soon"])
def test_a_pause_nobody_can_wait_for_is_refused(run: Run, pause: str) -> None:
    errors = run("dream", "--loop", pause, status=2).stderr
    assert "--loop" in errors
    assert "Traceback" not in errors


def test_a_second_dreamer_is_told_who_dreams(run: Run, home: Path) -> None:
    talk(home)
    with Engram(home) as engram, Lease(engram):
        errors = run("dream", "--force", status=3).stderr
        assert f"process {os.getpid()} on " in errors
        assert len(errors.splitlines()) == 1
        result = parsed(run("dream", "--force", "--json", status=3).stdout)
        assert (result["error"], result["pid"]) == ("dream_running", os.getpid())
    assert "summarized 1 session" in run("dream", "--force").stdout


def test_what_cannot_be_done_is_named_and_ends_with_status_1(run: Run, home: Path) -> None:
    talk(home)
    log = home / "wiki" / "daily" / f"{datetime.now().astimezone():%Y-%m-%d}.md"
    log.mkdir(parents=True)
    output = run("dream", "--force", status=1).stdout
    assert "flush: IsADirectoryError" in output
    assert "summarized 1 session" in output
    log.rmdir()
    assert "flush" in run("dream", "--force").stdout
    assert "Rust over Go" in log.read_text()


def test_a_loop_goes_on_until_somebody_stops_it(home: Path, tmp_path: Path) -> None:
    talk(home)
    words = [sys.executable, "-c", AWAKE, "dream", "--loop", "1"]
    shown = tmp_path / "shown"  # a file: what a pass printed can be read while the loop goes on
    with Engram(home) as engram, shown.open("w") as out, subprocess.Popen(
        words, cwd=tmp_path, stdout=out, stderr=subprocess.PIPE, text=True
    ) as dreamer:  # fmt: skip
        try:
            until(lambda: "Pass 1" in shown.read_text())
            talk(home, "s2")
            until(lambda: "Pass 2" in shown.read_text())
        finally:
            dreamer.send_signal(signal.SIGINT)
            _, said = dreamer.communicate(timeout=120)
        assert [dream_pass.why for dream_pass in engram.dream_log()] == ["loop", "loop"]
    assert dreamer.returncode == 0
    assert re.findall(r"^Pass \d", shown.read_text(), re.MULTILINE) == ["Pass 1", "Pass 2"]
    assert said.splitlines() == ["Dreaming every 1 s. Stop with Ctrl-C.", "Stopped. Finished steps are kept."]


def test_a_home_is_scheduled_and_no_longer(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "system").mkdir()
    system = System(tmp_path / "system", monkeypatch)
    system.has("systemctl", SYSTEMCTL)
    planned = parsed(run("dream", "--install", "--every", "60", "--dry-run", "--json").stdout)
    assert (planned["kind"], planned["minutes"], system.files()) == ("systemd", 60, [])
    assert "systemd" in run("dream", "--install").stdout
    assert [file for file in system.files() if file.endswith(".timer")]
    assert "does not divide an hour" in run("dream", "--install", "--every", "7", status=2).stderr
    run("dream", "--uninstall")
    assert [file for file in system.files() if "engram" in file] == []
    assert run("dream", "--uninstall").stdout.strip()
