"""Captured sessions on the command line."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from engram import Engram
from engram.surfaces.cli.render import render
from engram.types import Event
from tests.capture.transcripts import Claude
from tests.surfaces.conftest import Run


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory in which Claude Code fixed something."""
    home = tmp_path / "user"
    monkeypatch.setenv("HOME", str(home))
    work = Claude(home)
    work.says("Mend the login form")
    work.edits("/home/me/app/login.py")
    work.runs("pytest -q", "3 passed")
    work.answers("Done: the form works.", output=1000)
    return home


def session(run: Run) -> str:
    data = json.loads(run("sessions", "--captured", "--json").stdout)
    return str(data[0]["session"]["id"])


def test_ingest_says_in_a_sentence_what_it_read(run: Run, user: Path) -> None:
    assert run("ingest").stdout == "Ingested 6 events of 1 session (9.0 KB from 1 transcript).\n"
    assert run("ingest").stdout == "Nothing new. 1 of 1 transcripts are unchanged.\n"


def test_ingest_answers_as_json(run: Run, user: Path) -> None:
    data = json.loads(run("ingest", "--json").stdout)
    assert (data["discovered"], data["retention"]["passes"]) == (1, {"age": 0, "soft": 0, "hard": 0})


def test_a_dry_run_says_what_would_come(run: Run, user: Path) -> None:
    assert run("ingest", "--dry-run").stdout.startswith("Would ingest 6 events of 1 session")
    assert "No sessions yet" in run("sessions").stdout


def test_an_unknown_flavor_is_refused_with_the_known_ones(run: Run, user: Path) -> None:
    assert "codex" in run("ingest", "--flavor", "hal", status=2).stderr


def test_since_takes_hours_days_and_dates(run: Run, user: Path) -> None:
    os.utime(next(user.rglob("*.jsonl")), (1_700_000_000, 1_700_000_000))
    for since in ("12h", "7d", "2024-01-01"):
        assert run("ingest", "--since", since).stdout == "Nothing new. No transcripts were found.\n"
    assert "7d" in run("ingest", "--since", "soon", status=2).stderr
    assert run("ingest", "--since", "2023-01-01").stdout.startswith("Ingested 6 events")


def test_sessions_and_show_tell_what_it_came_to(run: Run, user: Path) -> None:
    run("ingest")
    assert "Mend the login form" in run("sessions", "--captured").stdout
    assert run("sessions", "--outcome", "failure").stdout.startswith("No session matches")
    shown = run("show", session(run)).stdout
    assert "success" in shown
    assert "login.py" in shown
    assert "claude" in shown


def test_show_tells_events_digest_and_cost(run: Run, user: Path) -> None:
    run("ingest")
    who = session(run)
    assert "Mend the login form" in run("show", who, "--events").stdout
    assert json.loads(run("show", who, "--digest", "--json").stdout)["facts"]["tests"]["last"] is True
    assert "claude-sonnet-4-5" in run("show", who, "--cost").stdout
    assert "Choose one" in run("show", who, "--events", "--cost", status=2).stderr
    events = json.loads(run("show", who, "--kind", "message", "--json").stdout)
    assert events[0]["at"] == "2026-11-01T10:00:01Z"


def test_a_person_corrects_an_outcome_and_takes_it_back(run: Run, user: Path) -> None:
    run("ingest")
    who = session(run)
    assert "failure, set by ann (computed: success)" in run("outcome", who, "failure", "--who", "ann").stdout
    assert json.loads(run("digest", who, "--json").stdout)["inferred"] == "success"
    run("outcome", who)
    assert json.loads(run("digest", who, "--json").stdout)["outcome"] == "success"
    assert "Choose one of" in run("outcome", who, "splendid", status=2).stderr


def test_cost_recall_check_and_doctor_answer(run: Run, user: Path) -> None:
    run("ingest")
    assert "Total ≥ $" in run("cost", "--by", "flavor", "--days", "9999").stdout
    assert "login form" in run("recall", "login form").stdout
    assert "No problems" in run("check").stdout
    assert "1 transcript, 1 captured" in run("doctor").stdout


