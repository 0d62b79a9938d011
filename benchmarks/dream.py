"""Measure what a pass of the dream costs against the age of the store: the same new day after 1 month and after 24.

Every store gets sessions of its own history, as transcripts, and one pass over them; then some days of equal work come,
each tended by a pass of a hub that was just opened. Figures are CPU time as ratios to the youngest store; the aim is
that none is above 1.2. An idle pass, with nothing new, is measured beside it.

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
from engram.dream.cycle import dreamt

AIM = 1.2
MONTHS, DAYS, SESSIONS = (1, 6, 24), 5, 6
QUICK = (1, 2), 1, 2
TODAY = datetime(2026, 1, 20, 9, tzinfo=timezone.utc)  # history ends the day before, however long it is
WORDS = "cart price tax invoice refund till stock order parcel label basket voucher receipt ledger courier".split()


class Standing(Clock):
    """A clock whose wall time stands where the benchmark puts it."""

    def __init__(self) -> None:
        self.wall = TODAY

    def now(self) -> int:
        return round(self.wall.timestamp() * 1_000_000)


def transcript(person: Path, day: datetime, number: int) -> None:
    """Write one session of a day: a question, a failing test, an edit, a passing test, a decision."""
    name = f"{day:%Y%m%d}-{number}"
    project = f"/srv/{('shop', 'till')[number % 2]}"
    path = person / ".claude" / "projects" / project.replace("/", "-") / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    at = day + timedelta(minutes=20 * number)
    one, two = WORDS[(day.day + number) % len(WORDS)], WORDS[(day.day * 3 + number) % len(WORDS)]
    lines: list[dict[str, Any]] = []
    for turn in range(12):
        lines.append(_said(f"Make the {one} of case {name} agree with its {two}, step {turn}; I prefer small steps."))
        lines += _called(f"{name}{turn}a", f"pytest -q tests/test_{one}.py", f"KeyError: '{two}' in case {turn}", True)
        lines += _called(f"{name}{turn}b", f"pytest -q tests/test_{one}.py", "12 passed", False)
        lines.append(_answered(
            f"{name}{turn}", f"The {one} in `src/{one}.py` agrees with the {two} now. We decided to keep {one} and "
            f"{two} in one table because case {name} lost them. The tests pass.",
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


def _said(text: str) -> dict[str, Any]:
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
    """Return what a pass over a new day takes in a store of so many months, and what an idle one takes."""
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
            while dreamt(hub, force=True).id and hub.foresee_dream(force=True).steps:
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
    # The first day loads modules.
    return {"months": months, "sessions": stored, "cpu": statistics.median(each[0] for each in busy[1:]),
            "steps": busy[-1][1], "idle": statistics.median(each[0] for each in idle[1:])}  # fmt: skip


def _passed(home: str, clock: Standing) -> tuple[float, dict[str, float]]:
    with Engram(home, clock=clock, embedder="static") as hub:
        began = time.process_time()
        found = dreamt(hub)
        took = time.process_time() - began
    return took, {done.step: done.seconds for done in found.steps}


def table(rows: list[dict[str, Any]]) -> str:
    """Return the figures as ratios to the youngest store."""
    base = rows[0]
    lines = [f"{'months':>7}  {'sessions':>9}  {'CPU':>6}  {'idle':>6}  steps, seconds"]
    for row in rows:
        steps = ", ".join(f"{name} {seconds:.2f}" for name, seconds in row["steps"].items())
        ratios = f"{row['cpu'] / base['cpu']:6.2f}  {row['idle'] / base['idle']:6.2f}"
        lines.append(f"{row['months']:>7}  {row['sessions']:>9,}  {ratios}  {steps}")
    told = f"{base['cpu'] * 1000:.0f} ms of CPU; with nothing new {base['idle'] * 1000:.0f} ms"
    return "\n".join([f"A pass over a new day, in a store of {base['months']} month: {told}", "", *lines, "",
                      f"Ratios; aim for CPU: at most {AIM}."])  # fmt: skip


def main(words: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small stores: does it run at all")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(words)
    months, days, sessions = QUICK if given.quick else (MONTHS, DAYS, SESSIONS)
    rows = [measured(each, days, sessions) for each in months]
    print(json.dumps(rows) if given.json else table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
