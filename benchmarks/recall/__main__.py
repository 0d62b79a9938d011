"""Measure recall on public benchmarks, with all memory systems in one run.

The answers are not visible to the systems, and no subset is chosen afterwards: every table names the file with its
hash and the number of questions. A peer that cannot be installed is listed with the reason.

python -m benchmarks.recall [--quick] [--only PART …] [--systems NAME …] [--peers [FOLDER]] [--questions N]
                            [--longmemeval FILE] [--locomo FILE] [--minilm] [--million] [--ablation]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from benchmarks.recall.ablations import ablations
from benchmarks.recall.asking import Sheet, ask
from benchmarks.recall.coding import measure_coding
from benchmarks.recall.data import CACHE, DATA, LOCOMO, LONGMEMEVAL, Case, described, locomo, longmemeval, pooled, some
from benchmarks.recall.latency import growth
from benchmarks.recall.latency import table as growth_table
from benchmarks.recall.peers import PEERS, Running
from benchmarks.recall.systems import Bm25, NotRun, Ours, System
from benchmarks.recall.tables import table
from benchmarks.recall.unasked import measure

PARTS = ("longmemeval", "pooled", "locomo", "coding", "unasked", "latency")
QUICK = 2  # questions
SIZES = (1_000, 10_000, 100_000)


def main(words: list[str]) -> int:
    """Run the benchmark."""
    options = _parsed(words)
    missing = [path for path in (options.longmemeval, options.locomo) if not path.exists()]
    if missing and not set(options.only) <= {"latency", "coding"}:
        print(f"No questions to ask: {missing[0]} is missing.")
        return 0
    for part in options.only:
        if part == "latency":
            _latency(options)
        elif part == "coding":
            print(measure_coding(DATA.parent), flush=True)
        elif part == "unasked":
            _unasked(options)
        else:
            _ask_all(part, options)
    return 0


def _parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure recall against other memory systems.")
    parser.add_argument("--quick", action="store_true", help="few questions and sizes, without peers")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="run only these parts")
    parser.add_argument("--systems", nargs="+", help="run only these systems")
    parser.add_argument(
        "--peers", nargs="?", type=Path, const=CACHE, help="also run the peers, installed in this directory"
    )
    parser.add_argument("--questions", type=int, help="number of questions for the peers, evenly spread")
    parser.add_argument("--longmemeval", type=Path, default=LONGMEMEVAL, help="LongMemEval file")
    parser.add_argument("--locomo", type=Path, default=LOCOMO, help="LoCoMo file")
    parser.add_argument(
        "--minilm", action="store_true", help="also run Engram with the embedder minilm (the first run is slow)"
    )
    parser.add_argument("--million", action="store_true", help="also measure latency with a million exchanges")
    parser.add_argument(
        "--ablation", action="store_true", help="also run Engram with one part of the score disabled at a time"
    )
    return parser.parse_args(words)


# ---- Questions


def _cases(part: str, options: argparse.Namespace) -> tuple[str, list[Case]]:
    """Return the cases of a part, and a description of their file."""
    path: Path = options.locomo if part == "locomo" else options.longmemeval
    cases = locomo(path) if part == "locomo" else longmemeval(path)
    which = described(path, cases)
    if options.quick:
        cases = some(cases[:1], 4 * QUICK) if part == "locomo" else some(cases, QUICK)
    return which, pooled(cases) if part == "pooled" else cases


def _ask_all(part: str, options: argparse.Namespace) -> None:
    which, cases = _cases(part, options)
    unit = "turn" if part == "locomo" else "session"
    own = list(_own(options, cases, unit))
    fewer = some(cases, options.questions) if options.questions else cases
    others = list(_peers(options, fewer, unit))
    print(f"\n== {part}: {which}", flush=True)
    everyone = own if options.questions else own + others
    _print(part, f"all {_count(cases)} questions", everyone)
    if options.questions:
        ids = [question.id for case in fewer for question in case.questions]
        _print(part, f"{len(ids)} of them, evenly spread", [sheet.of(ids) for sheet in own + others])


def _count(cases: list[Case]) -> int:
    return sum(len(case.questions) for case in cases)


def _print(part: str, of: str, sheets: Sequence[Sheet]) -> None:
    print(table(f"{part}, sessions, {of}", sheets, "session"), flush=True)
    if part == "locomo":
        print(table(f"{part}, turns, {of}", [sheet for sheet in sheets if sheet.unit == "turn"], "turn"), flush=True)


def _own(options: argparse.Namespace, cases: list[Case], unit: str) -> Iterator[Sheet]:
    makers: dict[str, Callable[[], System]] = {"engram": Ours, "bm25": Bm25}
    if options.minilm:
        makers |= {"engram, minilm": partial(Ours, "minilm")}
    for name, make in makers.items():
        if _wanted(options, name):
            yield _asked(name, make, cases, unit)
    for name, make in makers.items() if unit == "turn" else ():
        if _wanted(options, name):
            whole = _asked(name, make, cases, "session")
            whole.name = f"{name}, whole sessions"
            yield whole
    for system in ablations() if options.ablation else ():
        with closing(system):
            yield ask(system, cases, unit)


def _asked(name: str, make: Callable[[], System], cases: list[Case], unit: str) -> Sheet:
    try:
        with closing(make()) as system:
            return ask(system, cases, unit)
    except NotRun as problem:
        return Sheet(name, unit, why=str(problem))


def _peers(options: argparse.Namespace, cases: list[Case], unit: str) -> Iterator[Sheet]:
    for peer in PEERS:
        if not _wanted(options, peer.name):
            continue
        if options.peers is None or options.quick:
            yield Sheet(peer.name, unit, why="--peers was not given" if options.peers is None else "--quick")
            continue
        yield _asked(peer.name, partial(Running, peer, options.peers), cases, unit)


def _wanted(options: argparse.Namespace, name: str) -> bool:
    return not options.systems or name in options.systems


def _unasked(options: argparse.Namespace) -> None:
    which, cases = _cases("longmemeval", options)
    print(f"\n== unasked: {which}, and transcripts", flush=True)
    print(measure(cases, options.quick), flush=True)


# ---- Growth


def _latency(options: argparse.Namespace) -> None:
    sizes = SIZES[:1] if options.quick else (*SIZES, 1_000_000) if options.million else SIZES
    rows = [row for row in growth(sizes, 20 if options.quick else 200) if _wanted(options, row.system)]
    print(growth_table(rows), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
