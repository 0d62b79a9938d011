"""Signals are found where they were planted, and nowhere else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from engram import Engram
from engram.patterns.signal import KINDS
from engram.patterns.signals import detect_signals
from engram.patterns.steps import load_trace
from tests.patterns.planted import write_all

AIM = 0.9


@pytest.fixture
def labelled(tmp_path: Path, timed: Engram) -> tuple[Engram, dict[str, set[str]]]:
    """A store with every planted session of three agents, and their expected signals."""
    labels = write_all(tmp_path / "user")
    timed.ingest([str(tmp_path / "user")])
    return timed, labels


def test_precision_and_recall_of_fifteen_kinds_over_three_flavors(
    labelled: tuple[Engram, dict[str, set[str]]], capsys: pytest.CaptureFixture[str]
) -> None:
    engram, labels = labelled
    right, wrong, missed = Counter[str](), Counter[str](), Counter[str]()
    told: list[str] = []
    sessions = {capture.session.native_id: capture.session for capture in engram.list_sessions(limit=10_000)}
    assert set(labels) <= set(sessions)
    for native, planted in labels.items():
        trace = load_trace(engram, sessions[native].id)
        found = {signal.kind for signal in detect_signals(trace)} if trace else set()
        right.update(found & planted)
        wrong.update(found - planted)
        missed.update(planted - found)
        if found != planted:
            told.append(f"{sessions[native].flavor} {planted or '{}'} found {found or '{}'}: {sessions[native].id}")
    with capsys.disabled():
        print("\n" + _table(right, wrong, missed), *told, sep="\n")
    assert set(right) == set(KINDS)
    assert {sessions[native].flavor for native in labels} == {"claude", "codex", "gemini"}
    assert _share(right.total(), wrong.total()) >= AIM
    assert _share(right.total(), missed.total()) >= AIM


def _share(good: int, bad: int) -> float:
    return good / (good + bad)


def _table(right: Counter[str], wrong: Counter[str], missed: Counter[str]) -> str:
    lines = [f"{'kind':18} planted found wrong  precision recall"]
    for kind in KINDS:
        precision = _share(right[kind], wrong[kind]) if right[kind] + wrong[kind] else 1.0
        recall = _share(right[kind], missed[kind]) if right[kind] + missed[kind] else 1.0
        lines.append(
            f"{kind:18} {right[kind] + missed[kind]:7} {right[kind]:5} {wrong[kind]:5} {precision:10.2f} {recall:6.2f}"
        )
    total = f"{_share(right.total(), wrong.total()):10.3f} {_share(right.total(), missed.total()):6.3f}"
    return "\n".join(
        [*lines, f"{'all':18} {right.total() + missed.total():7} {right.total():5} {wrong.total():5} {total}"]
    )
