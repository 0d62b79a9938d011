"""One rule on trial: the sessions before and after it came, those that had it, and what came of that.

A pattern is noticed because it showed often, so that its later rate falls by itself; `statistics.counted` says which
sessions are a fair "before".
"""

from __future__ import annotations

from collections.abc import Iterable

from engram.clock import moment
from engram.hub import Hub
from engram.patterns.signal import SUCCESSES
from engram.rules import applicable, statistics
from engram.rules.measure import Effect, Sample
from engram.rules.scope import reach
from engram.rules.statistics import Interval
from engram.rules.verdict import MINIMUM, judge
from engram.store import patterns, placements, rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row


def effects(hub: Hub, only: str | None = None) -> list[Effect]:
    """Return what every rule, or only one, came to that was put anywhere, with care for how many are asked about."""
    placed = placements.by_pattern(hub.engine)
    every = placements.comparable(hub.engine) if placed else []
    known = patterns.by_id(hub.engine, list(placed))
    trials = [_Trial(hub, known[each], places, every) for each, places in placed.items()]
    chances = [statistics.fisher(trial.before.pair, trial.after.pair) for trial in trials]
    enough = [n for n, trial in enumerate(trials) if min(trial.before.pair[1], trial.after.pair[1]) >= MINIMUM]
    for n, chance in zip(enough, statistics.holm([chances[n] for n in enough]), strict=True):
        chances[n] = chance
    judged = zip(trials, chances, strict=True)
    return [trial.effect(chance) for trial, chance in judged if only in (None, trial.row["id"])]


class _Group:
    """Sessions, with which of them had the signal and what it cost there."""

    def __init__(self, sessions: Iterable[Row], hits: dict[str, Row]) -> None:
        self.ids = [row["id"] for row in sessions]
        self.found = [hits[each] for each in self.ids if each in hits]
        self._hits = hits

    @property
    def pair(self) -> tuple[int, int]:
        return len(self.found), len(self.ids)

    @property
    def sample(self) -> Sample:
        hits, count = self.pair
        return Sample(count, hits, hits / count if count else 0.0, *statistics.wilson(hits, count))

    def costs(self, name: str) -> list[float]:
        return [float(self._hits[each][name]) if each in self._hits else 0.0 for each in self.ids]


class _Trial:
    """One rule, the sessions before and after it came, and those that had it."""

    def __init__(self, hub: Hub, row: Row, places: list[Row], every: list[Row]) -> None:
        self.row, self.places = row, places
        self.hits = rules.sessions_with(hub.engine, row["id"])
        self.since = min(each["placed_at"] for each in places)
        ends = [each["removed_at"] for each in places]
        self.until = None if None in ends else max(ends)
        current = rules.version(hub.engine, row["id"], row["version"])
        flavor, project = reach(current["scope"] if current else "global")
        inside = [e for e in every if flavor in ("", e["flavor"]) and project in ("", e["project"])]
        then, now = self._then(inside), [each for each in inside if self._is_after(each)]
        self.applies, applied = applicable.sessions(hub, row, inside, set(self.hits))
        self.all_before, self.all_after = _Group(then, self.hits), _Group(now, self.hits)
        self.before, self.after = (_Group([e for e in group if e["id"] in applied], self.hits) for group in (then, now))
        told = placements.exposed(hub.engine, row["id"]) | {each["id"] for each in now if self._in_file(each)}
        self.told = _Group([e for e in now if e["id"] in applied and e["id"] in told], self.hits)
        self.untold = _Group([e for e in now if e["id"] in applied and e["id"] not in told], self.hits)

    def effect(self, chance: float) -> Effect:
        """Return what it came to."""
        row, better = self.row, -1 if self.row["kind"] not in SUCCESSES else 1
        change = statistics.difference(self.before.pair, self.after.pair)
        enough = min(self.told.pair[1], self.untold.pair[1]) >= MINIMUM
        beside = statistics.difference(self.untold.pair, self.told.pair) if enough else None
        verdict, why = judge(self.before.pair, self.after.pair, change, beside, chance, better)
        spent = [statistics.saved(self.before.costs(name), self.after.costs(name)) for name in ("tokens", "seconds")]
        return Effect(
            pattern=row["id"], title=row["title"], kind=row["kind"], state=row["state"], since=moment(self.since),
            until=None if self.until is None else moment(self.until), applies=self.applies,
            before=self.before.sample, after=self.after.sample, all_before=self.all_before.sample,
            all_after=self.all_after.sample, told=self.told.sample, untold=self.untold.sample,
            change=change if self.before.ids and self.after.ids else None,
            told_change=beside, chance=chance, tokens=spent[0], minutes=_minutes(spent[1]), verdict=verdict, why=why,
        )  # fmt: skip

    def _then(self, inside: list[Row]) -> list[Row]:
        """Return the sessions before that are a fair sample."""
        found = [each for each in inside if each["began"] < self.since]
        return found[statistics.counted([each["id"] in self.hits for each in found])]

    def _is_after(self, session: Row) -> bool:
        return session["began"] >= self.since and (self.until is None or session["began"] < self.until)

    def _in_file(self, session: Row) -> bool:
        """Tell whether a session began while a file it reads held the rule."""
        return any(
            each["place"] != placements.CONTEXT
            and each["flavor"] == session["flavor"]
            and each["project"] in ("", session["project"])
            and each["host"] == (session["host"] or each["host"])
            and each["placed_at"] <= session["began"] < (each["removed_at"] or session["began"] + 1)
            for each in self.places
        )


def _minutes(seconds: Interval) -> Interval:
    return Interval(seconds.value / 60, seconds.low / 60, seconds.high / 60)
