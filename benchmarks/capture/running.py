"""Run a program and measure what it took."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
ENGRAM = str(Path(sys.executable).parent / "engram")
MB = 1_000_000
RESCANNED = 1_000
RESERVE = "engram/ballast"  # the same size in every store
TOKENS = ("input", "output", "cache_read", "cache_write")
# The transcripts are older than the default retention, and a storage benchmark must not drop them.
KEEP = {"ENGRAM_RAW_MAX_AGE_DAYS": "100000"}

# Starts a command and prints what it took. The peak memory of a child starts at that of its parent, so the parent is
# this small process and not the benchmark.
LAUNCHER = """
import json, os, signal, subprocess, sys, time
command, env, cwd, limit = json.load(sys.stdin)
began = time.monotonic()
with open("out", "wb") as out, open("err", "wb") as err:
    child = subprocess.Popen(
        command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(child.pid, signal.SIGKILL))
    signal.alarm(limit)
    _, status, used = os.wait4(child.pid, 0)
took = time.monotonic() - began
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, took, used.ru_maxrss]))
"""

FLOOR = """
import json, sys
for path in open(sys.argv[1]).read().split("\\n"):
    with open(path, "rb") as file:
        for line in file:
            try:
                json.loads(line)
            except ValueError:
                pass
"""


@dataclass(frozen=True)
class Run:
    """What a command printed and took."""

    status: int
    cpu: float
    wall: float
    peak: float  # MB
    output: str
    why: str = ""  # the reason, if it failed


def environment(home: Path) -> dict[str, str]:
    """Return a minimal environment for a program, with its own home directory."""
    basics = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    return {**basics, "HOME": str(home), "ENGRAM_HOME": str(home / "engram"), **KEEP}


def run(command: list[str], home: Path, env: Mapping[str, str] = {}, limit: int = 900) -> Run:
    """Run a command and return what it took, including its children."""
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="engram-run-") as place:
        words = json.dumps([command, {**environment(home), **env}, str(home), limit])
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", LAUNCHER],
            input=words, text=True, capture_output=True, check=False, cwd=place,
        )  # fmt: skip
        if done.returncode:
            return Run(-1, 0, 0, 0, "", last_line(done.stderr))
        status, cpu, wall, peak = json.loads(done.stdout)
        output = (Path(place) / "out").read_text(errors="replace")
        why = last_line((Path(place) / "err").read_text(errors="replace") or output) if status else ""
    why = f"stopped after {limit} s" if status == -9 else f"exit status {status}: {why}" if status else ""
    return Run(status, cpu, wall, peak * (1 if sys.platform == "darwin" else 1024) / MB, output, why)


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no output"])[-1][:160]


def stored(home: Path) -> int:
    """Return the bytes a program stored in its home directory, without transcripts and our fixed reserve file."""
    files = (path for path in home.rglob("*") if path.suffix != ".jsonl" and path != home / RESERVE)
    return sum(path.stat().st_size for path in files if path.is_file())
