"""Measure recall on public benchmarks, all memories side by side in one run.

Nothing here knows the answers while it asks, and no figure is of a part chosen afterwards: every table says which
file, by its hash, and how many questions. A peer that cannot be had is named with its reason.

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
from benchmarks.recall.data import CACHE, LOCOMO, LONGMEMEVAL, Case, described, locomo, longmemeval, pooled, some
from benchmarks.recall.latency import growth
from benchmarks.recall.latency import table as growth_table
from benchmarks.recall.peers import PEERS, Running
from benchmarks.recall.systems import Bm25, NotRun, Ours, System
from benchmarks.recall.tables import table
from benchmarks.recall.unasked import measure

PARTS = ("longmemeval", "pooled", "locomo", "unasked", "latency")
QUICK = 2  # questions
SIZES = (1_000, 10_000, 100_000)


def main(words: list[str]) -> int:
    """Read the command line and measure."""
    given = _parsed(words)
    missing = [path for path in (given.longmemeval, given.locomo) if not path.exists()]
    if missing and set(given.only) != {"latency"}:
        print(f"There are no questions to ask: {missing[0]} is missing.")
        return 0
    for part in given.only:
        if part == "latency":
            _latency(given)
        elif part == "unasked":
            _unasked(given)
        else:
            _ask_all(part, given)
    return 0


def _parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure recall, side by side with the peers.")
    parser.add_argument("--quick", action="store_true", help="few questions and sizes, no peers")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="some of the parts")
    parser.add_argument("--systems", nargs="+", help="some of the memories, by name")
    parser.add_argument("--peers", nargs="?", type=Path, const=CACHE, help="also the peers, kept in this folder")
    parser.add_argument("--questions", type=int, help="ask the peers so many questions, evenly spread")
    parser.add_argument("--longmemeval", type=Path, default=LONGMEMEVAL, help="a file of LongMemEval")
    parser.add_argument("--locomo", type=Path, default=LOCOMO, help="a file of LoCoMo")
    parser.add_argument("--minilm", action="store_true", help="also ours with the embedder minilm: slow at first")
    parser.add_argument("--million", action="store_true", help="latency also with a million exchanges")
    parser.add_argument("--ablation", action="store_true", help="also ours with one part switched off at a time")
    return parser.parse_args(words)


# ---- Questions


def _cases(part: str, given: argparse.Namespace) -> tuple[str, list[Case]]:
    """Return the cases of a part and which file they are from."""
    path: Path = given.locomo if part == "locomo" else given.longmemeval
    cases = locomo(path) if part == "locomo" else longmemeval(path)
    which = described(path, cases)
    if given.quick:
        cases = some(cases[:1], 4 * QUICK) if part == "locomo" else some(cases, QUICK)
    return which, pooled(cases) if part == "pooled" else cases


def _ask_all(part: str, given: argparse.Namespace) -> None:
    which, cases = _cases(part, given)
    unit = "turn" if part == "locomo" else "session"
    own = list(_own(given, cases, unit))
    fewer = some(cases, given.questions) if given.questions else cases
    others = list(_peers(given, fewer, unit))
    print(f"\n== {part}: {which}", flush=True)
    everyone = own if given.questions else own + others
    _print(part, f"all {_count(cases)} questions", everyone)
    if given.questions:
        ids = [question.id for case in fewer for question in case.questions]
        _print(part, f"{len(ids)} of them, evenly spread", [sheet.of(ids) for sheet in own + others])


def _count(cases: list[Case]) -> int:
    return sum(len(case.questions) for case in cases)


def _print(part: str, of: str, sheets: Sequence[Sheet]) -> None:
    print(table(f"{part}, sessions, {of}", sheets, "session"), flush=True)
    if part == "locomo":
        print(table(f"{part}, turns, {of}", [each for each in sheets if each.unit == "turn"], "turn"), flush=True)


def _own(given: argparse.Namespace, cases: list[Case], unit: str) -> Iterator[Sheet]:
    makers: dict[str, Callable[[], System]] = {"engram": Ours, "bm25": Bm25}
    if given.minilm:
        makers |= {"engram, minilm": partial(Ours, "minilm")}
    for name, make in makers.items():
        if _wanted(given, name):
            yield _asked(name, make, cases, unit)
    for name, make in makers.items() if unit == "turn" else ():
        if _wanted(given, name):
            whole = _asked(name, make, cases, "session")
            whole.name = f"{name}, whole sessions"
            yield whole
    for system in ablations() if given.ablation else ():
        with closing(system):
            yield ask(system, cases, unit)


def _asked(name: str, make: Callable[[], System], cases: list[Case], unit: str) -> Sheet:
    try:
        with closing(make()) as system:
            return ask(system, cases, unit)
    except NotRun as problem:
        return Sheet(name, unit, why=str(problem))


def _peers(given: argparse.Namespace, cases: list[Case], unit: str) -> Iterator[Sheet]:
    for peer in PEERS:
        if not _wanted(given, peer.name):
            continue
        if given.peers is None or given.quick:
            yield Sheet(peer.name, unit, why="--peers was not given" if given.peers is None else "--quick")
            continue
        yield _asked(peer.name, partial(Running, peer, given.peers), cases, unit)


def _wanted(given: argparse.Namespace, name: str) -> bool:
    return not given.systems or name in given.systems


def _unasked(given: argparse.Namespace) -> None:
    which, cases = _cases("longmemeval", given)
    print(f"\n== unasked: {which}, and transcripts", flush=True)
    print(measure(cases, given.quick), flush=True)


# ---- Growth


def _latency(given: argparse.Namespace) -> None:
    sizes = SIZES[:1] if given.quick else (*SIZES, 1_000_000) if given.million else SIZES
    rows = [row for row in growth(sizes, 20 if given.quick else 200) if _wanted(given, row.system)]
    print(growth_table(rows), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
