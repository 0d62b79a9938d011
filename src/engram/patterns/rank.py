"""Which candidates come first.

score = frequency × recency × cost × confidence × spread

frequency   log2(1 + sessions): the step from 1 to 3 sessions counts as much as from 3 to 7
recency     0.3 + 0.7 × ½^(days since it last happened / 30): what stopped long ago sinks, and is never lost
cost        1 + log10(1 + thousands of tokens + minutes): ten times the waste is one step more
confidence  how sure the kind is, with how many sessions bear it out
spread      1.5 if several flavors meet it, else 1

So what several flavors share comes first among equals, and a problem of one flavor that is met more often or costs more
stands above it: spread is a boost, not a wall.
"""

from __future__ import annotations

import math

from engram.clock import HOUR, moment
from engram.patterns.candidate import Candidate, Evidence
from engram.patterns.wording import speaker
from engram.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Row

SPREAD = 1.5
_HALF_LIFE = 30 * 24 * HOUR
_FLOOR = 0.3
_PIECES = 3  # of evidence
_COVERED = 0.6  # share of its events that make a candidate the same story as a better one


def score(row: Row, now: int) -> float:
    """Return how much a candidate deserves to be looked at."""
    recency = _FLOOR + (1 - _FLOOR) * 0.5 ** (max(0, now - row["last_at"]) / _HALF_LIFE)
    cost = 1 + math.log10(1 + row["tokens"] / 1000 + row["seconds"] / 60)
    found = math.log2(1 + row["here"]) * recency * cost * row["confidence"]
    return float(round(found * (SPREAD if _several(row) else 1), 4))


def _several(row: Row) -> bool:
    return "," in row["flavors"]


def ranked(rows: Sequence[Row], now: int) -> list[Row]:
    """Return candidates with their scores, the best first."""
    scored = [{**row, "score": score(row, now)} for row in rows]
    return sorted(scored, key=lambda row: (-row["score"], row["id"]))


def distinct(rows: Sequence[Row], told: dict[str, list[Row]]) -> list[tuple[Row, list[str]]]:
    """Return candidates without those that tell the same events as a better one, which are named with it."""
    kept: list[tuple[Row, list[str], set[int]]] = []
    for row in rows:
        events = {event for each in told[row["id"]] for event in _events(each)}
        better = next((k for k in kept if events and len(events & k[2]) >= _COVERED * len(events)), None)
        if better:
            better[1].append(row["id"])
        else:
            kept.append((row, [], events))
    return [(row, also) for row, also, _ in kept]


def _events(row: Row) -> list[int]:
    import json

    return [int(each) for each in json.loads(row["evidence"])]


def candidate(row: Row, told: Sequence[Row], also: Sequence[str]) -> Candidate:
    """Return a candidate as people and programs see it."""
    import json

    flavors, projects = json.loads(row["flavors"]), [each for each in json.loads(row["projects"]) if each]
    return Candidate(
        id=row["id"], kind=row["kind"], title=row["title"], cross_flavor=len(flavors) > 1, score=row["score"],
        sessions=row["here"], times=row["times"], flavors=tuple(flavors), projects=tuple(projects),
        tokens=row["tokens"], seconds=row["seconds"], confidence=row["confidence"], first_at=moment(row["first_at"]),
        last_at=moment(row["last_at"]), rule=row["proposed"], fix=row["proposed_fix"], worded_by=row["proposed_by"],
        evidence=tuple(_piece(each) for each in best(row["id"], told)), also=tuple(also),
    )  # fmt: skip


def best(pattern: str, told: Sequence[Row]) -> list[Row]:
    """Return three signals that tell most: the one that speaks for it, then other flavors, then other sessions."""
    chosen, rest = [speaker(pattern, told)], list(told)
    while len(chosen) < _PIECES:
        flavors, sessions = ({row[name] for row in chosen} for name in ("flavor", "session_id"))
        rest = [row for row in rest if row["session_id"] not in sessions]
        if not rest:
            break
        chosen.append(
            max(rest, key=lambda r: (r["flavor"] not in flavors, bool(r["fix"]), r["times"], r["at"], r["session_id"]))
        )
    return chosen


def _piece(row: Row) -> Evidence:
    events = _events(row)
    return Evidence(
        session_id=row["session_id"], at=moment(row["at"]), flavor=row["flavor"], project=row["project"],
        quote=one_line(row["quote"] or row["text"], 160), times=row["times"],
        event=f"e{events[-1]}" if events else None,
    )  # fmt: skip
