"""The command: hold a race and show what came of it, or be one of its racers."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.race.racer import Race, take_part
from benchmarks.race.summary import hold_race, report


def main(words: list[str]) -> int:
    """Read the command line and race."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.race", description="Race processes for locks, hurt them, and check every rule."
    )
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", help="a postgresql:// address; without it SQLite in a temporary directory")
    parser.add_argument("--no-nemesis", action="store_true", help="kill and stop nobody")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--racer", help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    if given.racer:
        facts, number, life = json.loads(given.racer)
        return take_part(Race(**facts), number, life)
    home = Path(tempfile.mkdtemp(prefix="engram-race-"))
    nobody = 0 if given.no_nemesis else None
    summary = hold_race(
        home, given.store, processes=given.processes, rounds=given.rounds, seed=given.seed, kills=nobody, stops=nobody,
        tell=_progress if sys.stderr.isatty() else lambda _: None,
    )  # fmt: skip
    print(json.dumps(asdict(summary)) if given.json else report(summary))
    if summary.violations:
        print(f"The histories are kept in {home}", file=sys.stderr)
        return 1
    shutil.rmtree(home)
    return 0


def _progress(words: str) -> None:
    print(f"\r{words}  ", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
