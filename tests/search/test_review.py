"""Invariants of recall: few segments, unknown values are named, and no empty results."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram import Engram
from engram.errors import InvalidInput
from engram.index.maintenance import _find_mergeable
from engram.store import index_segments


@given(st.lists(st.integers(1, 3000), min_size=100, max_size=400))
@settings(max_examples=30, deadline=None)
def test_segments_of_any_sizes_in_any_order_become_few(sizes: list[int]) -> None:
    rows: list[dict[str, int]] = []
    for number, size in enumerate(sizes):
        rows.append({"id": number, "count": size})
        while chosen := _find_mergeable(rows, {}):
            first = next(place for place, row in enumerate(rows) if row["id"] == chosen[0])
            some = rows[first : first + len(chosen)]
            assert [row["id"] for row in some] == chosen
            rows[first : first + len(chosen)] = [{"id": chosen[0], "count": sum(row["count"] for row in some)}]
    assert sum(row["count"] for row in rows) == sum(sizes)
    assert len(rows) < 60


def test_single_notes_between_small_batches_do_not_leave_a_segment_each(engram: Engram) -> None:
    for number in range(24):
        engram.remember("notes", "user", f"note {number} about pangolins")
        engram.recall("pangolins")
        rows = [
            {"role": "user", "content": f"batch {number}.{each} of yaks", "at": "2026-11-01T12:00:00+00:00"}
            for each in range(10)
        ]
        engram.add_exchanges_bulk(f"s{number}", rows)
        engram.recall("yaks")
    assert len(index_segments.list_segments(engram.engine)) < 24
    assert {hit.tier for hit in engram.recall("pangolins", k=3)} == {"exchange"}
    assert "note 0 " in engram.recall('"note 0 about"')[0].snippet


@pytest.mark.parametrize("wrong", [{"role": "wizard"}, {"outcome": "nope"}])
def test_a_role_or_outcome_that_does_not_exist_is_refused_not_silently_empty(
    engram: Engram, wrong: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput, match="Choose one of"):
        engram.recall("anything", **wrong)


def test_a_session_with_nothing_to_tell_is_not_told_of(engram: Engram) -> None:
    engram.remember("notes", "user", "hello there")
    assert engram.context().text == ""
