"""The summary of a race, in figures and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.race.course import build
from benchmarks.race.nemesis import Audit, Starter
from benchmarks.race.racer import Race
from benchmarks.race.rules import check
from benchmarks.race.story import GONE, Story, read


@dataclass(frozen=True)
class Summary:
    """The outcome of a race in figures."""

    processes: int
    rounds: int
    seed: int
    store: str
    seconds: float
    asks: int
    grants: int
    refusals: int
    waits: int
    waits_granted: int
    busy: int
    warnings: int
    kills: int
    stops: int
    takeovers_gone: int
    takeovers_lapsed: int
    fenced: int
    told: int
    snapshots: int
    inherited_p50_ms: float  # from a kill until another racer had the lock
    sweep_ms: float  # to lock everything after the last racer was gone
    clocks_apart_ms: float
    pairs_per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    violations: list[str]


def summarize(race: Race, audit: Audit, story: Story) -> Summary:
    """Compute the figures."""
    calls = [call for life in story.lives for call in life.calls]
    asks = [call for call in calls if call.op == "lock" and call.outcome]
    outcomes = Counter(call.outcome for call in asks)
    waits = [call for call in asks if call.facts["wait"]]
    quick = [(call.end - call.start) / 1e6 for call in asks if not call.facts["wait"]]
    gone = [takeover for takeover in story.takeovers if takeover.reason == GONE]
    free = [story.taken_between(t)[1] - story.of_session[t.holder].killed[1] for t in gone if t.token in story.of_token]
    return Summary(
        processes=race.processes, rounds=race.rounds, seed=race.seed,
        store="postgresql" if "://" in race.store else "sqlite",
        seconds=round(audit.seconds, 2), asks=len(asks), grants=len(story.holds), refusals=outcomes["held"],
        waits=len(waits), waits_granted=sum(call.outcome == "ok" for call in waits),
        busy=sum(call.outcome == "busy" for call in calls), warnings=sum(len(hold.overlaps) for hold in story.holds),
        kills=len(audit.kills), stops=len(audit.stops), takeovers_gone=len(gone),
        takeovers_lapsed=len(story.takeovers) - len(gone), fenced=sum(c.outcome in ("told", "stale") for c in calls),
        told=sum(len(call.facts.get("told", ())) for call in calls), snapshots=len(audit.snapshots),
        inherited_p50_ms=percentile((delay / 1e6 for delay in free), 50), sweep_ms=round(audit.janitor * 1000, 1),
        clocks_apart_ms=story.clocks_apart() / 1e6, pairs_per_second=round(len(story.holds) / audit.seconds, 1),
        p50_ms=percentile(quick, 50), p95_ms=percentile(quick, 95), p99_ms=percentile(quick, 99),
        violations=check(story),
    )  # fmt: skip


def percentile(numbers: Iterable[float], percent: float) -> float:
    """Return the given percentile."""
    ordered = sorted(numbers)
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))], 3) if ordered else 0.0


def report(summary: Summary) -> str:
    """Format a summary as text."""
    s = summary
    lines = [
        f"{s.processes} processes x {s.rounds} rounds on {s.store}, seed {s.seed}, {s.seconds} s",
        f"  asked {s.asks}: granted locks {s.grants}, refused {s.refusals}, busy {s.busy}",
        f"  waited {s.waits}, of which granted {s.waits_granted}; overlaps reported {s.warnings}",
        f"  killed {s.kills}, stopped {s.stops}; takeovers: killed {s.takeovers_gone}, expired {s.takeovers_lapsed}",
        f"  next holder after a kill in {s.inherited_p50_ms} ms (median)",
        f"  everything locked after the end in {s.sweep_ms} ms",
        f"  losses reported {s.told}, calls fenced {s.fenced}; clocks differ by at most {s.clocks_apart_ms} ms",
        f"  {s.pairs_per_second} pairs/s; requests took p50 {s.p50_ms} ms, p95 {s.p95_ms} ms, p99 {s.p99_ms} ms",
        f"  snapshots of the lock table: {s.snapshots}",
        f"  violations: {len(s.violations)}",
    ]
    return "\n".join([*lines, *(f"    {violation}" for violation in s.violations[:50])])


def hold_race(
    home: Path, store: str | None = None, *, processes: int = 8, rounds: int = 1000, seed: int = 1,
    kills: int | None = None, stops: int | None = None, tell: Callable[[str], None] = lambda _: None,
) -> Summary:  # fmt: skip
    """Run one race in a directory and return its summary."""
    home.mkdir(parents=True, exist_ok=True)
    root, tree = home.resolve() / "main", home.resolve() / "second"
    build(root, tree)
    race = Race(str(home), store or str(home / "engram.db"), str(root), str(tree), processes, rounds, seed)
    share = processes * rounds // 200
    audit = Starter(race, share if kills is None else kills, share if stops is None else stops, tell).run()
    return summarize(race, audit, read(home))
