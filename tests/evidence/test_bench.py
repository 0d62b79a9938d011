"""What the benchmark measures on labelled sessions does not fall below what it was."""

from __future__ import annotations

import pytest

from benchmarks.evidence import chats, labelled, published
from benchmarks.evidence.__main__ import DATA
from benchmarks.evidence.scores import Report

FLOORS = {
    labelled.measure: {
        "goal is neither empty nor boilerplate": 0.97, "test verdicts": 0.96, "last tests": 0.97,
        "decisions: precision": 0.85, "decisions: recall": 0.5, "friction: recall in the digest": 0.7,
        "open items in the digest: precision": 0.7, "open items: recall": 0.55, "errors found": 0.82,
        "errors joined to their fix": 0.6, "causes: recall": 0.35, "outcome": 0.83, "files changed: recall": 0.85,
        "files changed: precision": 0.9,
    },
    published.measure: {
        "goal is neither empty nor boilerplate": 0.97, "files changed: recall": 0.96, "files changed: precision": 0.9,
        "friction: recall in the digest": 0.55, "intent in the goal and titles": 0.63, "open items: recall": 0.35,
        "open items in the digest: precision": 0.7,
    },
    chats.measure: {
        "chats without a decision in which none is seen": 0.87, "decisions amended later that are superseded": 1.0,
    },
}  # fmt: skip


@pytest.mark.parametrize("measure", FLOORS)
def test_the_figures_hold(measure: object) -> None:
    if not DATA.is_dir():
        pytest.skip("the labelled data sets are not here")
    report: Report = measure(DATA)  # type: ignore[operator]
    low = {name: str(report[name]) for name, least in FLOORS[measure].items() if report[name].rate < least}  # type: ignore[index]
    assert low == {}
