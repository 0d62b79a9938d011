"""Measure detect: how long it takes for many sessions, and how the cost of 100 new sessions depends on the store.

Sessions are transcripts, ingested before the measurement: each has a failing command, a failing edit, a test loop and a
correction. Every fifth uses words of its own (in real transcripts it is every twentieth), so that the number of
fingerprints grows with the number of sessions. The second figure is the CPU time for 100 new sessions in the largest
store as a ratio to the smallest; the aim is 1.5.

python -m benchmarks.patterns [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engram import Engram

AIM = 1.5
OWN = 5  # one in this many sessions uses words of its own
SIZES, NEW = (1_000, 10_000), 100
QUICK = (60, 240), 20
WORDS = (
    "cart price tax invoice refund till stock order parcel label window button theme token cache queue worker lock "
    "schema column index page route header footer menu icon color font layout logger metric trace span retry limit "
    "budget clock timer zone locale string number decimal rounding currency export import backup archive mirror"
).split()
PROGRAMS = "npm run build,npm run lint,go build,cargo build,make docs,docker compose up,uv sync,terraform plan".split(
    ","
)


def transcript(number: int) -> Iterator[dict[str, Any]]:
    """Yield the records of one session."""
    dice, session = random.Random(number), str(uuid.UUID(int=number))
    program = dice.choice(PROGRAMS)
    words = " ".join(dice.sample(WORDS, 4)) if number % OWN == 0 else "the old price table"
    test = ("go test ./...", "--- FAIL: TestIt\nFAIL", True)
    does: list[tuple[str, Any]] = [("user", f"Change the {words}")]
    does += [("call", ("Bash", {"command": program}, "error: missing target number 7", True))] * 2
    does += [("call", ("Edit", {"file_path": f"/x/{words[:4]}.py", "old_string": "a", "new_string": "b"},
                       "String to replace not found in file.", True))]  # fmt: skip
    for turn in range(3):
        edit = {"file_path": f"/x/{turn}.py", "old_string": f"first line of {turn}", "new_string": f"next of {turn}"}
        does += [("call", ("Edit", edit, "updated", False)), ("call", ("Bash", {"command": test[0]}, test[1], test[2]))]
    does += [("assistant", "Done."), ("user", f"No, use {words} instead."), ("assistant", "Understood.")]
    for place, (kind, content) in enumerate(does):
        yield from _records(session, number, place, kind, content)


def _records(session: str, number: int, place: int, kind: str, content: Any) -> Iterator[dict[str, Any]]:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1_760_000_000 + number * 60 + place))
    common = {"sessionId": session, "timestamp": stamp, "cwd": f"/home/me/p{number % 20}", "version": "2.1.200"}
    if kind != "call":
        blocks = content if kind == "user" else [{"type": "text", "text": content}]
        message = {"role": kind, "content": blocks, "id": f"m{number}-{place}"}
        yield {"type": kind, "uuid": f"{session}-{place}", "message": message, **common}
        return
    name, arguments, output, failed = content
    call = f"t{number}-{place}"
    block = {"type": "tool_use", "id": call, "name": name, "input": arguments}
    result = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": failed}
    spent = {"input_tokens": 10, "output_tokens": 90}
    asked = {"role": "assistant", "id": f"m{call}", "model": "claude-sonnet-4-5", "usage": spent, "content": [block]}
    yield {"type": "assistant", "uuid": f"{session}-{place}", "message": asked, **common}
    answer = {"role": "user", "content": [result]}
    yield {"type": "user", "uuid": f"{session}-{place}r", "message": answer, **common}


def ingest(hub: Engram, home: Path, first: int, last: int) -> None:
    """Write transcripts and ingest them."""
    folder = home / f"projects-{first}"
    folder.mkdir(parents=True)
    for number in range(first, last):
        lines = "".join(json.dumps(record) + "\n" for record in transcript(number))
        (folder / f"{uuid.UUID(int=number)}.jsonl").write_text(lines)
    hub.ingest([str(folder)])


def measured(sizes: tuple[int, ...], new: int) -> list[dict[str, Any]]:
    """Return for each store size the cost of detect, and its cost for some new sessions afterwards."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as home, Engram(Path(home) / "store", embedder="static") as hub:
        done = 0
        for size in sizes:
            ingest(hub, Path(home), done, size)
            seconds, cpu, candidates = _detected(hub, size - done)
            ingest(hub, Path(home), size, size + new)
            _, more, _ = _detected(hub, new)
            rows.append({
                "stored": size, "looked": size - done, "seconds": seconds, "cpu": cpu, "candidates": candidates,
                "new": new, "new_cpu": more,
            })  # fmt: skip
            done = size + new
    return rows


def _detected(hub: Engram, wanted: int) -> tuple[float, float, int]:
    began, worked = time.perf_counter(), time.process_time()
    done = hub.detect()
    took = time.perf_counter() - began, time.process_time() - worked
    assert done.sessions == wanted, (done.sessions, wanted)
    assert not done.failed, done.failed
    return *took, len(done.candidates) + done.more


def table(rows: list[dict[str, Any]]) -> str:
    """Format the figures and the ratio as a table."""
    lines = [f"{'stored':>8}  {'scanned':>14}  {'seconds':>8}  {'ms each':>8}  {'new, ms':>12}"]
    for row in rows:
        mean, new = 1000 * row["cpu"] / row["looked"], 1000 * row["new_cpu"]
        lines.append(f"{row['stored']:>8,}  {row['looked']:>14,}  {row['seconds']:>8.2f}  {mean:>8.2f}  {new:>12.0f}")
    ratio = rows[-1]["new_cpu"] / rows[0]["new_cpu"]
    sizes = f"{rows[-1]['stored']:,} compared with {rows[0]['stored']:,}"
    return "\n".join([*lines, "", f"{rows[0]['new']} new sessions among {sizes}: {ratio:.2f}; aim: at most {AIM}."])


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.patterns", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few sessions, to check that it runs")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(words)
    rows = measured(*(QUICK if options.quick else (SIZES, NEW)))
    print(json.dumps(rows) if options.json else table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
