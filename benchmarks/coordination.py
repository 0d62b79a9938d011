"""Measure coordination against a naive implementation in the same run, so that ratios are meaningful.

The naive implementation is that of the first Engram: a new connection for every call, a select followed by an insert,
and an fsync for each statement. It is reimplemented here so that both run on the same disk at the same time.

python benchmarks/coordination.py [--quick] [--json]
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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import apsw

from engram import Engram, Held

PYTHON = sys.executable
ENGRAM = str(Path(sys.executable).parent / "engram")
PROMPT = {"session_id": "benchmark", "hook_event_name": "UserPromptSubmit", "prompt": "go on"}
EDIT = {"session_id": "benchmark", "tool_name": "Edit", "tool_input": {"file_path": "a.py"}}

# Commands and their standard input; results are ratios to the first.
COMMANDS: dict[str, tuple[tuple[str, ...], Mapping[str, object]]] = {
    "python -c pass": ((PYTHON, "-c", "pass"), {}),
    "python -c 'import apsw'": ((PYTHON, "-c", "import apsw"), {}),
    "engram hook claude prompt": ((ENGRAM, "hook", "claude", "prompt"), PROMPT),
    "engram hook claude tool": ((ENGRAM, "hook", "claude", "tool"), EDIT),
    "engram sitrep": ((ENGRAM, "sitrep"), {}),
}


@dataclass(frozen=True)
class Size:
    """How much to measure."""

    pairs: int = 400  # per process
    processes: tuple[int, ...] = (1, 8)
    calls: int = 200
    growth: tuple[int, ...] = (10, 1_000, 100_000)
    starts: int = 30


FULL = Size()
QUICK = Size(pairs=12, processes=(1, 2), calls=5, growth=(10, 100), starts=1)


@dataclass(frozen=True)
class Figure:
    """One line of the table; `naive` and `ratio` refer to the rate if there is one, else to the median."""

    group: str
    what: str
    rate: float | None = None  # pairs per second
    p50: float | None = None  # milliseconds
    p95: float | None = None
    naive: float | None = None  # the same for the naive implementation
    ratio: float | None = None
    note: str = ""


# ---- Lock and unlock, ours and naive


class Locks(Protocol):
    """The operations a benchmark process calls."""

    def lock(self, resource: str) -> bool: ...
    def release(self, resource: str) -> None: ...


class Ours:
    """Locks through the library."""

    def __init__(self, home: str, wait: float = 0) -> None:
        self.engram, self.wait = Engram(home), wait
        self.session = self.engram.register("benchmark", "locks and unlocks", cwd=home, pid=os.getpid())

    def lock(self, resource: str) -> bool:
        try:
            self.engram.lock_resource(self.session, resource, wait=self.wait)
        except Held:
            return False
        return True

    def release(self, resource: str) -> None:
        self.engram.release_resource(self.session, resource)


class Naive:
    """The implementation of the first Engram, which grants every lock."""

    def __init__(self, home: str) -> None:
        self.path, self.session = str(Path(home) / "naive.db"), str(os.getpid())
        table = "create table if not exists resource_locks (resource, session_id, locked_at)"
        self.run(table)

    def lock(self, resource: str) -> bool:
        self.run("select session_id from resource_locks where resource = ?", resource)
        self.run("insert into resource_locks values (?, ?, ?)", resource, self.session, time.time())
        return True

    def release(self, resource: str) -> None:
        self.run("delete from resource_locks where resource = ? and session_id = ?", resource, self.session)

    def run(self, sql: str, *parameters: str | float) -> list[tuple[object, ...]]:
        """Open a connection, run one statement and close it."""
        connection = apsw.Connection(self.path)
        try:
            connection.set_busy_timeout(30_000)
            connection.execute("pragma journal_mode = wal; pragma synchronous = full").fetchall()
            return list(connection.execute(sql, parameters))
        finally:
            connection.close()


def make(kind: str, home: str) -> Locks:
    """Open one of the implementations."""
    return Naive(home) if kind == "naive" else Ours(home, wait=30 if kind == "waiting" else 0)


@dataclass
class Work:
    """The measurements of one process, or of several together."""

    took: list[float]  # seconds from the first attempt to the grant
    freed: list[float]  # seconds of each release
    refused: int
    end: float

    def rate(self, start: float) -> float:
        """Return pairs per second."""
        return len(self.took) / (self.end - start)


def work(kind: str, home: str, resource: str, pairs: int, start: float) -> Work:
    """Lock and unlock many times; all processes begin at the same time."""
    locks, took, freed, refused = make(kind, home), [], [], 0
    while now() < start:
        time.sleep(0.001)
    for _ in range(pairs):
        began = now()
        while not locks.lock(resource):
            refused += 1
        had = now()
        locks.release(resource)
        took.append(had - began)
        freed.append(now() - had)
    return Work(took, freed, refused, now())


def together(kind: str, home: str, count: int, pairs: int, shared: bool) -> tuple[float, Work]:
    """Run several processes in parallel; return pairs per second and their measurements."""
    make(kind, home)  # create the store before measuring
    start = now() + 0.2 + 0.15 * count
    running = []
    for number in range(count):
        word = json.dumps([kind, home, "same.py" if shared else f"file-{number}.py", pairs, start])
        running.append(subprocess.Popen([PYTHON, __file__, "--work", word], stdout=subprocess.PIPE))
    done = [Work(**json.loads(process.communicate()[0])) for process in running]
    took = [seconds for part in done for seconds in part.took]
    freed = [seconds for part in done for seconds in part.freed]
    summed = Work(took, freed, sum(part.refused for part in done), max(part.end for part in done))
    return summed.rate(start), summed


def now() -> float:
    """Return a time that all processes share."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def lock_figures(size: Size, home: str) -> Iterable[Figure]:
    """Yield throughput and latency of lock + unlock, with one process and with several."""
    for count in size.processes:
        for shared in (False, True) if count > 1 else (False,):
            naive, _ = together("naive", home, count, size.pairs // 8 + 1, shared)
            for kind in ("ours", "waiting") if shared else ("ours",):
                rate, done = together(kind, home, count, size.pairs // (4 if shared else 1) + 1, shared)
                how = {"ours": ", retrying immediately", "waiting": ", wait=30"}[kind] if shared else ""
                what = f"{count} at once, {'the same file' if shared else 'different files'}{how}"
                # The columns show only lock, the slower half; mixed with unlock the tail looks half as long.
                note = f"lock p99 {_slow(done.took, 99)}, unlock p95 {_slow(done.freed, 95)} ms"
                note += f"; {done.refused:,} refusals; naive grants to all" if shared else ""
                yield Figure(
                    "lock + unlock", what, rate, *middle(done.took), naive=naive, ratio=rate / naive, note=note
                )


# ---- Single operations, and how they scale with the store


def call_figures(size: Size, home: str) -> Iterable[Figure]:
    """Yield how long common operations take."""
    with Engram(home) as engram:
        me, other = (engram.register("benchmark", "calls", cwd=home) for _ in range(2))
        engram.set_world_state("# Benchmark\n" + "One line of world state.\n" * 20)
        acts: dict[str, Callable[[], object]] = {
            "register": lambda: engram.register("benchmark", "one more", cwd=home),
            "heartbeat": lambda: engram.heartbeat(me),
            "log": lambda: engram.log(me, "an entry"),
            "send": lambda: engram.send(me, other, "a message"),
            "inbox, one message": lambda: engram.inbox(other, limit=1),
            "inbox, empty": lambda: engram.inbox(me),
            "check_edit": lambda: engram.check_edit(me, "some/file.py"),
            "set_world_state": lambda: engram.set_world_state(f"as of {time.perf_counter_ns()}", me),
            "sitrep": lambda: engram.get_situation_report(me),
        }
        for name, act in acts.items():
            yield Figure("one call", name, None, *middle([timed(act) for _ in range(size.calls)]))


def growth_figures(size: Size, home: str) -> Iterable[Figure]:
    """Yield sitrep and inbox with more and more old sessions and messages, as a ratio to the smallest store."""
    first: dict[str, float] = {}
    for count in size.growth:
        with Engram(str(Path(home) / f"grown-{count}")) as engram:
            took = grown(engram, home, count, max(5, size.calls // 4))
        for name, times in took.items():
            ratio = statistics.median(times) / first.setdefault(name, statistics.median(times))
            what = f"{name} over {count:,} old sessions and messages"
            yield Figure("growth", what, None, *middle(times), ratio=ratio, note=f"ratio to {size.growth[0]}")


def grown(engram: Engram, home: str, count: int, repeat: int) -> dict[str, list[float]]:
    """Return how long sitrep and inbox take in a store with old sessions and messages."""
    me, other = (engram.register("benchmark", "now", cwd=home) for _ in range(2))
    fill(engram, me, count)
    took: dict[str, list[float]] = {"sitrep": [], "inbox": []}
    for _ in range(repeat):
        engram.send(other, me, "news")
        took["sitrep"].append(timed(lambda: engram.get_situation_report(me)))
        took["inbox"].append(timed(lambda: engram.inbox(me)))
    return took


def fill(engram: Engram, recipient: str, count: int) -> None:
    """Add old sessions and read messages to a store, in one transaction."""
    row = engram.engine.run("select * from sessions where id = :id", id=recipient)[0]
    day = 24 * 3600 * 1_000_000
    with engram.engine.transaction():
        for n in range(count):
            then = row["started_at"] - 2 * day - n * 1_000_000
            # Half of them were completed.
            done = {"status": "completed", "completed_at": then, "completion_summary": "done"} if n % 2 else {}
            facts = {**row, "id": f"old-{n:08}", "started_at": then, "last_heartbeat": then, "pid": None, **done}
            columns = ", ".join(facts)
            engram.engine.run(f"insert into sessions ({columns}) values ({', '.join(f':{c}' for c in facts)})", **facts)
            engram.engine.run(
                "insert into messages (sender, recipient, project, kind, body, sent_at, delivered_at)"
                " values (null, :recipient, '', 'note', 'old news', :then, :then)",
                recipient=recipient, then=then,
            )  # fmt: skip


def timed(act: Callable[[], object]) -> float:
    """Return how many seconds a call takes."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _slow(seconds: list[float], percent: int) -> str:
    return f"{sorted(seconds)[min(len(seconds) - 1, len(seconds) * percent // 100)] * 1000:.3g}"


def middle(seconds: list[float]) -> tuple[float, float]:
    """Return median and 95th percentile in milliseconds."""
    ordered = sorted(seconds)
    return statistics.median(ordered) * 1000, ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))] * 1000


# ---- Starting


def start_figures(size: Size, home: str) -> Iterable[Figure]:
    """Yield how long commands take to start; they take turns, so that noise affects all equally."""
    took: dict[str, list[float]] = {name: [] for name in COMMANDS}
    failed: dict[str, str] = {}
    for turn in range(size.starts + 1):
        for name, (command, payload) in COMMANDS.items():
            if name in failed:
                continue
            began = time.perf_counter()
            problem = start(command, payload, home)
            if problem:
                failed[name] = problem
            elif turn:  # the first turn only warms the disk
                took[name].append(time.perf_counter() - began)
    bare = next(iter(took.values()))
    for name, times in took.items():
        if name in failed:
            yield Figure("start", name, note=f"skipped: {failed[name]}")
        else:
            # The fastest start shows what a command costs; the median also depends on the load of the machine.
            fastest = f"{min(times) / min(bare):.2f}x fastest to fastest"
            ratio = statistics.median(times) / statistics.median(bare)
            yield Figure("start", name, None, *middle(times), ratio=ratio, note=fastest)


def start(command: tuple[str, ...], payload: Mapping[str, object], home: str) -> str:
    """Run a command; return the reason if it failed, else an empty string."""
    words = json.dumps({**payload, "cwd": home}).encode()
    env = {name: text for name, text in os.environ.items() if not name.startswith(("ENGRAM_", "CLAUDE", "CODEX"))}
    try:
        done = subprocess.run(
            command, input=words, capture_output=True, cwd=home, env=env | {"ENGRAM_HOME": home}, check=False
        )
    except OSError as problem:
        return str(problem)
    return "" if done.returncode == 0 else f"exit status {done.returncode}"


# ---- The table


def table(figures: list[Figure]) -> str:
    """Format the figures as a table."""
    lines = [f"{'':50} {'pairs/s':>9} {'p50 ms':>9} {'p95 ms':>9} {'naive':>9} {'ratio':>8}"]
    for n, figure in enumerate(figures):
        if n == 0 or figure.group != figures[n - 1].group:
            lines.append(figure.group)
        numbers = [_short(number) for number in (figure.rate, figure.p50, figure.p95, figure.naive)]
        ratio = f"{figure.ratio:.2f}x" if figure.ratio else ""
        lines.append(f"  {figure.what:48} {' '.join(f'{n:>9}' for n in numbers)} {ratio:>8}  {figure.note}".rstrip())
    return "\n".join(lines)


def _short(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number:,.{0 if number >= 100 else 1 if number >= 10 else 2}f}"


def measure(size: Size) -> list[Figure]:
    """Measure everything in a temporary directory."""
    with tempfile.TemporaryDirectory(prefix="engram-bench-") as home:
        kinds = (lock_figures, call_figures, growth_figures, start_figures)
        return [figure for kind in kinds for figure in kind(size, home)]


def main(words: list[str]) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Measure coordination against a naive implementation.")
    parser.add_argument("--quick", action="store_true", help="few repetitions, two processes, small stores")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.work:
        print(json.dumps(asdict(work(*json.loads(options.work)))))
        return 0
    figures = measure(QUICK if options.quick else FULL)
    print(json.dumps([asdict(figure) for figure in figures]) if options.json else table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
