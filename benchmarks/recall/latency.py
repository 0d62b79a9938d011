"""Measure how recall scales with the number of exchanges, against a brute-force vector search like Lyra's.

Each size runs in its own process, so that memory can be measured.

python -m benchmarks.recall.latency engram|lyra EXCHANGES QUERIES
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from benchmarks.recall.corpus import Corpus
from benchmarks.recall.metrics import percentile
from benchmarks.recall.systems import NotRun, Ours

WARM = 20  # queries before the measurement
DIMENSIONS = 384
NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
LYRA_LIMIT = 100_000


@dataclass(frozen=True)
class Growth:
    """The figures of one size."""

    system: str
    exchanges: int
    taken_in: float = 0.0  # exchanges per second
    embedded: float = 0.0  # exchanges per second
    stored: int = 0  # bytes
    rss: float = 0.0  # MB
    p50: float = 0.0
    p95: float = 0.0
    why: str = ""


def growth(sizes: tuple[int, ...], queries: int) -> Iterator[Growth]:
    """Yield the figures of every size, ours and Lyra's."""
    for size in sizes:
        for system in ("engram", "lyra"):
            if system == "lyra" and size > LYRA_LIMIT:
                yield Growth(system, size, why=f"not run beyond {LYRA_LIMIT:,}")
            else:
                yield _apart(system, size, queries)


def _apart(system: str, size: int, queries: int) -> Growth:
    words = [sys.executable, "-m", "benchmarks.recall.latency", system, str(size), str(queries)]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=root)
    if done.returncode:
        error = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return Growth(
            system, size, why=f"not run: {error.removeprefix(f'{NotRun.__module__}.{NotRun.__name__}: ')[:200]}"
        )
    return Growth(**json.loads(done.stdout.splitlines()[-1]))


def table(rows: list[Growth]) -> str:
    """Format the figures as a table."""
    heading = ("exchanges", "stored /s", "embedded /s", "stored MB", "RSS MB", "p50 ms", "p95 ms")
    lines = ["\nlatency by number of exchanges", f"  {'':10} " + " ".join(f"{name:>12}" for name in heading)]
    for row in rows:
        numbers = (
            f"{row.taken_in:,.0f}", f"{row.embedded:,.0f}" if row.embedded else "-", f"{row.stored / 1e6:,.1f}",
            f"{row.rss:,.0f}", f"{row.p50:.2f}", f"{row.p95:.2f}",
        )  # fmt: skip
        shown = row.why or " ".join(f"{number:>12}" for number in numbers)
        lines.append(f"  {row.system:10} {row.exchanges:>12,} {shown}")
    return "\n".join(lines)


def _timed(search: Callable[[int], object], queries: int) -> tuple[float, float]:
    took = []
    for number in range(WARM + queries):
        began = time.perf_counter()
        search(number)
        took.append((time.perf_counter() - began) * 1000)
    return percentile(took[WARM:], 0.5), percentile(took[WARM:], 0.95)


def _rss() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _bytes(folder: str) -> int:
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file() and path.name != "ballast")


# ---- In the child process


def ours(size: int, queries: int) -> Growth:
    """Measure Engram."""
    from engram import Engram

    Ours()  # raises NotRun if this Engram cannot be measured
    corpus = Corpus()
    with tempfile.TemporaryDirectory(prefix="engram-bench-") as folder:
        engram: Any = Engram(folder, embedder="static")
        taken = embedding = 0.0
        for session in corpus.sessions(size):
            rows = [{"role": turn.role, "content": turn.content, "at": turn.at} for turn in session.turns]
            began = time.perf_counter()
            engram.add_exchanges_bulk(session.id, rows)
            taken += time.perf_counter() - began
        began = time.perf_counter()
        engram.index()
        embedding = time.perf_counter() - began
        questions = [corpus.question() for _ in range(WARM + queries)]
        p50, p95 = _timed(lambda number: engram.recall(questions[number], k=10, now=NOW), queries)
        figures = Growth("engram", size, size / taken, size / embedding, _bytes(folder), _rss(), p50, p95)
        engram.close()
    return figures


def lyra(size: int, queries: int) -> Growth:
    """Measure a table of vectors that every query reads completely; the vector of the query is given."""
    import sqlite3

    try:
        np: Any = importlib.import_module("numpy")
    except ImportError:
        raise NotRun("numpy is not installed") from None
    chance = np.random.default_rng(7)
    with tempfile.TemporaryDirectory(prefix="engram-bench-") as folder:
        base = sqlite3.connect(Path(folder) / "lyra.db")
        base.execute("create table memories (id integer primary key, vector blob)")
        began = time.perf_counter()
        for start in range(0, size, 10_000):
            vectors = chance.standard_normal((min(10_000, size - start), DIMENSIONS)).astype(np.float32)
            rows = ((vector.tobytes(),) for vector in vectors)
            base.executemany("insert into memories (vector) values (?)", rows)
        base.commit()
        taken = time.perf_counter() - began

        def search(_: int) -> object:
            wanted = chance.standard_normal(DIMENSIONS).astype(np.float32)
            rows = base.execute("select id, vector from memories").fetchall()
            stacked = np.stack([np.frombuffer(blob, dtype=np.float32) for _, blob in rows])
            near = stacked @ wanted / (np.linalg.norm(stacked, axis=1) * np.linalg.norm(wanted))
            return [rows[place][0] for place in np.argsort(-near)[:10]]

        p50, p95 = _timed(search, queries)
        figures = Growth("lyra", size, size / taken, 0.0, _bytes(folder), _rss(), p50, p95)
        base.close()
    return figures


if __name__ == "__main__":
    which, exchanges, asked = sys.argv[1:]
    print(json.dumps(asdict((ours if which == "engram" else lyra)(int(exchanges), int(asked)))))
