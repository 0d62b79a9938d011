"""Settle which patterns there are: by fingerprint, by meaning, with what their signals come to."""

from __future__ import annotations

from typing import Any

from engram import plain_json
from engram.hub import Hub
from engram.patterns import cluster, wording
from engram.patterns.fingerprint import pattern_id
from engram.store import patterns, signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row


def heal(hub: Hub) -> None:
    """Count everything again where sessions were deleted: their signals went with them, and patterns were not told."""
    settle(hub)
    if patterns.counted(hub.engine) != signals.count(hub.engine):
        patterns.touch_all(hub.engine)
        settle(hub)


def settle(hub: Hub) -> set[str]:
    """Settle everything that changed since the last time, in one transaction; return the patterns it touched."""
    with hub.engine.transaction():
        patterns.hold(hub.engine)
        changed = patterns.changed(hub.engine)
        if not changed:
            return set()
        touched = {row["pattern"] for row in changed}
        gone = {(row["kind"], row["fingerprint"]) for row in patterns.without_signals(hub.engine)}
        for kind in sorted({row["kind"] for row in changed} & set(cluster.BY_MEANING)):
            touched |= _by_meaning(hub, kind, {fp for k, fp in gone if k == kind})
        _drop(hub, changed, gone)
        _count(hub, touched)
        patterns.settled(hub.engine)
    return touched


def _by_meaning(hub: Hub, kind: str, gone: set[str]) -> set[str]:
    """Settle the new fingerprints of a kind, and what they change for others; return the patterns it touched."""
    rows, decided = patterns.vectors(hub.engine, kind), patterns.decided(hub.engine, kind)
    members = [_member(row, decided) for row in rows if row["vector"] is not None]
    placed = cluster.Field(kind, members, decided).settled(gone)
    before = {row["fingerprint"]: row["pattern"] for row in rows if row["fingerprint"] in placed}
    patterns.assign(hub.engine, kind, placed)
    return {*placed.values(), *before.values()}


def _member(row: Row, decided: set[str]) -> cluster.Member:
    held = row["pattern"] in decided
    place = "" if row["changed"] == patterns.NEW and not held else row["pattern"]
    return cluster.Member(row["fingerprint"], bytes(row["vector"]), place, held)


def _drop(hub: Hub, changed: list[Row], gone: set[tuple[str, str]]) -> None:
    """Forget fingerprints without signals; those of a decided pattern stay, so that it is known when it comes back."""
    lost = [row for row in changed if (row["kind"], row["fingerprint"]) in gone]
    decided = {kind: patterns.decided(hub.engine, kind) for kind in {row["kind"] for row in lost}}
    patterns.drop_fingerprints(hub.engine, [row for row in lost if row["pattern"] not in decided[row["kind"]]])


def _count(hub: Hub, touched: set[str]) -> None:
    """Write what the touched patterns come to; those nothing belongs to any more go, or lead to where it went."""
    counts = patterns.counts(hub.engine, sorted(touched))
    told = signals.newest(hub.engine, {each: row["signals"] for each, row in counts.items()})
    patterns.put(hub.engine, [_row(each, counts[each], told[each]) for each in sorted(counts)])
    known = patterns.by_id(hub.engine, sorted(touched - set(counts)))
    heirs = patterns.places_of(hub.engine, [(row["kind"], row["seed"]) for row in known.values()])
    for each, row in sorted(known.items()):
        heir = heirs.get((row["kind"], row["seed"]))
        if heir and heir != each:
            patterns.move(hub.engine, each, heir)
    patterns.empty(hub.engine, [each for each, row in known.items() if not heirs.get((row["kind"], row["seed"]))])


def _row(pattern: str, counts: Row, told: list[Row]) -> dict[str, Any]:
    """Return a pattern as its signals tell it; the newest one of its seed speaks for it."""
    speaker = wording.speaker(pattern, told)
    seed = next(
        (row["fingerprint"] for row in told if pattern_id(row["kind"], row["fingerprint"]) == pattern),
        speaker["fingerprint"],
    )
    title = wording.title(speaker, told)
    rule, fix = wording.rule(speaker, title)
    lists = {name: plain_json.dumps(sorted(counts[name])) for name in ("flavors", "projects")}
    return {
        **counts, **lists, "id": pattern, "kind": speaker["kind"], "seed": seed, "title": title,
        "proposed": rule, "proposed_fix": fix, "proposed_by": "template",
        "confidence": wording.confidence(speaker["kind"], counts["sessions"], any(row["fix"] for row in told)),
    }  # fmt: skip
