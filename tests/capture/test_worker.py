"""The spool and its worker: what hooks ask for is captured, by one process, whatever happens to it."""

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
from engram.capture.turn import Turn
from engram.capture.worker import work
from engram.coordination import departed
from tests.capture.transcripts import Claude


def asked(home: Path, talk: Claude, event: str = "stop") -> None:
    spool.ask(str(home), spool.Request(flavor="claude", native_id=talk.session, path=str(talk.path), event=event))


def events(engram: Engram) -> dict[str, int]:
    return {each.session.native_id or "": each.events for each in engram.list_sessions()}


def left(home: Path) -> list[str]:
    return sorted(name for name in os.listdir(home / "spool") if name != "whole")


def test_what_is_asked_for_is_captured_and_forgotten(engram: Engram, home: Path) -> None:
    talk = Claude(home)
    talk.says("rename the parser")
    spools = Path(engram.settings.home)
    asked(spools, talk)
    work(engram)
    assert events(engram) == {talk.session: 1}
    assert left(spools) == []


def test_asking_again_meanwhile_is_not_lost(engram: Engram, home: Path) -> None:
    talk = Claude(home)
    talk.says("rename the parser")
    spools = Path(engram.settings.home)
    asked(spools, talk)
    (request,) = spool.take(str(spools))
    asked(spools, talk)  # a hook, while a worker is at it
    spool.done(request)
    assert spool.waiting(str(spools))


def test_what_a_worker_took_and_did_not_finish_is_done_by_the_next(engram: Engram, home: Path) -> None:
    talk = Claude(home)
    talk.says("rename the parser")
    spools = Path(engram.settings.home)
    asked(spools, talk)
    list(spool.take(str(spools)))  # and dies
    work(engram)
    assert events(engram) == {talk.session: 1}
    assert left(spools) == []


def test_a_worker_leaves_at_once_where_another_is_at_work(engram: Engram, home: Path) -> None:
    talk = Claude(home)
    talk.says("rename the parser")
    spools = Path(engram.settings.home)
    asked(spools, talk)
    with Turn(str(spools), "spool.lock"):
        assert work(engram) == []
    assert spool.waiting(str(spools))


def test_an_agent_that_names_no_transcript_has_all_of_its_own_looked_at(engram: Engram, home: Path) -> None:
    talk = Claude(home)
    talk.says("rename the parser")
    spools = engram.settings.home
    spool.ask(spools, spool.Request(flavor="claude", native_id=talk.session, path="", event="end"))
    work(engram)
    assert events(engram) == {talk.session: 1}


def test_the_first_worker_looks_at_everything_and_the_next_only_at_what_is_asked(engram: Engram, home: Path) -> None:
    first, other, later = Claude(home), Claude(home), Claude(home)
    first.says("one")
    other.says("two")
    asked(Path(engram.settings.home), first)
    work(engram)
    assert set(events(engram)) == {first.session, other.session}
    later.says("three")
    first.says("four")
    asked(Path(engram.settings.home), first)
    work(engram)
    assert events(engram) == {first.session: 2, other.session: 1}


@given(st.binary(max_size=200))
def test_a_request_that_says_nothing_is_dropped(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "spool"
        place.mkdir()
        (place / "claude-x.json").write_bytes(content)
        assert [each for each in spool.take(folder) if not each.flavor] == []


def test_a_session_whose_process_is_gone_is_finished(engram: Engram, tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    gone = engram.register("claude", "killed while it worked", pid=child.pid)
    here = engram.register("claude", "still here", pid=os.getpid())
    engram.lock_resource(gone, str(tmp_path / "a.py"))
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert departed.finish(engram) == [gone]
    assert [each.id for each in engram.get_active_sessions()] == [here]
    assert "its process is gone" in (engram.get_session(gone).completion_summary or "")
    assert engram.list_locks() == []


def test_a_hook_starts_a_worker_that_outlives_it(home: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """The real thing: hook process, detached worker, killed process group."""
    talk = Claude(home)
    talk.says("rename the parser")
    payload = f'{{"hook_event_name": "Stop", "session_id": "{talk.session}", "transcript_path": "{talk.path}"}}'
    hook = subprocess.Popen(
        [sys.executable, "-m", "engram", "hook"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert hook.communicate(payload.encode())[0] == b""
    try:
        os.killpg(hook.pid, signal.SIGKILL)  # as an agent's end may do
    except ProcessLookupError:
        pass
    with Engram(tmp_path / "home") as engram:
        deadline = time.monotonic() + 60
        while not events(engram):
            assert time.monotonic() < deadline, (tmp_path / "home" / "hook.log").read_text()
            time.sleep(0.1)
        assert events(engram) == {talk.session: 1}


def test_a_worker_that_fails_says_so_and_keeps_the_request(home: Path, tmp_path: Path) -> None:
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


def test_what_cannot_be_taken_does_not_keep_a_worker_for_ever(engram: Engram, home: Path) -> None:
    talk = Claude(home)
    talk.says("rename the parser")
    spools = Path(engram.settings.home)
    (spools / "spool" / "folder.json").mkdir(parents=True)
    asked(spools, talk)
    work(engram)
    assert events(engram) == {talk.session: 1}
    assert left(spools) == ["folder.json.taken"]
    work(engram)  # and the next one comes to its end as well


def test_a_request_of_any_name_has_a_file(tmp_path: Path) -> None:
    spool.ask(str(tmp_path), spool.Request(flavor="claude", native_id="字/" * 300, path="", event="stop"))
    (taken,) = spool.take(str(tmp_path))
    assert taken.native_id == "字/" * 300


def test_a_request_that_cannot_be_left_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "spool" / "claude-a.json" / "in the way").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        spool.ask(str(tmp_path), spool.Request(flavor="claude", native_id="a", path="", event="stop"))
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
    with Turn(str(tmp_path / "home")):  # the worker waits for this sweep
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "home")], pass_fds=[inner], check=True)
        os.close(inner)
        ready, _, _ = select.select([outer], [], [], 20)
    assert ready
    assert os.read(outer, 1) == b""
    os.close(outer)
