"""The spool and its worker: every request is captured by one process, whatever happens to it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram import Engram
from engram.capture import spool
from engram.capture.sweep_lock import SweepLock
from engram.capture.worker import run_worker
from engram.sessions import crashed_sessions
from tests.capture.transcripts import Claude


def asked(home: Path, talk: Claude, event: str = "stop") -> None:
    spool.add_request(
        str(home), spool.CaptureRequest(flavor="claude", native_id=talk.session, path=str(talk.path), event=event)
    )


def events(engram: Engram) -> dict[str, int]:
    return {capture.session.native_id or "": capture.events for capture in engram.list_sessions()}


def left(home: Path) -> list[str]:
    return sorted(name for name in os.listdir(home / "spool") if name != "whole")


def test_a_request_is_captured_and_deleted(engram: Engram, home: Path) -> None:
    talk = Claude(home)
    talk.says("rename the parser")
    spools = Path(engram.settings.home)
    asked(spools, talk)
    run_worker(engram)
    assert events(engram) == {talk.session: 1}
    assert left(spools) == []


def test_asking_again_meanwhile_is_not_lost(engram: Engram, home: Path) -> None:
    talk = Claude(home)
    talk.says("rename the parser")
    spools = Path(engram.settings.home)
    asked(spools, talk)
    (request,) = spool.take_requests(str(spools))
    asked(spools, talk)  # a hook, while a worker is running
    spool.finish_request(request)
    assert spool.list_waiting(str(spools))


def test_requests_a_worker_did_not_finish_are_done_by_the_next(engram: Engram, home: Path) -> None:
    talk = Claude(home)
    talk.says("rename the parser")
    spools = Path(engram.settings.home)
    asked(spools, talk)
    list(spool.take_requests(str(spools)))  # and dies
    run_worker(engram)
    assert events(engram) == {talk.session: 1}
    assert left(spools) == []


def test_a_worker_leaves_at_once_where_another_is_at_work(engram: Engram, home: Path) -> None:
    talk = Claude(home)
    talk.says("rename the parser")
    spools = Path(engram.settings.home)
    asked(spools, talk)
    with SweepLock(str(spools), "spool.lock"):
        assert run_worker(engram) == []
    assert spool.list_waiting(str(spools))


def test_an_agent_that_names_no_transcript_has_all_of_its_own_looked_at(engram: Engram, home: Path) -> None:
    talk = Claude(home)
    talk.says("rename the parser")
    spools = engram.settings.home
    spool.add_request(spools, spool.CaptureRequest(flavor="claude", native_id=talk.session, path="", event="end"))
    run_worker(engram)
    assert events(engram) == {talk.session: 1}


def test_the_first_worker_scans_everything_and_the_next_only_what_is_requested(engram: Engram, home: Path) -> None:
    first, other, later = Claude(home), Claude(home), Claude(home)
    first.says("one")
    other.says("two")
    asked(Path(engram.settings.home), first)
    run_worker(engram)
    assert set(events(engram)) == {first.session, other.session}
    later.says("three")
    first.says("four")
    asked(Path(engram.settings.home), first)
    run_worker(engram)
    assert events(engram) == {first.session: 2, other.session: 1}


@given(st.binary(max_size=200))
def test_an_invalid_request_is_dropped(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "spool"
        place.mkdir()
        (place / "claude-x.json").write_bytes(content)
        assert [request for request in spool.take_requests(folder) if not request.flavor] == []


def test_a_session_whose_process_is_gone_is_finished(engram: Engram, tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    gone = engram.register("claude", "killed while it worked", pid=child.pid)
    here = engram.register("claude", "still here", pid=os.getpid())
    engram.lock_resource(gone, str(tmp_path / "a.py"))
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert crashed_sessions.complete_crashed_sessions(engram) == [gone]
    assert [session.id for session in engram.get_active_sessions()] == [here]
    assert "its process is gone" in (engram.get_session(gone).completion_summary or "")
    assert engram.list_locks() == []


def test_a_hook_starts_a_worker_that_outlives_it(home: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """Run a real hook process and a detached worker, and kill the hook's process group."""
    talk = Claude(home)
    talk.says("rename the parser")
    payload = f'{{"hook_event_name": "Stop", "session_id": "{talk.session}", "transcript_path": "{talk.path}"}}'
    hook = subprocess.Popen(
        [sys.executable, "-m", "engram", "hook"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert hook.communicate(payload.encode())[0] == b""
    try:
        os.killpg(hook.pid, signal.SIGKILL)  # as an ending agent may do
    except ProcessLookupError:
        pass
    with Engram(tmp_path / "home") as engram:
        deadline = time.monotonic() + 60
        while not events(engram):
            assert time.monotonic() < deadline, (tmp_path / "home" / "hook.log").read_text()
            time.sleep(0.1)
        assert events(engram) == {talk.session: 1}


def test_a_failing_worker_reports_it_and_keeps_the_request(home: Path, tmp_path: Path) -> None:
    talk = Claude(home)
    talk.says("rename the parser")
    store = tmp_path / "home" / "engram.db"
    with Engram(tmp_path / "home"):
        pass
    store.rename(store.with_name("kept"))
    store.write_text("not a database " * 50)
    asked(tmp_path / "home", talk)
    subprocess.run([sys.executable, "-m", "engram", "ingest", "--spool"], check=True)
    assert "NotAStore" in (tmp_path / "home" / "hook.log").read_text()
    store.with_name("kept").rename(store)
    subprocess.run([sys.executable, "-m", "engram", "ingest", "--spool"], check=True)
    with Engram(tmp_path / "home") as engram:
        assert events(engram) == {talk.session: 1}


def test_a_request_that_cannot_be_taken_does_not_keep_a_worker_running(engram: Engram, home: Path) -> None:
    talk = Claude(home)
    talk.says("rename the parser")
    spools = Path(engram.settings.home)
    (spools / "spool" / "folder.json").mkdir(parents=True)
    asked(spools, talk)
    run_worker(engram)
    assert events(engram) == {talk.session: 1}
    assert left(spools) == ["folder.json.taken"]
    run_worker(engram)  # and the next one completes as well


def test_a_request_of_any_name_has_a_file(tmp_path: Path) -> None:
    spool.add_request(
        str(tmp_path), spool.CaptureRequest(flavor="claude", native_id="字/" * 300, path="", event="stop")
    )
    (taken,) = spool.take_requests(str(tmp_path))
    assert taken.native_id == "字/" * 300


def test_a_request_that_cannot_be_left_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "spool" / "claude-a.json" / "in the way").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        spool.add_request(str(tmp_path), spool.CaptureRequest(flavor="claude", native_id="a", path="", event="stop"))
    assert os.listdir(tmp_path / "spool") == ["claude-a.json"]


def test_what_a_project_puts_before_our_modules_does_not_stop_the_worker(home: Path, tmp_path: Path) -> None:
    talk = Claude(home)
    talk.says("rename the parser")
    project = tmp_path / "project"
    project.mkdir()
    for name in ("click.py", "orjson.py", "sitecustomize.py"):
        (project / name).write_text("raise SystemExit('not ours')")
    with Engram(tmp_path / "home"):
        pass
    asked(tmp_path / "home", talk)
    code = "import sys; from engram.capture import spool; spool.start_worker(sys.argv[1])"
    environ = {**os.environ, "PYTHONPATH": str(project)}
    subprocess.run([sys.executable, "-ISc", f"import sys; sys.path += {sys.path!r}; {code}", str(tmp_path / "home")],
                   env=environ, check=True)  # fmt: skip
    with Engram(tmp_path / "home") as engram:
        deadline = time.monotonic() + 60
        while not events(engram):
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_a_worker_keeps_no_pipe_of_the_agent_open(home: Path, tmp_path: Path) -> None:
    talk = Claude(home)
    talk.says("rename the parser")
    asked(tmp_path / "home", talk)
    outer, inner = os.pipe()
    code = "import sys; from engram.capture import spool; spool.start_worker(sys.argv[1])"
    with SweepLock(str(tmp_path / "home")):  # the worker waits for this sweep
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "home")], pass_fds=[inner], check=True)
        os.close(inner)
        ready, _, _ = select.select([outer], [], [], 20)
    assert ready
    assert os.read(outer, 1) == b""
    os.close(outer)
