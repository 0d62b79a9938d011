"""Measure what each page of the dashboard takes on a large store against a small one, on the server.

Both stores are filled through the product's own doors: transcripts are taken in, flushed, summarized and compiled. One
session of the large store has 50,000 events. Each page is asked for several times in one process, without a browser:
the first answer, the median, and the median as a ratio to the small store. What a page fetches after it is there is
listed under it. The aim is that the first paint of no page takes more than 300 ms.

python -m benchmarks.dashboard [--quick] [--json] [--keep DIRECTORY]   a kept store is used again
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
SMALL, LARGE, LONG = (10, 100), (1_000, 950), 50_000  # sessions, events of each; events of one long session
QUICK_SMALL, QUICK_LARGE, QUICK_LONG = (4, 20), (12, 40), 200
TIMES = 7
PROJECTS = [f"/home/mara/{name}" for name in ("harbour", "lighthouse", "ferry", "pier", "buoy", "tide")]
WORDS = "cart price tax invoice refund till stock order parcel label basket voucher receipt ledger courier".split()
_AFTERWARDS = re.compile(r'hx-get="([^"]+)"[^>]*hx-trigger="load')


def write(person: Path, number: int, events: int) -> None:
    """Write a session of so many events: prompts, answers, commands that work and fail, edits."""
    flavor = (Claude, Codex, Gemini)[number % 3] if events < LONG else Claude
    work: Any = flavor(person, f"s{number}", PROJECTS[number % len(PROJECTS)], START - timedelta(hours=9 * number))
    for turn in range(max(1, events // 10)):
        first, second = (WORDS[(number * 7 + turn * each) % len(WORDS)] for each in (3, 5))
        work.says(f"The {first} of the {second} is wrong since yesterday, case {number}-{turn}. Find out why.")
        work.runs(f"pytest tests/test_{first}.py", f"FAILED test_{second} - KeyError: '{first}'", 1)
        work.edits(f"src/{first}.py", f"return {second}", f"return {second} or 0")
        work.runs(f"uv run pytest tests/test_{first}.py", "12 passed in 0.3s")
        work.runs("git status", " M src/price.py\n" * (turn % 5))
        work.answers(f"It was the **{second}** that nobody had counted. Decided: {first} before {second}.", 2_000)


def fill(home: Path, person: Path, sessions: int, events: int, long: int) -> None:
    """Let a store live through so many sessions."""
    for number in range(sessions - 1):
        write(person, number, events)
    write(person, sessions, long)
    with Engram(home, embedder="static") as engram:
        engram.ingest([str(person)])
        engram.dream(force=True, budget="60m")


def pages(engram: Engram) -> dict[str, str]:
    """Return every page, and one of each kind that is asked for by name; the longest session is asked in its middle."""
    longest = max(engram.list_sessions(limit=2_000), key=lambda each: each.events)
    middle = engram.get_events(longest.session.id, limit=1, after=longest.events // 2)[0]
    article = next(each.target for each in engram.list_pages().pages if not each.target.startswith("daily/"))
    pattern = engram.list_patterns(limit=1, min_frequency=1)
    found = {
        "Now": "/now", "Sessions": "/sessions", "by cost": "/sessions?min_cost=0.01",
        "the longest": f"/sessions/{longest.session.id}",
        "its middle": f"/sessions/{longest.session.id}?at=e{middle.id}",
        "a stretch": f"/sessions/{longest.session.id}/stretch/{longest.events // 200}",
        "Search": "/search", "a query": "/search?q=why+is+the+invoice+wrong", "a name": "/search?q=test_voucher.py",
        "Wiki": "/wiki", "an article": f"/wiki/{quote(article)}", "Graph": "/wiki/graph", "Timeline": "/timeline",
        "Patterns": "/patterns", "Health": "/health",
    }  # fmt: skip
    return found | ({"a dossier": f"/patterns/{pattern[0].id}"} if pattern else {})


def asked(home: Path, times: int) -> dict[str, dict[str, Any]]:
    """Return what each page takes, in milliseconds, with what it fetches afterwards."""
    with Engram(home, embedder="static", serving=True) as engram:
        looker, found = Looker(engram), {}
        looker.page("/sessions")  # modules and templates are loaded once per server
        for name, path in pages(engram).items():
            found[name] = _timed(looker, path, times)
            after = dict.fromkeys(map(html.unescape, _AFTERWARDS.findall(looker.page(path))))
            found[name]["after"] = {each: _timed(looker, each, 2, part=True) for each in after}
        return found


def _timed(looker: Looker, path: str, times: int, part: bool = False) -> dict[str, Any]:
    taken, size = [], 0
    for _ in range(times):
        began = time.perf_counter()
        size = len(looker.page(path, part))
        taken.append((time.perf_counter() - began) * 1000)
    return {"path": path, "first": taken[0], "median": statistics.median(taken), "size": size}


def table(small: dict[str, Any], large: dict[str, Any], counts: list[str]) -> str:
    """Return both stores side by side."""
    lines = [f"{'page':<14} {'first':>8} {'median':>8} {'ratio':>7} {'size':>9}   {counts[1]} against {counts[0]}"]
    for name, row in large.items():
        ratio = f"{row['median'] / small[name]['median']:.2f}" if name in small else ""
        lines.append(
            f"{name:<14} {row['first']:>5.0f} ms {row['median']:>5.0f} ms {ratio:>7} {row['size'] / 1000:>6.0f} KB"
        )
        lines += [f"  then {path}: {each['first']:.0f} ms" for path, each in row["after"].items()]
    worst = max(large.values(), key=lambda row: row["first"])
    return "\n".join(
        [*lines, "", f"The slowest first answer: {worst['path']}, {worst['first']:.0f} ms; aim: {AIM} ms."]
    )


def _count(home: Path) -> str:
    with Engram(home, embedder="static") as engram:
        found = engram.list_sessions(limit=10_000, subagents=True)
    return f"{len(found):,} sessions / {sum(each.events for each in found):,} events"


def main(words: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small stores: does it run at all")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", type=Path, help="where the stores lie and stay")
    given = parser.parse_args(words)
    small, large, long = (QUICK_SMALL, QUICK_LARGE, QUICK_LONG) if given.quick else (SMALL, LARGE, LONG)
    with tempfile.TemporaryDirectory() as place:
        root = given.keep or Path(place)
        for name, (sessions, events), longest in (("small", small, small[1]), ("large", large, long)):
            os.environ["HOME"] = str(root / name / "person")
            if not (root / name / "home").exists():
                fill(root / name / "home", root / name / "person", sessions, events, longest)
        found = [asked(root / name / "home", 2 if given.quick else TIMES) for name in ("small", "large")]
        counts = [_count(root / name / "home") for name in ("small", "large")]
    print(json.dumps({"pages": found, "stores": counts}) if given.json else table(found[0], found[1], counts))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
