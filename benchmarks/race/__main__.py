"""The command line: run a race and print its summary, or run as one of its racers."""

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
    """Run a race."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.race",
        description="Let processes compete for locks, kill and stop some, and check every rule.",
    )
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", help="a postgresql:// URL (default: SQLite in a temporary directory)")
    parser.add_argument("--no-nemesis", action="store_true", help="do not kill or stop processes")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--racer", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.racer:
        facts, number, life = json.loads(options.racer)
        return take_part(Race(**facts), number, life)
    home = Path(tempfile.mkdtemp(prefix="engram-race-"))
    victims = 0 if options.no_nemesis else None
    summary = hold_race(
        home, options.store, processes=options.processes, rounds=options.rounds, seed=options.seed,
        kills=victims, stops=victims, tell=_progress if sys.stderr.isatty() else lambda _: None,
    )  # fmt: skip
    print(json.dumps(asdict(summary)) if options.json else report(summary))
    if summary.violations:
        print(f"The histories are in {home}", file=sys.stderr)
        return 1
    shutil.rmtree(home)
    return 0


def _progress(words: str) -> None:
    print(f"\r{words}  ", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
