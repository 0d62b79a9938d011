"""The cost depends on the size of a session, and concurrent processes lose nothing."""

from __future__ import annotations

import random
import threading
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from engram import Engram
from engram.patterns.rules.statistics import estimate_savings
from engram.patterns.steps import SessionStep, SessionTrace
from engram.store import patterns, signals
from tests.patterns import plots
from tests.patterns.writers import Claude

_PAUSE = 300_000_000
times = st.lists(st.integers(0, 2_000_000_000), min_size=1, max_size=12).map(sorted)


def story(at: list[int], answers: list[tuple[int, int]]) -> SessionTrace:
    steps = tuple(SessionStep(kind="did", id=n, at=each, until=each + 5) for n, each in enumerate(at))
    return SessionTrace(
        session="s", flavor="claude", project="", cwd=None, steps=steps, facts={}, outcome="", confidence=0,
        relation="", is_complete=True, last_at=at[-1], times=tuple(sorted(set(at))), answers=tuple(sorted(answers)),
    )  # fmt: skip


def plainly(told: SessionTrace, steps: list[SessionStep]) -> tuple[int, int]:
    """Return the cost of steps, looked up one by one."""
    spans = set()
    for step in steps:
        later = [each.at for each in told.steps if each.at > step.until]
        spans.add((step.at, min(later, default=step.until)))
    tokens = sum(count for at, count in told.answers if any(first <= at <= last for first, last in spans))
    worked = 0
    for first, last in spans:
        marks = [first, *sorted({each.at for each in told.steps if first < each.at < last}), last]
        worked += sum(min(b - a, _PAUSE) for a, b in pairwise(marks))
    return tokens, round(worked / 1_000_000)


@given(times, st.lists(st.tuples(st.integers(0, 2_000_000_000), st.integers(0, 99)), max_size=12), st.data())
def test_steps_cost_what_a_plain_count_says(at: list[int], answers: list[tuple[int, int]], data: st.DataObject) -> None:
    result = story(at, answers)
    some = data.draw(st.lists(st.sampled_from(result.steps), min_size=1, unique_by=lambda step: step.id))
    assert result.measure_cost(some, is_through=False) == plainly(result, some)


def test_what_is_saved_is_what_drawing_whole_samples_says() -> None:
    draw = random.Random(7)
    before = [float(draw.randint(500, 3000)) if draw.random() < 0.3 else 0.0 for _ in range(200)]
    after = [float(draw.randint(500, 3000)) if draw.random() < 0.1 else 0.0 for _ in range(150)]
    found, drawn = estimate_savings(before, after), []
    for _ in range(2000):
        then, now = draw.choices(before, k=200), draw.choices(after, k=150)
        drawn.append((sum(then) / 200 - sum(now) / 150) * 150)
    drawn.sort()
    width = drawn[1950] - drawn[50]
    assert abs(found.low - drawn[50]) < width * 0.08
    assert abs(found.high - drawn[1950]) < width * 0.08


def test_detect_waits_for_whoever_settles(engram: Engram, tmp_path: Path) -> None:
    plots.failing_command(Claude(tmp_path, "one"), 0)
    engram.ingest([str(tmp_path)])
    looked = threading.Thread(target=lambda: engram.detect(min_frequency=1))
    with engram.engine.transaction():
        patterns.lock_patterns(engram.engine)
        looked.start()
        looked.join(0.5)
        early = signals.count(engram.engine)  # these would be mistaken for counted ones
        waited = looked.is_alive()
    looked.join(60)
    assert (early, waited) == (0, True)
    assert {pattern.sessions for pattern in engram.list_patterns(min_frequency=1)} == {1}


def test_patterns_of_a_project_are_listed_whatever_it_is_called(engram: Engram, tmp_path: Path) -> None:
    for n in range(2):
        plots.failing_command(Claude(tmp_path, f"s{n}", project="/home/jörg/größe"), 0)
    engram.ingest([str(tmp_path)])
    engram.detect()
    assert engram.list_patterns(project="/home/jörg/größe")
    assert engram.list_patterns(project="/home/jörg") == []


def test_candidates_are_listed_as_detect_ranks_them(engram: Engram, tmp_path: Path) -> None:
    for n in range(3):
        plots.failing_command(Claude(tmp_path, f"a{n}"), 0)
        plots.denied(Claude(tmp_path, f"b{n}"), 0)
    engram.ingest([str(tmp_path)])
    ids = [candidate.id for candidate in engram.detect().candidates]
    assert len(ids) >= 2
    listed = [pattern.id for pattern in engram.list_patterns("candidate")]
    assert [each for each in listed if each in ids] == ids
