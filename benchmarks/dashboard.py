"""Measure how long the server takes for each page of the dashboard, with a large store and a small one.

Both stores are filled like real ones: transcripts are ingested, flushed, summarized and compiled. One session of the
large store has 50,000 events. Each page is requested several times in one process, without a browser. The table shows
the first response, the median, and the median as a ratio to the small store. Requests that a page makes after loading
are listed below it. No first response should take more than 300 ms.

python -m benchmarks.dashboard [--quick] [--json] [--keep DIRECTORY]   existing stores in DIRECTORY are reused
"""

from __future__ import annotations

import argparse
import html
import json
import os
import re
import statistics
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from engram import Engram
from tests.patterns.writers import START, Claude, Codex, Gemini
from tests.surfaces.dashboard.looking import Looker

AIM = 300  # milliseconds
SMALL, LARGE, LONG = (10, 100), (1_000, 950), 50_000  # sessions, events per session; events of one long session
QUICK_SMALL, QUICK_LARGE, QUICK_LONG = (4, 20), (12, 40), 200
TIMES = 7
PROJECTS = [f"/home/mara/{name}" for name in ("harbour", "lighthouse", "ferry", "pier", "buoy", "tide")]
WORDS = "cart price tax invoice refund till stock order parcel label basket voucher receipt ledger courier".split()
_AFTERWARDS = re.compile(r'hx-get="([^"]+)"[^>]*hx-trigger="load')


def write(person: Path, number: int, events: int) -> None:
    """Write a session with this many events: prompts, answers, edits, and commands that work or fail."""
    flavor = (Claude, Codex, Gemini)[number % 3] if events < LONG else Claude
    work: Any = flavor(person, f"s{number}", PROJECTS[number % len(PROJECTS)], START - timedelta(hours=9 * number))
    for turn in range(max(1, events // 10)):
        first, second = (WORDS[(number * 7 + turn * step) % len(WORDS)] for step in (3, 5))
        work.says(f"The {first} of the {second} is wrong since yesterday, case {number}-{turn}. Find out why.")
        work.runs(f"pytest tests/test_{first}.py", f"FAILED test_{second} - KeyError: '{first}'", 1)
        work.edits(f"src/{first}.py", f"return {second}", f"return {second} or 0")
        work.runs(f"uv run pytest tests/test_{first}.py", "12 passed in 0.3s")
        work.runs("git status", " M src/price.py\n" * (turn % 5))
        work.answers(f"It was the **{second}** that nobody had counted. Decided: {first} before {second}.", 2_000)


def fill(home: Path, person: Path, sessions: int, events: int, long: int) -> None:
    """Write the sessions and let a store ingest them and dream."""
    for number in range(sessions - 1):
        write(person, number, events)
    write(person, sessions, long)
    with Engram(home, embedder="static") as engram:
        engram.ingest([str(person)])
        engram.dream(force=True, budget="60m")


def pages(engram: Engram) -> dict[str, str]:
    """Return the path of every page, with one example of each page that has a parameter."""
    longest = max(engram.list_sessions(limit=2_000), key=lambda session: session.events)
    middle = engram.get_events(longest.session.id, limit=1, after=longest.events // 2)[0]
    article = next((page.target for page in engram.list_pages().pages), "")  # at least a daily log
    pattern = engram.list_patterns(limit=1, min_frequency=1)
    paths = {
        "Now": "/now", "Sessions": "/sessions", "by cost": "/sessions?min_cost=0.01",
        "the longest": f"/sessions/{longest.session.id}",
        "its middle": f"/sessions/{longest.session.id}?at=e{middle.id}",
        "a stretch": f"/sessions/{longest.session.id}/stretch/{longest.events // 200}",
        "Search": "/search", "a query": "/search?q=why+is+the+invoice+wrong", "a name": "/search?q=test_voucher.py",
        "Wiki": "/wiki", "an article": f"/wiki/{quote(article)}", "Graph": "/wiki/graph", "Timeline": "/timeline",
        "Patterns": "/patterns", "Health": "/health",
    }  # fmt: skip
    return paths | ({"a dossier": f"/patterns/{pattern[0].id}"} if pattern else {})


def asked(home: Path, times: int) -> dict[str, dict[str, Any]]:
    """Return the milliseconds each page takes, with the requests it makes after loading."""
    with Engram(home, embedder="static", serving=True) as engram:
        looker, timings = Looker(engram), {}
        looker.page("/sessions")  # loads modules and templates
        for name, path in pages(engram).items():
            timings[name] = _timed(looker, path, times)
            after = dict.fromkeys(map(html.unescape, _AFTERWARDS.findall(looker.page(path))))
            timings[name]["after"] = {later: _timed(looker, later, 2, part=True) for later in after}
        return timings


def _timed(looker: Looker, path: str, times: int, part: bool = False) -> dict[str, Any]:
    taken, size = [], 0
    for _ in range(times):
        began = time.perf_counter()
        size = len(looker.page(path, part))
        taken.append((time.perf_counter() - began) * 1000)
    return {"path": path, "first": taken[0], "median": statistics.median(taken), "size": size}


def table(small: dict[str, Any], large: dict[str, Any], counts: list[str]) -> str:
    """Format the timings of both stores as a table."""
    lines = [f"{'page':<14} {'first':>8} {'median':>8} {'ratio':>7} {'size':>9}   {counts[1]} against {counts[0]}"]
    for name, row in large.items():
        ratio = f"{row['median'] / small[name]['median']:.2f}" if name in small else ""
        lines.append(
            f"{name:<14} {row['first']:>5.0f} ms {row['median']:>5.0f} ms {ratio:>7} {row['size'] / 1000:>6.0f} KB"
        )
        lines += [f"  then {path}: {later['first']:.0f} ms" for path, later in row["after"].items()]
    worst = max(large.values(), key=lambda row: row["first"])
    return "\n".join([*lines, "", f"Slowest first response: {worst['path']}, {worst['first']:.0f} ms; aim: {AIM} ms."])


def _count(home: Path) -> str:
    with Engram(home, embedder="static") as engram:
        sessions = engram.list_sessions(limit=10_000, subagents=True)
    return f"{len(sessions):,} sessions / {sum(session.events for session in sessions):,} events"


def main(words: list[str]) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small stores, to check that it runs")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", type=Path, help="directory to keep the stores in")
    options = parser.parse_args(words)
    small, large, long = (QUICK_SMALL, QUICK_LARGE, QUICK_LONG) if options.quick else (SMALL, LARGE, LONG)
    with tempfile.TemporaryDirectory() as place:
        root = options.keep or Path(place)
        for name, (sessions, events), longest in (("small", small, small[1]), ("large", large, long)):
            os.environ["HOME"] = str(root / name / "person")
            if not (root / name / "home").exists():
                fill(root / name / "home", root / name / "person", sessions, events, longest)
        timings = [asked(root / name / "home", 2 if options.quick else TIMES) for name in ("small", "large")]
        counts = [_count(root / name / "home") for name in ("small", "large")]
    print(json.dumps({"pages": timings, "stores": counts}) if options.json else table(timings[0], timings[1], counts))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