def test_a_terminal_sees_a_progress_bar(run: Run, user: Path) -> None:
    above, below = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "engram", "ingest"], stdout=subprocess.DEVNULL, stderr=below, env=os.environ
    )
    assert done.wait(60) == 0
    os.close(below)
    assert b"Reading transcripts" in os.read(above, 10000)


def test_escape_sequences_of_a_transcript_do_not_reach_the_terminal(run: Run, user: Path) -> None:
    Claude(user).says("look \x1b]0;owned\x07 here")
    run("ingest")
    for load in json.loads(run("sessions", "-c", "--json").stdout):
        assert "\x1b]" not in run("show", load["session"]["id"], "--events").stdout
        assert "\x1b]" not in run("show", load["session"]["id"]).stdout
    assert "\x1b]" not in run("recall", "owned").stdout


def test_costs_say_which_days_they_cover(run: Run, user: Path) -> None:
    run("ingest")
    who = session(run)
    assert run("cost", "--days", "9999").stdout.startswith("The last 9999 days:\n")
    assert run("cost", "-s", who).stdout.startswith(f"Session {who}:\n")
    assert json.loads(run("cost", "--days", "9999", "--json").stdout)[0]["answers"] == 3


def test_costs_are_everyones_also_for_a_session(run: Run, user: Path) -> None:
    run("ingest")
    me = run("register", "count money").stdout.strip()
    (cost,) = json.loads(run("cost", "--days", "9999", "--json", ENGRAM_SESSION=me).stdout)
    assert cost["answers"] == 3


def test_events_that_are_not_shown_are_counted(run: Run, user: Path) -> None:
    run("ingest")
    who = session(run)
    assert run("show", who, "--events", "-n", "4").stderr == "4 of 6 events; -n shows more.\n"
    assert run("show", who, "--kind", "message", "-n", "1").stderr == "1 of 2 events; -n shows more.\n"
    assert run("show", who, "--events", "-n", "6").stderr == ""
    assert run("show", who, "--events", "-n", "4", "--json").stderr == ""


def test_an_event_whose_body_was_dropped_says_so() -> None:
    dropped = Event(session="s", key="1", kind="message", role="user", data={"evicted": True})
    assert render(dropped).endswith("(dropped to keep the storage budget)")


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_check_that_finds_something_wrong_fails_and_says_what(run: Run, user: Path, form: tuple[str, ...]) -> None:
    run("ingest")
    with Engram() as engram:
        engram.engine.run("delete from digests")
    assert "without a digest" in run("check", *form, status=1).stdout


BROKEN = """
from engram.agents.transcripts.claude import ClaudeAdapter

class Broken(ClaudeAdapter):
    def read(self, path, since):
        raise RuntimeError("this format is new to me")
        yield

adapter = Broken()
"""


@pytest.fixture
def brought(tmp_path: Path) -> str:
    """A directory on the Python path with a package whose adapter fails."""
    facts = tmp_path / "brought" / "broken-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[engram.adapters]\nclaude = broken:adapter\n")
    (facts.parent / "broken.py").write_text(BROKEN)
    return os.pathsep.join([str(facts.parent), *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_an_ingest_that_could_not_read_something_fails_and_says_what(
    run: Run, user: Path, brought: str, form: tuple[str, ...]
) -> None:
    assert "new to me" in run("ingest", *form, status=1, PYTHONPATH=brought).stdout
    assert run("ingest").stdout.startswith("Ingested 6 events")


@pytest.mark.parametrize("words", [("--dry-run",), ("--since", "7d"), ("a.jsonl",)])
def test_watching_takes_in_all_that_comes_or_refuses(run: Run, words: tuple[str, ...]) -> None:
    assert "--watch" in run("ingest", "--watch", *words, status=2).stderr


@pytest.mark.parametrize("words", [("--since", "7d"), ("--flavor", "claude")])
def test_named_paths_are_not_chosen_among(run: Run, user: Path, words: tuple[str, ...]) -> None:
    path = str(next(user.rglob("*.jsonl")))
    assert "paths are always read" in run("ingest", path, *words, status=2).stderr
