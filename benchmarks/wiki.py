"""Measure what one more log costs to compile against the size of the vault: CPU time, files written, tokens of a model.

Vaults of 10 to 10,000 articles get the same logs, each compiled by a hub that was just opened. Figures are ratios to
the smallest vault; the aim is that none is above 1.2.

python -m benchmarks.wiki [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from engram import Engram
from engram.compiler import pages, record
from engram.compiler.catalogue import WAITING
from engram.compiler.compile import compile_logs
from engram.compiler.topics import FILE, Topic
from engram.index.index import bring_up_to_date
from engram.vault import findable, index, state
from engram.vault.merge import Known, merge
from engram.vault.vault import Vault, of

AIM = 1.2
SIZES, LOGS = (10, 100, 1_000, 10_000), 7
QUICK = (10, 100), 2
WORDS = "cart price tax invoice refund till stock order parcel label".split()  # as many as the smallest vault has pages
ENTRIES = 6  # of a log


def entry(log: int, number: int) -> str:
    """Return an entry that touches the pages every vault has, and names a file that is new."""
    one, two = WORDS[(log + number) % len(WORDS)], WORDS[(log * 3 + number) % len(WORDS)]
    comment = f'entry="n{log}x{number}" session="s" flavor="claude" project="/home/ada/shop"'
    changed = (f"src/{one}/part0.py", f"src/{two}/part0.py", f"new/{log}/{number}.py")
    return "\n\n".join((
        f"### Session (1{number}:00) claude in shop\n<!-- engram {comment} -->",
        f"**Goal:** make the {one} agree with the {two}, step {log}.{number}",
        f"**Decided:**\n- We keep each {one} beside its {two} because both were lost in case {log}.{number}.",
        "\n".join(["**Changed:**", *(f"- `{path}`" for path in changed)]),
        f"**Failed:**\n- KeyError: '{one}' is missing [pytest -q] → changed part0.py",
        f"**Tests:** {log + 3} passed", f"**Open:**\n- Who tells the {two}?",
    ))  # fmt: skip


def evidence(number: int, times: int) -> Iterator[dict[str, Any]]:
    for each in range(times):
        day = f"2025-{1 + each % 12:02}-{1 + number % 28:02}"
        yield {
            "entry": f"o{number}x{each}", "day": day, "at": "09:00", "link": f"daily/{day}#S", "flavor": "claude",
            "goal": f"work on the {WORDS[number % len(WORDS)]} number {number}, time {each}", "in": "shop",
            "root": "/home/ada/shop", "said": [f"The {WORDS[each % len(WORDS)]} of {number} was wrong."],
        }  # fmt: skip


def topic(number: int) -> Topic:
    """Return one of the topics of the shop; the first ones are those the logs touch."""
    word, part = WORDS[number % len(WORDS)], number // len(WORDS)
    path = f"src/{word}/part{part}.py"
    return Topic(kind=FILE, key=f"file /home/ada/shop {path}", title=path, project="shop")


def filled(hub: Engram, size: int) -> None:
    """Make a vault of so many articles, each searchable and known as ours; as many topics wait as ever can."""
    vault = of(hub)
    rows: dict[str, str] = {}
    for number in range(size):
        known = {**record.new(topic(number)), "epoch": 0, "target": f"concepts/{topic(number).name}"}
        for each in evidence(number, 4):
            record.add(known, each)
        rows[known["target"]] = _put(vault, known)
    (Path(vault.root) / "index.md").write_text(index.with_rows(None, rows))
    waiting = {}
    for number in range(3_000):
        held = record.new(Topic(kind=FILE, key=f"file /x {number}", title=f"w{number}.py", project="x"))
        for each in evidence(number, 2):
            record.add(held, each)
        waiting[held["key"]] = {**held, "epoch": 0}
    state.write(vault, WAITING, {"epoch": 0, "topics": waiting})
    findable.refresh(hub, vault)
    bring_up_to_date(hub)


def _put(vault: Vault, known: dict[str, Any]) -> str:
    made = pages.page(known)
    wrote = merge(made.text, None, Known.nothing()).known
    facts = {**known, "made_by": pages.RULES, "sections": wrote.sections, "front": wrote.front, "summary": made.summary}
    for path, text in (
        (Path(vault.root, f"{known['target']}.md"), made.text),
        (Path(vault.own, state.page_file(known["target"])), json.dumps(facts)),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return index.row(known["target"], made.summary, made.sources, known["last"])


def measured(size: int, logs: int) -> dict[str, Any]:
    """Return the medians over some logs, with and without a model."""
    with tempfile.TemporaryDirectory() as home, _speaking() as (url, asked):
        os.environ["BENCH_KEY"] = "none"
        with Engram(home, embedder="static") as hub:
            filled(hub, size)
        modes: dict[str, dict[str, Any]] = {
            "rules": {},
            "model": {"model": "openai", "model_url": url, "model_key_variable": "BENCH_KEY", "model_name": "m"},
        }
        found: dict[str, list[tuple[float, int, int]]] = {mode: [] for mode in modes}
        for number in range(2 * (logs + 1)):
            mode = ("rules", "model")[number % 2]
            with Engram(home, embedder="static", **modes[mode]) as hub:
                figures = _compiled(hub, f"2026-01-{1 + number:02}", number, asked)
            if number > 1:  # the first of each loads modules
                found[mode].append(figures)
    medians = {mode: [statistics.median(each) for each in zip(*rows, strict=True)] for mode, rows in found.items()}
    return {
        "articles": size, "cpu": medians["rules"][0], "files": medians["rules"][1], "cpu_model": medians["model"][0],
        "files_model": medians["model"][1], "tokens": medians["model"][2],
    }  # fmt: skip


def _compiled(hub: Engram, day: str, number: int, asked: list[int]) -> tuple[float, int, int]:
    vault = of(hub)
    path = Path(vault.root, "daily", f"{day}.md")
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        "# Daily Log\n\n## Sessions\n\n" + "\n\n".join(entry(number, each) for each in range(ENTRIES)) + "\n"
    )
    before = _stamps(vault)
    asked.clear()
    began = time.process_time()
    done = compile_logs(hub)
    took = time.process_time() - began
    assert done.logs == (day,), done
    return took, sum(stamp != before.get(name) for name, stamp in _stamps(vault).items()), sum(asked)


def _stamps(vault: Vault) -> dict[str, int]:
    return {
        os.path.join(place, name): os.stat(os.path.join(place, name)).st_mtime_ns
        for place, _, names in os.walk(vault.root) for name in names
    }  # fmt: skip


@contextmanager
def _speaking() -> Iterator[tuple[str, list[int]]]:
    """Serve a model that always has one article to add, and count the tokens it is asked with."""
    asked: list[int] = []
    article = {
        "action": "create", "page": "", "folder": "concepts", "title": "How it is kept", "aliases": [], "tags": [],
        "summary": "It is kept.", "links": [], "entry_ids": [f"n{log}x0" for log in range(40)],
        "sections": [{"heading": "Details", "body": "So it is."}],
    }  # fmt: skip
    choice = {"index": 0, "message": {"role": "assistant", "content": json.dumps({"articles": [article]})}}
    reply = json.dumps({"model": "m", "choices": [{**choice, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1}})

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(len(self.rfile.read(int(self.headers["content-length"]))) // 4)
            self.send_response(200)
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", asked
    server.shutdown()


def table(rows: list[dict[str, Any]]) -> str:
    """Return the figures as ratios to the smallest vault."""
    names = {
        "cpu": "CPU",
        "files": "files",
        "cpu_model": "CPU, model",
        "files_model": "files, model",
        "tokens": "tokens",
    }
    lines = [f"{'articles':>9}  " + "  ".join(f"{name:>12}" for name in names.values())]
    for row in rows:
        ratios = (f"{row[each] / rows[0][each]:12.2f}" for each in names)
        lines.append(f"{row['articles']:>9,}  " + "  ".join(ratios))
    base = rows[0]
    told = f"{base['cpu'] * 1000:.0f} ms of CPU, {base['files']:.0f} files; with a model {base['tokens']:,.0f} tokens"
    return "\n".join([f"One log of {ENTRIES} entries, against a vault of {base['articles']}: {told}", "", *lines, "",
                      f"Ratios; aim: at most {AIM}."])  # fmt: skip


def main() -> int:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two small vaults")
    parser.add_argument("--json", action="store_true", help="for programs")
    given = parser.parse_args()
    sizes, logs = QUICK if given.quick else (SIZES, LOGS)
    rows = [measured(size, logs) for size in sizes]
    print(json.dumps(rows) if given.json else table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
