"""The command in an agent's sandbox: with the agent's session in the environment and a read-only store."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engram import Engram
from tests.surfaces.conftest import Run

Read = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """The directory ENGRAM_HOME names."""
    return tmp_path / "home"


# ---- The agent's own session


def test_a_log_goes_to_the_session_codex_names(run: Run) -> None:
    run("log", "moved the parser", CODEX_THREAD_ID="t-1")
    run("log", "wrote its tests", CODEX_THREAD_ID="t-1")
    (session,) = json.loads(run("sessions", "--json").stdout)
    assert (session["flavor"], session["native_id"]) == ("codex", "t-1")
    told = [load["entry"] for load in json.loads(run("logs", session["id"], "--json").stdout)]
    assert sorted(told) == ["moved the parser", "wrote its tests"]


def test_a_session_its_hooks_announced_is_the_one_that_acts(run: Run, memory: Path) -> None:
    with Engram(memory) as engram:
        known = engram.register("codex", "Mending", flavor="codex", native_id="t-1", project="/p")
    run("log", "moved the parser", CODEX_THREAD_ID="t-1")
    assert len(json.loads(run("logs", known, "--json").stdout)) == 1


def test_registering_by_hand_and_logging_is_one_session(run: Run) -> None:
    made = run("register", "Mending the parser", CODEX_THREAD_ID="t-1").stdout.strip()
    run("log", "moved the parser", CODEX_THREAD_ID="t-1")
    (session,) = json.loads(run("sessions", "--json").stdout)
    assert (session["id"], session["summary"]) == (made, "Mending the parser")


def test_a_note_belongs_to_the_session_of_the_agent(run: Run, memory: Path) -> None:
    run("remember", "the parser lives in grammar.py", CODEX_THREAD_ID="t-1")
    with Engram(memory) as engram:
        (session,) = engram.get_active_sessions()
        assert [version.content for version in engram.history(session.id)] == ["the parser lives in grammar.py"]
        assert session.native_id == "t-1"


def test_a_person_at_a_terminal_is_still_asked_which_session_acts(run: Run) -> None:
    assert "--session" in run("log", "moved the parser", status=2).stderr
    run("remember", "the parser lives in grammar.py")


# ---- A store that cannot be written


@pytest.fixture
def closed(memory: Path) -> Iterator[Path]:
    """A read-only home with a memory in it."""
    with Engram(memory) as engram:
        engram.remember("notes", "user", "The parser lives in grammar.py because lexing is shared.")
        engram.recall("parser")  # which indexes it
        session = engram.register("codex", "Mending the parser", flavor="codex", native_id="t-1")
        engram.set_world_state("Grammar freeze until Friday.", session)
        engram.flush()
        engram.compile()  # creates a wiki
    _allow(memory, 0o555, 0o444)
    yield memory
    _allow(memory, 0o755, 0o644)


def _allow(root: Path, directories: int, files: int) -> None:
    for path in [root, *root.rglob("*")]:
        path.chmod(directories if path.is_dir() else files)


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Run the command as a user without write permission; root could still write."""
    library = ctypes.CDLL(None, use_errno=True)

    def call(*words: str, status: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "engram", *words], cwd=tmp_path, env={**os.environ, **env}, input="",
            capture_output=True, text=True, check=False, preexec_fn=lambda: library.prctl(24, 1, 0, 0, 0),
        )  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return call


READING = [
    (("recall", "where does the parser live"), "grammar.py"),
    (("recall", "where does the parser live", "--json"), "grammar.py"),
    (("ask", "where does the parser live"), "grammar.py"),
    (("sitrep",), "Grammar freeze"),
    (("sessions",), "Mending the parser"),
    (("world", "show"), "Grammar freeze"),
    (("locks", "grammar.py"), ""),
    (("context",), ""),
    (("stats",), ""),
    (("doctor",), "read-only from here"),
]


@pytest.mark.parametrize(("words", "found"), READING)
def test_a_closed_store_is_read(closed: Path, read: Read, words: tuple[str, ...], found: str) -> None:
    before = sorted(closed.rglob("*"))
    done = read(*words, CODEX_THREAD_ID="t-1")
    assert found in done.stdout
    assert "ENGRAM_HOME" not in done.stdout + done.stderr
    assert sorted(closed.rglob("*")) == before


def test_a_closed_store_is_read_while_another_process_writes_to_it(memory: Path, read: Read) -> None:
    with Engram(memory) as engram:
        engram.remember("notes", "user", "The parser lives in grammar.py because lexing is shared.")
        engram.recall("parser")  # which indexes it
        _allow(memory, 0o555, 0o444)
        assert "grammar.py" in read("recall", "where does the parser live").stdout
        _allow(memory, 0o755, 0o644)


@pytest.mark.parametrize(
    "words",
    [("log", "moved the parser"), ("remember", "a note"), ("world", "set", "New."), ("lock", "grammar.py"),
     ("register", "working"), ("ingest",), ("dream", "--force")],
)  # fmt: skip
def test_what_cannot_be_written_says_so_and_names_no_second_home(
    closed: Path, read: Read, words: tuple[str, ...]
) -> None:
    errors = read(*words, status=1, CODEX_THREAD_ID="t-1").stderr
    assert "cannot be written" in errors
    assert str(closed) in errors
    assert "ENGRAM_HOME" not in errors
    assert "Traceback" not in errors
