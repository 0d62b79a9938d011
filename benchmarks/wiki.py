"""Measure how the cost of compiling depends on the size of the vault: CPU time, files written, model tokens.

Vaults of 10 to 10,000 articles get the same sessions and logs, each compiled by a newly opened hub. Figures are ratios
to the smallest vault; none should be above 1.2.

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
from engram.index.maintenance import update_index
from engram.wiki.compiler.compile import compile_logs
from engram.wiki.project_pages.page_draft import RULES
from engram.wiki.vault import article_passages, index_page, state
from engram.wiki.vault.merge import LastWrite, merge
from engram.wiki.vault.vault import Vault, open_vault

AIM = 1.2
SIZES, LOGS = (10, 100, 1_000, 10_000), 7
QUICK = (10, 100), 2
WORDS = "cart price tax invoice refund till stock order parcel label".split()  # one per page of the smallest vault
ENTRIES = 6  # per log
SHOP = "/home/ada/shop"


def entry(log: int, number: int) -> str:
    """Return an entry that concerns pages of every vault and names a new file."""
    first, second = WORDS[(log + number) % len(WORDS)], WORDS[(log * 3 + number) % len(WORDS)]
    comment = f'entry="n{log}x{number}" session="s" flavor="claude" project="/home/ada/shop"'
    changed = (f"src/{first}/part0.py", f"src/{second}/part0.py", f"new/{log}/{number}.py")
    return "\n\n".join((
        f"### Session (1{number}:00) claude in shop\n<!-- engram {comment} -->",
        f"**Goal:** make the {first} agree with the {second}, step {log}.{number}",
        f"**Decided:**\n- We keep each {first} beside its {second} because both were lost in case {log}.{number}.",
        "\n".join(["**Changed:**", *(f"- `{path}`" for path in changed)]),
        f"**Failed:**\n- KeyError: '{first}' is missing [pytest -q] → changed part0.py",
        f"**Tests:** {log + 3} passed", f"**Open:**\n- Who tells the {second}?",
    ))  # fmt: skip


def transcript(number: int) -> str:
    """Return a session of the shop that fails, passes, decides and changes files."""
    first, second = WORDS[number % len(WORDS)], WORDS[(number * 3 + 1) % len(WORDS)]
    day, session = f"2026-01-{1 + number:02}", f"00000000-0000-4000-8000-{number:012}"
    rule = f"Change the {first}. The {first} must always name the {second} in case {number}, never a float."
    turns: list[tuple[str, Any]] = [("user", rule)]
    for name, given, output in (
        ("Bash", {"command": "go test ./..."}, "pattern ./...: directory prefix . does not contain main module"),
        ("Bash", {"command": "cd backend && go test ./..."}, "ok  \tshop/prices\t0.2s"),
        ("Edit", {"file_path": f"{SHOP}/src/{first}/part0.py", "old_string": "a", "new_string": f"b{number}"}, "done"),
    ):
        call = f"toolu_{number}_{len(turns)}"
        turns.append(("assistant", [{"type": "tool_use", "id": call, "name": name, "input": given}]))
        turns.append(("user", [{"type": "tool_result", "tool_use_id": call, "content": output,
                                "is_error": "pattern" in output}]))  # fmt: skip
    records = (
        {"type": role, "uuid": f"{session[:-4]}{place:04}", "timestamp": f"{day}T09:{place:02}:00Z",
         "sessionId": session, "cwd": SHOP, "version": "2.1.200",
         "message": {"role": role, "model": "claude-sonnet-4-5", "id": f"m{number}x{place}", "content": content}}
        for place, (role, content) in enumerate(turns)
    )  # fmt: skip
    return "".join(f"{json.dumps(record)}\n" for record in records)


def filled(hub: Engram, size: int) -> None:
    """Create a vault of `size` articles of other projects with their records and index."""
    vault = open_vault(hub)
    rows: dict[str, str] = {}
    for number in range(size):
        target = f"concepts/barn-{WORDS[number % len(WORDS)]}-{number}"
        rows[target] = _put(vault, target, number)
    (Path(vault.root) / "index.md").write_text(index_page.update_rows(None, rows))
    state.write_file(vault, state.STATE, {**state.load_state(vault), "rules": RULES, "rules_epoch": 0})
    article_passages.refresh_articles(hub, vault)
    update_index(hub)


def _put(vault: Vault, target: str, number: int) -> str:
    word, day = WORDS[number % len(WORDS)], f"2025-01-{1 + number % 28:02}"
    text = f"# The {word} of barn {number}\n\nA part of the barn.\n\n## Decisions\n\n- The {word} was wrong.\n"
    wrote = merge(text, None, LastWrite.empty()).known
    facts = {
        "kind": "subsystem", "key": f"subsystem {number}", "project": "/home/ada/barn", "made_by": RULES,
        "sections": wrote.sections, "front": wrote.front, "summary": f"A part, {word}", "last": day,
    }  # fmt: skip
    for path, content in (
        (Path(vault.root, f"{target}.md"), text),
        (Path(vault.own_dir, state.page_record_path(target)), json.dumps(facts)),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return index_page.format_row(target, f"A part, {word}", [f"daily/{day}"], day)


def measured(size: int, logs: int) -> dict[str, Any]:
    """Return the median costs of some logs, with and without a model."""
    with tempfile.TemporaryDirectory() as home, _speaking() as (url, asked):
        os.environ["BENCH_KEY"] = "none"
        with Engram(home, embedder="static") as hub:
            filled(hub, size)
        modes: dict[str, dict[str, Any]] = {
            "rules": {},
            "model": {"model": "openai", "model_url": url, "model_key_variable": "BENCH_KEY", "model_name": "m"},
        }
        costs: dict[str, list[tuple[float, int, int]]] = {mode: [] for mode in modes}
        for number in range(2 * (logs + 1)):
            mode = ("rules", "model")[number % 2]
            with Engram(home, embedder="static", **modes[mode]) as hub:
                figures = _compiled(hub, f"2026-01-{1 + number:02}", number, asked)
            if number > 1:  # the first of each mode loads modules
                costs[mode].append(figures)
    medians = {mode: [statistics.median(column) for column in zip(*rows, strict=True)] for mode, rows in costs.items()}
    return {
        "articles": size, "cpu": medians["rules"][0], "files": medians["rules"][1], "cpu_model": medians["model"][0],
        "files_model": medians["model"][1], "tokens": medians["model"][2],
    }  # fmt: skip


def _compiled(hub: Engram, day: str, number: int, asked: list[int]) -> tuple[float, int, int]:
    vault = open_vault(hub)
    path = Path(vault.root, "daily", f"{day}.md")
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        "# Daily Log\n\n## Sessions\n\n" + "\n\n".join(entry(number, position) for position in range(ENTRIES)) + "\n"
    )
    folder = Path(vault.root).parent / "transcripts" / ".claude" / "projects" / "-home-ada-shop"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"00000000-0000-4000-8000-{number:012}.jsonl").write_text(transcript(number))
    hub.ingest([str(folder.parents[1])])
    before = _stamps(vault)
    asked.clear()
    began = time.process_time()
    done = compile_logs(hub, is_requested=True)
    took = time.process_time() - began
    assert done.logs == (day,), done
    assert done.projects, done
    return took, sum(stamp != before.get(name) for name, stamp in _stamps(vault).items()), sum(asked)


def _stamps(vault: Vault) -> dict[str, int]:
    return {
        os.path.join(place, name): os.stat(os.path.join(place, name)).st_mtime_ns
        for place, _, names in os.walk(vault.root) for name in names
    }  # fmt: skip


@contextmanager
def _speaking() -> Iterator[tuple[str, list[int]]]:
    """Serve a model that always adds one article, and count the tokens of the prompts."""
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
    """Format the figures as ratios to the smallest vault."""
    names = {
        "cpu": "CPU",
        "files": "files",
        "cpu_model": "CPU, model",
        "files_model": "files, model",
        "tokens": "tokens",
    }
    lines = [f"{'articles':>9}  " + "  ".join(f"{name:>12}" for name in names.values())]
    for row in rows:
        ratios = (f"{row[name] / rows[0][name]:12.2f}" for name in names)
        lines.append(f"{row['articles']:>9,}  " + "  ".join(ratios))
    base = rows[0]
    costs = f"{base['cpu'] * 1000:.0f} ms of CPU, {base['files']:.0f} files; with a model {base['tokens']:,.0f} tokens"
    return "\n".join([f"One log of {ENTRIES} entries in a vault of {base['articles']}: {costs}", "", *lines, "",
                      f"Ratios; aim: at most {AIM}."])  # fmt: skip


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two small vaults")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    sizes, logs = QUICK if options.quick else (SIZES, LOGS)
    rows = [measured(size, logs) for size in sizes]
    print(json.dumps(rows) if options.json else table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
