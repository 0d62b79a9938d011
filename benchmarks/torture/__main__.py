"""The command line: torture a store and print the summary."""

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
    """Run the torture test."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.torture", description="Kill ingest processes at random times and check the store."
    )
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", help="a postgresql:// URL of an empty store (default: SQLite)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    root = Path(tempfile.mkdtemp(prefix="engram-torture-"))
    tell = _progress if sys.stderr.isatty() else lambda _: None
    summary = torture(root, options.store, kills=options.kills, seed=options.seed, tell=tell)
    print(json.dumps(asdict(summary)) if options.json else report(summary))
    if summary.violations:
        print(f"The store is in {root}", file=sys.stderr)
        return 1
    shutil.rmtree(root)
    return 0


def _progress(words: str) -> None:
    print(f"\r{words}  ", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
