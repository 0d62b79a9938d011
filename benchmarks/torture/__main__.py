"""The command: torture a store and show what came of it."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.torture.nemesis import report, torture


def main(words: list[str]) -> int:
    """Read the command line and torture."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.torture", description="Kill sweeps at random moments, and check what they leave."
    )
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", help="a postgresql:// address of an empty store; without it SQLite")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(words)
    root = Path(tempfile.mkdtemp(prefix="engram-torture-"))
    tell = _progress if sys.stderr.isatty() else lambda _: None
    summary = torture(root, given.store, kills=given.kills, seed=given.seed, tell=tell)
    print(json.dumps(asdict(summary)) if given.json else report(summary))
    if summary.violations:
        print(f"The store is kept in {root}", file=sys.stderr)
        return 1
    shutil.rmtree(root)
    return 0


def _progress(words: str) -> None:
    print(f"\r{words}  ", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
