"""Compare the sessions before and after a rule was placed, and those with and without it.

A pattern is noticed because it occurred often, so its rate falls by itself afterwards; `statistics.select_fair_sample`
chooses the sessions that are a fair "before".
"""

from __future__ import annotations

from collections.abc import Iterable

from engram.clock import to_datetime
from engram.hub import Hub
from engram.patterns.rules import exposure, statistics
from engram.patterns.rules.effect import Effect, Sample
from engram.patterns.rules.scope import split_scope
from engram.patterns.rules.statistics import Interval
from engram.patterns.rules.verdict import MINIMUM, judge_change
from engram.patterns.signal import SUCCESSES
from engram.store import patterns, rule_placements, rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row


def measure_effects(hub: Hub, only: str | None = None) -> list[Effect]:
    """Return the effect of every rule that was ever placed, or of one, the oldest first."""
    return sorted(compute_effects(hub, only), key=lambda effect: (effect.since, effect.pattern))


def compute_effects(hub: Hub, only: str | None = None) -> list[Effect]:
    """Return the effects of all placed rules, or of one, corrected for the number of comparisons."""
    placements_by_pattern = rule_placements.group_by_pattern(hub.engine)
    comparable_sessions = rule_placements.list_comparable_sessions(hub.engine) if placements_by_pattern else []
    rows_by_id = patterns.fetch_by_ids(hub.engine, list(placements_by_pattern))
    trials = [
        _RuleTrial(hub, rows_by_id[pattern_id], places, comparable_sessions)
        for pattern_id, places in placements_by_pattern.items()
    ]
    chances = [statistics.fisher_exact(trial.before.hit_counts, trial.after.hit_counts) for trial in trials]
    enough = [
        n for n, trial in enumerate(trials) if min(trial.before.hit_counts[1], trial.after.hit_counts[1]) >= MINIMUM
    ]
    for n, chance in zip(enough, statistics.holm_adjust([chances[n] for n in enough]), strict=True):
        chances[n] = chance
    judged = zip(trials, chances, strict=True)
    return [trial.build_effect(chance) for trial, chance in judged if only in (None, trial.row["id"])]


class _SessionGroup:
    """Sessions, with which of them had the signal and its cost there."""

    def __init__(self, sessions: Iterable[Row], hits: dict[str, Row]) -> None:
        self.ids = [row["id"] for row in sessions]
        self.found = [hits[session_id] for session_id in self.ids if session_id in hits]
        self._hits = hits

    @property
    def hit_counts(self) -> tuple[int, int]:
        return len(self.found), len(self.ids)

    @property
    def sample(self) -> Sample:
        hits, count = self.hit_counts
        return Sample(count, hits, hits / count if count else 0.0, *statistics.wilson_interval(hits, count))

    def list_costs(self, name: str) -> list[float]:
        return [float(self._hits[session_id][name]) if session_id in self._hits else 0.0 for session_id in self.ids]


class _RuleTrial:
    """One rule, the sessions before and after it was placed, and those that had it."""

    def __init__(self, hub: Hub, row: Row, placement_rows: list[Row], comparable_sessions: list[Row]) -> None:
        self.row, self.places = row, placement_rows
        self.hits = rules.list_sessions(hub.engine, row["id"])
        self.since = min(item["placed_at"] for item in placement_rows)
        ends = [item["removed_at"] for item in placement_rows]
        self.until = None if None in ends else max(ends)
        current = rules.get_version(hub.engine, row["id"], row["version"])
        flavor, project = split_scope(current["scope"] if current else "global")
        scoped_sessions = [
            e for e in comparable_sessions if flavor in ("", e["flavor"]) and project in ("", e["project"])
        ]
        sessions_before, sessions_after = (
            self._select_before(scoped_sessions),
            [item for item in scoped_sessions if self._is_after(item)],
        )
        self.applies, applied = exposure.find_exposed_sessions(hub, row, scoped_sessions, set(self.hits))
        self.all_before, self.all_after = (
            _SessionGroup(sessions_before, self.hits),
            _SessionGroup(sessions_after, self.hits),
        )
        self.before, self.after = (
            _SessionGroup([e for e in group if e["id"] in applied], self.hits)
            for group in (sessions_before, sessions_after)
        )
        exposed_ids = rule_placements.list_exposed_sessions(hub.engine, row["id"]) | {
            item["id"] for item in sessions_after if self._has_rule_in_file(item)
        }
        self.told = _SessionGroup(
            [e for e in sessions_after if e["id"] in applied and e["id"] in exposed_ids], self.hits
        )
        self.untold = _SessionGroup(
            [e for e in sessions_after if e["id"] in applied and e["id"] not in exposed_ids], self.hits
        )

    def build_effect(self, chance: float) -> Effect:
        """Compute the effect of the rule."""
        row, better = self.row, -1 if self.row["kind"] not in SUCCESSES else 1
        change = statistics.rate_difference(self.before.hit_counts, self.after.hit_counts)
        enough = min(self.told.hit_counts[1], self.untold.hit_counts[1]) >= MINIMUM
        beside = statistics.rate_difference(self.untold.hit_counts, self.told.hit_counts) if enough else None
        verdict, why = judge_change(self.before.hit_counts, self.after.hit_counts, change, beside, chance, better)
        spent = [
            statistics.estimate_savings(self.before.list_costs(name), self.after.list_costs(name))
            for name in ("tokens", "seconds")
        ]
        return Effect(
            pattern=row["id"], title=row["title"], kind=row["kind"], state=row["state"], since=to_datetime(self.since),
            until=None if self.until is None else to_datetime(self.until), applies=self.applies,
            before=self.before.sample, after=self.after.sample, all_before=self.all_before.sample,
            all_after=self.all_after.sample, told=self.told.sample, untold=self.untold.sample,
            change=change if self.before.ids and self.after.ids else None,
            told_change=beside, chance=chance, tokens=spent[0], minutes=_to_minutes(spent[1]), verdict=verdict, why=why,
        )  # fmt: skip

    def _select_before(self, scoped_sessions: list[Row]) -> list[Row]:
        """Return the earlier sessions that form a fair sample."""
        earlier_sessions = [session for session in scoped_sessions if session["began"] < self.since]
        return earlier_sessions[
            statistics.select_fair_sample([session["id"] in self.hits for session in earlier_sessions])
        ]

    def _is_after(self, session: Row) -> bool:
        return session["began"] >= self.since and (self.until is None or session["began"] < self.until)

    def _has_rule_in_file(self, session: Row) -> bool:
        """Check whether a file that a session reads contained the rule when it started."""
        return any(
            placement["place"] != rule_placements.CONTEXT
            and placement["flavor"] == session["flavor"]
            and placement["project"] in ("", session["project"])
            and placement["host"] == (session["host"] or placement["host"])
            and placement["placed_at"] <= session["began"] < (placement["removed_at"] or session["began"] + 1)
            for placement in self.places
        )


def _to_minutes(seconds: Interval) -> Interval:
    return Interval(seconds.value / 60, seconds.low / 60, seconds.high / 60)
