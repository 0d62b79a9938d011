"""Rank candidates.

score = frequency × recency × cost × confidence × spread × weight

frequency   log2(1 + sessions): from 1 to 3 sessions counts as much as from 3 to 7
recency     0.3 + 0.7 × ½^(days since the last occurrence / 30): old patterns sink but never disappear
cost        1 + log10(1 + thousands of tokens + minutes): ten times the waste is one step more
confidence  how reliable the kind is, and how many sessions confirm it
spread      1.5 if several agents have it, else 1
weight      4 for what a person said, 1.5 for a failure with a known fix, else 1

Among equals, a pattern shared by several agents comes first; one of a single agent that is more frequent or more
expensive still ranks above it.
"""

from __future__ import annotations

import math

from engram.clock import HOUR, to_datetime
from engram.patterns.candidate import Candidate, CandidateEvidence
from engram.patterns.wording import pick_speaker
from engram.platform.text import to_one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engram.store.engine import Row

SPREAD = 1.5
_WEIGHTS = {"correction": 4.0, "standing-rule": 4.0, "known-fix": 1.5}
_HALF_LIFE = 30 * 24 * HOUR
_FLOOR = 0.3
_MAX_EVIDENCE = 3  # pieces of evidence
_MAX_OVERLAP = 0.6  # share of common events above which a candidate counts as part of a better one


def score_pattern(row: Row, now: int) -> float:
    """Return the score of a candidate."""
    recency = _FLOOR + (1 - _FLOOR) * 0.5 ** (max(0, now - row["last_at"]) / _HALF_LIFE)
    cost = 1 + math.log10(1 + row["tokens"] / 1000 + row["seconds"] / 60)
    base_score = math.log2(1 + row["here"]) * recency * cost * row["confidence"]
    weight = _WEIGHTS.get(row["kind"], 1.0) * (SPREAD if _has_several_flavors(row) else 1)
    return float(round(base_score * weight, 4))


def _has_several_flavors(row: Row) -> bool:
    return "," in row["flavors"]


def rank_patterns(rows: Sequence[Row], now: int) -> list[Row]:
    """Return candidates with their scores, best first."""
    scored = [{**row, "score": score_pattern(row, now)} for row in rows]
    return sorted(scored, key=lambda row: (-row["score"], row["id"]))


def group_same_events(
    rows: Sequence[Row], signals_by_pattern: dict[str, list[Row]], decided: Iterable[set[int]] = ()
) -> list[tuple[Row, list[str]]]:  # fmt: skip
    """Fold candidates found in the same events into the best one, and name them there; drop those already decided."""
    decided = list(decided)
    groups: list[tuple[Row, list[str], set[int]]] = []
    for row in rows:
        events = collect_events(signals_by_pattern.get(row["id"], ()))
        if not row["version"] and any(_is_covered(events, others) for others in decided):
            continue
        better = next((group for group in groups if _is_covered(events, group[2])), None)
        if better:
            better[1].append(row["id"])
        else:
            groups.append((row, [], events))
    return [(row, also) for row, also, _ in groups]


def collect_events(signal_rows: Sequence[Row]) -> set[int]:
    """Return the events of signals."""
    return {event for row in signal_rows for event in _parse_events(row)}


def _is_covered(events: set[int], others: set[int]) -> bool:
    return bool(events) and len(events & others) >= _MAX_OVERLAP * len(events)


def _parse_events(row: Row) -> list[int]:
    import json

    return [int(event_id) for event_id in json.loads(row["evidence"])]


def build_candidate(row: Row, signal_rows: Sequence[Row], also: Sequence[str]) -> Candidate:
    """Build a candidate from its pattern and signals."""
    import json

    flavors, projects = json.loads(row["flavors"]), [item for item in json.loads(row["projects"]) if item]
    return Candidate(
        id=row["id"],
        kind=row["kind"],
        title=row["title"],
        cross_flavor=len(flavors) > 1,
        score=row["score"],
        sessions=row["here"],
        times=row["times"],
        flavors=tuple(flavors),
        projects=tuple(projects),
        tokens=row["tokens"],
        seconds=row["seconds"],
        confidence=row["confidence"],
        first_at=to_datetime(row["first_at"]),
        last_at=to_datetime(row["last_at"]),
        rule=row["proposed"],
        fix=row["proposed_fix"],
        worded_by=row["proposed_by"],
        evidence=tuple(_build_evidence(item) for item in pick_evidence(row["id"], signal_rows)),
        also=tuple(also),
    )


def pick_evidence(pattern: str, signal_rows: Sequence[Row]) -> list[Row]:
    """Choose three signals as evidence: the one the pattern is worded by, then other agents, then other sessions."""
    chosen, rest = [pick_speaker(pattern, signal_rows)], list(signal_rows)
    while len(chosen) < _MAX_EVIDENCE:
        flavors, sessions = ({row[name] for row in chosen} for name in ("flavor", "session_id"))
        rest = [row for row in rest if row["session_id"] not in sessions]
        if not rest:
            break
        chosen.append(
            max(rest, key=lambda r: (r["flavor"] not in flavors, bool(r["fix"]), r["times"], r["at"], r["session_id"]))
        )
    return chosen


def _build_evidence(row: Row) -> CandidateEvidence:
    events = _parse_events(row)
    return CandidateEvidence(
        session_id=row["session_id"], at=to_datetime(row["at"]), flavor=row["flavor"], project=row["project"],
        quote=to_one_line(row["quote"] or row["text"], 160), times=row["times"],
        event=f"e{events[-1]}" if events else None,
    )  # fmt: skip
