"""Measure what Engram understands of sessions: requests, decisions, test verdicts, errors and their fixes, open items.

Labels were written by reading the sessions before the rules were built: 22 came with their transcripts, 40 are in
labels.jsonl. Statements are compared by their content words.

python3 dev.py bench evidence [--misses] [--episodes N] [--only labels|published|chats|sentences]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.evidence import chats, labelled, published, sentences

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
PARTS = {
    "labels": labelled.measure, "published": published.measure, "chats": chats.measure, "sentences": sentences.measure,
}  # fmt: skip


def main() -> int:
    """Print every figure whose data is present."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="print what was missed and what was wrong")
    parser.add_argument("--episodes", type=int, default=0, help="print this many episodes of labelled sessions")
    parser.add_argument("--only", choices=PARTS, help="measure one part")
    parser.add_argument("--data", type=Path, default=DATA, help="directory of the data sets")
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"The data sets are not at {options.data}.")
        return 1
    for name, measure in PARTS.items():
        if options.only in (None, name):
            print(measure(options.data).render(misses=options.misses, notes=options.episodes), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
