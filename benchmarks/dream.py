"""Measure how the cost of a dream pass depends on the age of the store: the same new day after 1 month and after 24.

Every store gets a history of transcripts and a pass over it. Then follow some days with equal work, each with a pass
by a newly opened hub. Figures are CPU time as a ratio to the youngest store; none should be above 1.2. A pass with
nothing new is measured as well.

python -m benchmarks.dream [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from engram import Engram
from engram.clock import Clock
from engram.dream.cycle import run_pass

AIM = 1.2
MONTHS, DAYS, SESSIONS = (1, 6, 24), 5, 6
QUICK = (1, 2), 1, 2
TODAY = datetime(2026, 1, 20, 9, tzinfo=timezone.utc)  # every history ends the day before
WORDS = "cart price tax invoice refund till stock order parcel label basket voucher receipt ledger courier".split()


class Standing(Clock):
    """A clock that shows the time the benchmark sets."""

    def __init__(self) -> None:
        self.wall = TODAY

    def now(self) -> int:
        return round(self.wall.timestamp() * 1_000_000)


def transcript(person: Path, day: datetime, number: int) -> None:
    """Write one session of a day: prompts, failing tests, passing tests and decisions."""
    name = f"{day:%Y%m%d}-{number}"
    project = f"/srv/{('shop', 'till')[number % 2]}"
    path = person / ".claude" / "projects" / project.replace("/", "-") / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    at = day + timedelta(minutes=20 * number)
    first, second = WORDS[(day.day + number) % len(WORDS)], WORDS[(day.day * 3 + number) % len(WORDS)]
    lines: list[dict[str, Any]] = []
    for turn in range(12):
        lines.append(
            _prompted(f"Make the {first} of case {name} agree with its {second}, step {turn}; I prefer small steps.")
        )
        test = f"pytest -q tests/test_{first}.py"
        lines += _called(f"{name}{turn}a", test, f"KeyError: '{second}' in case {turn}", True)
        lines += _called(f"{name}{turn}b", test, "12 passed", False)
        lines.append(_answered(
            f"{name}{turn}", f"The {first} in `src/{first}.py` agrees with the {second} now. We decided to keep "
            f"{first} and {second} in one table because case {name} lost them. The tests pass.",
        ))  # fmt: skip
    with path.open("w") as file:
        for place, line in enumerate(lines):
            stamp = (at + timedelta(seconds=20 * place)).isoformat().replace("+00:00", "Z")
            facts = {
                "uuid": f"{name}-{place}",
                "sessionId": name,
                "timestamp": stamp,
                "cwd": project,
                "version": "2.1.0",
            }
            file.write(json.dumps({**line, **facts}) + "\n")


def _prompted(text: str) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": text}}


def _answered(name: str, text: str) -> dict[str, Any]:
    usage = {"input_tokens": 50, "output_tokens": 40}
    message = {"id": f"m{name}", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage}
    return {"type": "assistant", "message": {**message, "content": [{"type": "text", "text": text}]}}


def _called(name: str, command: str, output: str, failed: bool) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": f"t{name}", "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": f"t{name}", "content": output, "is_error": failed}
    message = {"id": f"m{name}", "role": "assistant", "model": "claude-sonnet-4-5", "usage": {"output_tokens": 9}}
    return [
        {"type": "assistant", "message": {**message, "content": [call]}},
        {"type": "user", "message": {"role": "user", "content": [result]}},
    ]


def measured(months: int, days: int, sessions: int) -> dict[str, Any]:
    """Return the cost of a pass over a new day, and of an idle pass, in a store of this age."""
    with tempfile.TemporaryDirectory() as place:
        person, home = Path(place, "person"), str(Path(place, "home"))
        os.environ["HOME"] = str(person)
        clock = Standing()
        for day in range(30 * months):
            clock.wall = TODAY - timedelta(days=30 * months - day)
            for number in range(sessions):
                transcript(person, clock.wall, number)
        clock.wall += timedelta(hours=12)
        with Engram(home, clock=clock, embedder="static") as hub:
            while run_pass(hub, force=True).id and hub.foresee_dream(force=True).steps:
                pass
            stored = hub.stats().total_sessions
        busy, idle = [], []
        for day in range(days + 1):
            clock.wall = TODAY + timedelta(days=day)
            for number in range(sessions):
                transcript(person, clock.wall, number)
            clock.wall += timedelta(hours=12)
            busy.append(_passed(home, clock))
            idle.append(_passed(home, clock))
    # Skip the first day, which loads modules.
    return {"months": months, "sessions": stored, "cpu": statistics.median(cpu for cpu, _ in busy[1:]),
            "steps": busy[-1][1], "idle": statistics.median(cpu for cpu, _ in idle[1:])}  # fmt: skip


def _passed(home: str, clock: Standing) -> tuple[float, dict[str, float]]:
    with Engram(home, clock=clock, embedder="static") as hub:
        began = time.process_time()
        result = run_pass(hub)
        took = time.process_time() - began
    return took, {done.step: done.seconds for done in result.steps}


def table(rows: list[dict[str, Any]]) -> str:
    """Format the figures as ratios to the youngest store."""
    base = rows[0]
    lines = [f"{'months':>7}  {'sessions':>9}  {'CPU':>6}  {'idle':>6}  steps, seconds"]
    for row in rows:
        steps = ", ".join(f"{name} {seconds:.2f}" for name, seconds in row["steps"].items())
        ratios = f"{row['cpu'] / base['cpu']:6.2f}  {row['idle'] / base['idle']:6.2f}"
        lines.append(f"{row['months']:>7}  {row['sessions']:>9,}  {ratios}  {steps}")
    costs = f"{base['cpu'] * 1000:.0f} ms of CPU; with nothing new {base['idle'] * 1000:.0f} ms"
    return "\n".join([f"A pass over a new day, in a store of {base['months']} month: {costs}", "", *lines, "",
                      f"Ratios; aim for CPU: at most {AIM}."])  # fmt: skip


def main(words: list[str]) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small stores, to check that it runs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    ages, days, sessions = QUICK if options.quick else (MONTHS, DAYS, SESSIONS)
    rows = [measured(months, days, sessions) for months in ages]
    print(json.dumps(rows) if options.json else table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
