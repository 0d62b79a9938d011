"""Assign fingerprints to patterns, by text or meaning, and update the counts of patterns."""

from __future__ import annotations

from typing import Any

from engram.hub import Hub
from engram.patterns import cluster, wording
from engram.patterns.fingerprint import pattern_id
from engram.patterns.fix_wording import find_seed
from engram.platform import plain_json
from engram.store import patterns, signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row


def repair_counts(hub: Hub) -> None:
    """Recount all patterns after sessions were deleted: their signals are gone, but the counts are stale."""
    update_patterns(hub)
    if patterns.sum_signals(hub.engine) != signals.count(hub.engine):
        patterns.mark_all_changed(hub.engine)
        update_patterns(hub)


def update_patterns(hub: Hub) -> set[str]:
    """Process all changes since the last call in one transaction; return the patterns touched."""
    with hub.engine.transaction():
        patterns.lock_patterns(hub.engine)
        changed = patterns.list_changed_fingerprints(hub.engine)
        if not changed:
            return set()
        touched = {row["pattern"] for row in changed}
        gone = {(row["kind"], row["fingerprint"]) for row in patterns.list_orphan_fingerprints(hub.engine)}
        for kind in sorted({row["kind"] for row in changed} & set(cluster.BY_MEANING)):
            touched |= _cluster_by_meaning(hub, kind, {fp for k, fp in gone if k == kind})
        _drop_fingerprints(hub, changed, gone)
        _update_counts(hub, touched)
        patterns.mark_all_counted(hub.engine)
    return touched


def _cluster_by_meaning(hub: Hub, kind: str, gone: set[str]) -> set[str]:
    """Assign the new fingerprints of a kind, and reassign others they affect; return the patterns touched."""
    rows, decided = patterns.list_vectors(hub.engine, kind), patterns.list_decided(hub.engine, kind)
    members = [_build_member(row, decided) for row in rows if row["vector"] is not None]
    pattern_by_fingerprint = cluster.FingerprintField(kind, members, decided).find_reassignments(gone)
    old_pattern_by_fingerprint = {
        row["fingerprint"]: row["pattern"] for row in rows if row["fingerprint"] in pattern_by_fingerprint
    }
    patterns.assign_fingerprints(hub.engine, kind, pattern_by_fingerprint)
    return {*pattern_by_fingerprint.values(), *old_pattern_by_fingerprint.values()}


def _build_member(row: Row, decided: set[str]) -> cluster.Member:
    is_decided = row["pattern"] in decided
    pattern = "" if row["changed"] == patterns.NEW and not is_decided else row["pattern"]
    return cluster.Member(row["fingerprint"], bytes(row["vector"]), pattern, is_decided)


def _drop_fingerprints(hub: Hub, changed: list[Row], gone: set[tuple[str, str]]) -> None:
    """Delete fingerprints without signals; keep those of decided patterns, to recognize them if they recur."""
    lost = [row for row in changed if (row["kind"], row["fingerprint"]) in gone]
    decided = {kind: patterns.list_decided(hub.engine, kind) for kind in {row["kind"] for row in lost}}
    patterns.delete_fingerprints(hub.engine, [row for row in lost if row["pattern"] not in decided[row["kind"]]])


def _update_counts(hub: Hub, touched: set[str]) -> None:
    """Write the counts of the touched patterns; delete empty ones, or mark where their fingerprints moved."""
    counts = patterns.count_signals(hub.engine, sorted(touched))
    signals_by_pattern = signals.list_newest(hub.engine, {pattern: row["signals"] for pattern, row in counts.items()})
    patterns.save(
        hub.engine, [_pattern_row(pattern, counts[pattern], signals_by_pattern[pattern]) for pattern in sorted(counts)]
    )
    emptied = patterns.fetch_by_ids(hub.engine, sorted(touched - set(counts)))
    heirs = patterns.find_by_fingerprints(hub.engine, [(row["kind"], row["seed"]) for row in emptied.values()])
    for pattern, row in sorted(emptied.items()):
        heir = heirs.get((row["kind"], row["seed"]))
        if heir and heir != pattern:
            patterns.move_into(hub.engine, pattern, heir)
    patterns.empty_patterns(
        hub.engine, [pattern for pattern, row in emptied.items() if not heirs.get((row["kind"], row["seed"]))]
    )


def _find_seed(pattern: str, signal_rows: list[Row]) -> str:
    """Return the fingerprint that a pattern is named after, if one of its signals has it."""
    for row in signal_rows:
        seed = find_seed(row["fingerprint"]) if row["kind"] == "known-fix" else row["fingerprint"]
        if pattern_id(row["kind"], seed) == pattern:
            return str(seed)
    return ""


def _pattern_row(pattern: str, counts: Row, signal_rows: list[Row]) -> dict[str, Any]:
    """Build the row of a pattern from its signals; the newest one of its seed provides the wording."""
    speaker = wording.pick_speaker(pattern, signal_rows)
    seed = _find_seed(pattern, signal_rows) or speaker["fingerprint"]
    title = wording.build_title(speaker, signal_rows, counts)
    rule, fix = wording.propose_rule(speaker, title, signal_rows)
    lists = {name: plain_json.dumps(sorted(counts[name])) for name in ("flavors", "projects")}
    return {
        **counts,
        **lists,
        "id": pattern,
        "kind": speaker["kind"],
        "seed": seed,
        "title": title,
        "proposed": rule,
        "proposed_fix": fix,
        "proposed_by": "template",
        "confidence": wording.estimate_confidence(
            speaker["kind"], counts["sessions"], any(row["fix"] for row in signal_rows)
        ),
    }
