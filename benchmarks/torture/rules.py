"""What must be true of a store after its sweeper was killed."""

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
    """Yield the problems of a store that no process uses."""
    yield from (f"check: {problem}" for problem in engram.check().problems)
    now = held(engram)
    for name, count in acknowledged.items():
        if now.get(name, 0) < count:
            yield f"{count} events of {name} were acknowledged, {now.get(name, 0)} are stored"
    yield from (f"{now[name]} events of {name} are stored, {home.written[name]} were written" for name in now
                if now[name] > home.written[name])  # fmt: skip
    yield from _bodies(engram, home, now)


def _bodies(engram: Engram, home: Home, now: dict[str, int]) -> Iterator[str]:
    """Compare the bodies of each session, including evicted ones, with its transcript."""
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
            yield f"body {row['num']} does not contain a whole number of events"
    for name, own_bodies in bodies.items():
        yield from _session(engram, home, name, [(row, row["raw_bytes"] // length) for row in own_bodies], rows)
        if rows and sum(row["raw_bytes"] // length for row in own_bodies) != now[name]:
            yield f"the bodies of {name} do not add up to its {now[name]} events"


def _session(
    engram: Engram, home: Home, name: str, bodies: list[tuple[dict[str, Any], int]], rows: dict[int, dict[str, Any]]
) -> Iterator[str]:
    """Yield the problems of a session: each body that was not evicted must match its part of the transcript."""
    expected, first = [], 0
    for row, count in bodies:
        here = rows.get(row["num"], {"count": 0})["count"]
        if row["evicting_at"] is None:
            expected += [home.message(name, number) for number in range(first, first + count)]
        if here != count:
            yield f"body {row['num']} of {name} has {here} of its {count} events"
        first += count
    if expected and all((row["evicting_at"] is None) == (row["evicted_at"] is None) for row, _ in bodies):
        events = engram.get_events(bodies[0][0]["session_id"], limit=1_000_000)
        texts = [event.text for event in events if not (event.data or {}).get("evicted")]
        if texts != expected:
            yield f"{name} has {len(texts)} events, which differ from the {len(expected)} expected ones"


def after_sweep(engram: Engram, home: Home) -> Iterator[str]:
    """Sweep and yield the problems: exactly the missing events must be ingested and digested once."""
    missing = sum(home.written.values()) - sum(held(engram).values())
    result = engram.ingest()
    if result.failures or result.damaged:
        yield f"the sweep failed: {result.failures}, {result.damaged} bytes damaged"
    if result.events != missing:
        yield f"{missing} events were missing, but the sweep ingested {result.events}"
    if held(engram) != {name: count for name, count in home.written.items() if count}:
        yield "after a sweep the store differs from the transcripts"
    if result.retention is None or result.retention.final_usage > engram.settings.raw_soft_cap_bytes:
        yield f"over budget after a sweep: {result.retention}"
    for capture in engram.list_sessions(limit=1_000_000):
        prompts = engram.get_digest(capture.session.id).facts.get("prompts")
        if prompts != capture.events:
            yield f"the digest of {capture.session.native_id} has {prompts} of {capture.events} events"
