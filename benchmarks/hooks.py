"""Measure how long an agent waits for a hook: the time of the process, as a ratio to a bare Python interpreter.

Rows are events with a store of many sessions, and with a PostgreSQL server that does not answer. Hooks and bare starts
take turns, so that a busy machine slows both equally.

python -m benchmarks.hooks [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from engram import Engram
from engram.install import launcher

PYTHON = sys.executable
DEAD = "postgresql://nobody@127.0.0.1:9/engram"  # the discard port refuses connections immediately
AIM = 2.5

EVENTS: dict[str, dict[str, Any]] = {
    "start": {"hook_event_name": "SessionStart", "source": "startup"},
    "prompt, nothing to recall": {"hook_event_name": "UserPromptSubmit", "prompt": "go on"},
    "prompt, recall asked": {
        "hook_event_name": "UserPromptSubmit",
        "prompt": "which port does the billing service use?",
    },
    "before an edit": {"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": {"file_path": "src/a.py"}},
    "after a read": {"hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": {"file_path": "src/a.py"}},
    "before a command": {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}},
    "after a command": {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}},
}


def filled(home: Path, project: Path, sessions: int) -> None:
    """Create a store with many completed sessions in one project, the worst case for a session start."""
    with Engram(home) as engram:
        engram.register("claude", "the first", native_id="first", cwd=str(project))
        now = engram.now()
        row = engram.engine.run("select * from sessions limit 1")[0]
        rows = [
            {
                **row, "id": f"20260101-000000-{n:08x}", "native_id": f"native-{n}", "status": "completed",
                "summary": f"task {n}", "completed_at": now - n * 60_000_000, "last_heartbeat": now - n * 60_000_000,
                "started_at": now - n * 61_000_000, "completion_summary": f"did {n}", "pid": None, "pid_start": None,
            }
            for n in range(sessions)
        ]  # fmt: skip
        names = list(rows[0])
        sql = f"insert into sessions ({', '.join(names)}) values ({', '.join(':' + name for name in names)})"
        with engram.engine.transaction():
            engram.engine.run_many(sql, rows)
        other = engram.register("codex", "renaming", native_id="other", cwd=str(project))
        engram.lock_resource(other, "docs/guide.md")
        for n in range(200):
            engram.remember("talk", "user", f"Remark {n}: the billing service listens on port {4000 + n}.")


def started(command: tuple[str, ...], stdin: bytes, cwd: Path, env: dict[str, str]) -> float:
    """Return how many seconds a process took."""
    began = time.perf_counter()
    subprocess.run(command, input=stdin, cwd=cwd, env=env, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def measured(facts: dict[str, Any], cwd: Path, env: dict[str, str], rounds: int) -> dict[str, float]:
    """Return the medians of a bare interpreter and of a hook, started in turn."""
    launcher.write_launcher(env["ENGRAM_HOME"])
    program = launcher.get_launcher_path(env["ENGRAM_HOME"])
    bare, hook = [], []
    for number in range(rounds + 2):
        event = {"session_id": "bench", "cwd": str(cwd), "transcript_path": "/x/.claude/y.jsonl",
                 "prompt_id": f"{os.getpid()}-{time.time_ns()}", **facts}  # fmt: skip
        bare_seconds = started((PYTHON, "-c", "pass"), b"", cwd, env)
        hook_seconds = started((program, "hook"), json.dumps(event).encode(), cwd, env)
        if number >= 2:  # the first two fill the disk cache
            bare.append(bare_seconds)
            hook.append(hook_seconds)
    low, high = statistics.median(bare), statistics.median(hook)
    return {"bare ms": low * 1000, "hook ms": high * 1000, "p95 ms": sorted(hook)[int(rounds * 0.95)] * 1000,
            "ratio": high / low}  # fmt: skip


def run(sessions: int, rounds: int) -> list[dict[str, Any]]:
    """Measure every event with a full store, then some with a server that does not answer."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder) / "home", Path(folder) / "project"
        (project / "src").mkdir(parents=True)
        (project / "src" / "a.py").write_text("x = 1\n")
        filled(home, project, sessions)
        env = {**os.environ, "ENGRAM_HOME": str(home)}
        rows += [
            {"event": name, "store": f"{sessions:,} sessions", **measured(facts, project, env, rounds)}
            for name, facts in EVENTS.items()
        ]
        dead = {**env, "ENGRAM_HOME": str(Path(folder) / "away"), "ENGRAM_STORE": DEAD}
        rows += [
            {"event": name, "store": "dead PostgreSQL", **measured(EVENTS[name], project, dead, rounds)}
            for name in ("start", "before an edit")
        ]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short run for the test suite")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = run(200, 3) if options.quick else run(100_000, 40)
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'event':28} {'store':18} {'bare ms':>8} {'hook ms':>8} {'p95 ms':>8} {'ratio':>6}   aim {AIM}")
    for row in rows:
        figures = " ".join(f"{row[name]:8.1f}" for name in ("bare ms", "hook ms", "p95 ms"))
        print(f"{row['event']:28} {row['store']:18} {figures} {row['ratio']:6.2f}")


if __name__ == "__main__":
    main()
