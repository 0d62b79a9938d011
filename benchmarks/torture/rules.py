"""What must be true of a store whose sweeper was killed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.torture.home import Home
from benchmarks.torture.sweeper import held
from engram import Engram

_BODIES = """
select b.num, b.capture, b.raw_bytes, b.evicting_at, b.evicted_at, b.lost, c.session_id, s.native_id
  from blobs b join captures c on c.num = b.capture join sessions s on s.id = c.session_id order by b.num
"""

_ROWS = "select blob, count(*) as count, min(length) as shortest, max(length) as longest from events group by blob"


def at_rest(engram: Engram, home: Home, acknowledged: dict[str, int]) -> Iterator[str]:
    """Yield what is wrong with a store nobody works on."""
    found = engram.check()
    yield from (f"check: {problem}" for problem in found.problems)
    now = held(engram)
    for name, count in acknowledged.items():
        if now.get(name, 0) < count:
            yield f"{count} events of {name} were acknowledged, {now.get(name, 0)} are held"
    yield from (f"{now[name]} events of {name} are held, {home.written[name]} were written" for name in now
                if now[name] > home.written[name])  # fmt: skip
    yield from _bodies(engram, home, now)


def _bodies(engram: Engram, home: Home, now: dict[str, int]) -> Iterator[str]:
    """Hold the bodies of each session, dropped ones too, against its transcript: they follow each other in it."""
    rows = {row["blob"]: row for row in engram.engine.run(_ROWS)}
    lengths = {row[side] for row in rows.values() for side in ("shortest", "longest")}
    if len(lengths) > 1:
        yield f"events differ in length: {sorted(lengths)}"
    length = max(lengths, default=1)
    bodies: dict[str, list[dict[str, Any]]] = {name: [] for name in now}
    for row in engram.engine.run(_BODIES):
        bodies[row["native_id"]].append(row)
        if row["lost"]:
            yield f"body {row['num']} of {row['native_id']} was lost"
        if rows and row["raw_bytes"] % length:
            yield f"body {row['num']} holds no whole number of events"
    for name, found in bodies.items():
        yield from _session(engram, home, name, [(row, row["raw_bytes"] // length) for row in found], rows)
        if rows and sum(row["raw_bytes"] // length for row in found) != now[name]:
            yield f"the bodies of {name} do not make up its {now[name]} events"


def _session(
    engram: Engram, home: Home, name: str, found: list[tuple[dict[str, Any], int]], rows: dict[int, dict[str, Any]]
) -> Iterator[str]:
    """Yield what is wrong with the events of a session: each body not dropped tells its stretch of the transcript."""
    expected, first = [], 0
    for row, count in found:
        here = rows.get(row["num"], {"count": 0})["count"]
        if row["evicting_at"] is None:
            expected += [home.said(name, number) for number in range(first, first + count)]
        if here != count:
            yield f"body {row['num']} of {name} has {here} of its {count} events"
        first += count
    if expected and all((row["evicting_at"] is None) == (row["evicted_at"] is None) for row, _ in found):
        events = engram.get_events(found[0][0]["session_id"], limit=1_000_000)
        told = [event.text for event in events if not (event.data or {}).get("evicted")]
        if told != expected:
            yield f"{name} tells {len(told)} events, {len(expected)} expected, or others"


def after_sweep(engram: Engram, home: Home) -> Iterator[str]:
    """Sweep, and yield what is wrong: exactly what was missing must come, and be digested once."""
    missing = sum(home.written.values()) - sum(held(engram).values())
    found = engram.ingest()
    if found.failures or found.damaged:
        yield f"the sweep failed: {found.failures}, {found.damaged} bytes damaged"
    if found.events != missing:
        yield f"{missing} events were missing, the sweep took in {found.events}"
    if held(engram) != {name: count for name, count in home.written.items() if count}:
        yield "after a sweep the store does not hold what the transcripts say"
    if found.retention is None or found.retention.final_usage > engram.settings.raw_soft_cap_bytes:
        yield f"over budget after a sweep: {found.retention}"
    for capture in engram.list_sessions(limit=1_000_000):
        prompts = engram.get_digest(capture.session.id).facts.get("prompts")
        if prompts != capture.events:
            yield f"the digest of {capture.session.native_id} knows {prompts} of {capture.events} events"
