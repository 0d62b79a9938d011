"""The worker dreams after a session has ended, if allowed, and without getting in the way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engram import Engram
from engram.capture import spool
from engram.capture.sweep_lock import SweepLock
from engram.dream.lease import Lease
from engram.dream.worker import run_worker
from engram.store import hook_log
from tests.patterns import plots
from tests.patterns.writers import Claude

WORKER = [sys.executable, "-m", "engram", "ingest", "--spool"]


@pytest.fixture
def hub(engram: Engram) -> Engram:
    """An open store whose worker finds it through the environment."""
    home = Path(engram.settings.home)
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(f'store = "{engram.settings.store}"\nembedder = "static"\n')
    return engram


def ended(hub: Engram, person: Path, name: str = "one") -> str:
    """Let an agent work and its hook request an ingest; return the agent's session id."""
    talk = Claude(person, name)
    plots.failing_command(talk, 0)
    request = spool.CaptureRequest(flavor="claude", native_id=talk.session, path=str(talk.path), event="end")
    spool.add_request(hub.settings.home, request)
    return talk.session


def gists(hub: Engram) -> list[int]:
    return [gist.version for gist in hub.list_summaries()]


def log_of(hub: Engram) -> str:
    return "\n".join(each.problem for each in hook_log.read_recent(hub.settings.home))


def test_a_session_that_ended_has_a_gist_without_anybody_asking(hub: Engram, bare_home: Path) -> None:
    ended(hub, bare_home)
    subprocess.run(WORKER, check=True)
    assert gists(hub) == [1], log_of(hub)
    (found,) = hub.dream_log()
    assert (found.why, found.changes["gist"]) == ("worker", 1)
    assert not spool.list_waiting(hub.settings.home)


def test_a_user_who_does_not_want_it_is_not_dreamt_for(hub: Engram, bare_home: Path) -> None:
    ended(hub, bare_home)
    with open(Path(hub.settings.home, "config.toml"), "a", encoding="utf-8") as file:
        file.write("auto_dream = false\n")
    subprocess.run(WORKER, check=True)
    assert gists(hub) == []
    assert hub.dream_log() == []
    assert [session.events for session in hub.list_sessions()] > [0]


def test_a_worker_without_anything_to_take_in_does_not_dream(hub: Engram) -> None:
    hub.remember("s1", "user", "We always prefer Rust over Go.")
    run_worker(hub)
    assert gists(hub) == []


def test_a_worker_takes_in_what_it_is_asked_for_while_somebody_dreams(hub: Engram, bare_home: Path) -> None:
    ended(hub, bare_home)
    with Lease(hub):
        subprocess.run(WORKER, check=True)
    assert len(hub.list_sessions()) == 1
    assert gists(hub) == []
    assert "DreamRunning" not in log_of(hub)
    hub.dream()
    assert gists(hub) == [1]


def test_a_dreamer_goes_on_without_what_a_worker_is_taking_in(hub: Engram, bare_home: Path) -> None:
    ended(hub, bare_home)
    hub.remember("s1", "user", "We always prefer Rust over Go, and we decided to keep it.")
    with SweepLock(hub.settings.home, "spool.lock"):
        dream_pass = hub.dream(force=True)
    by_step = {done.step: done for done in dream_pass.steps}
    assert by_step["ingest"].did == "another process is ingesting"
    assert by_step["gist"].count == 1
    assert [done.failed for done in dream_pass.steps if done.failed] == []
    assert spool.list_waiting(hub.settings.home)


def test_workers_and_dreamers_at_once_do_everything_once(hub: Engram, bare_home: Path) -> None:
    names = [ended(hub, bare_home, f"number {number}") for number in range(4)]
    dreamer = [sys.executable, "-m", "engram", "dream", "--force"]
    running = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for words in (WORKER, dreamer, WORKER, dreamer)]
    assert all(process.wait() in (0, 3) for process in running)
    hub.dream(force=True)
    assert {capture.session.native_id for capture in hub.list_sessions()} == set(names)
    assert gists(hub) == [1] * 4, log_of(hub)
    entries = hub.engine.run("select session_id, count(*) as n from entries group by session_id")
    assert [int(row["n"]) for row in entries] == [1] * 4
    assert all(dream_pass.ended_at for dream_pass in hub.dream_log())
    assert "Error" not in log_of(hub)
