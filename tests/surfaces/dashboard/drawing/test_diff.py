"""A diff as lines: each of its kind, whatever it says."""

from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st

from engram.surfaces.dashboard.drawing.diff import ADDED, FILE, HUNK, REMOVED, SAME, lines

_line = st.sampled_from(["", "a", "b", "-- x", "++ x", "- item", "+ plus", "@@ -1 +1 @@", "--- old", "\\ odd"])


@given(st.lists(_line, max_size=12), st.lists(_line, max_size=12))
def test_both_texts_can_be_read_back_from_the_kinds(old: list[str], new: list[str]) -> None:
    found = lines("\n".join(difflib.unified_diff(old, new, "a", "b", n=50, lineterm="")))
    if old == new:
        assert found == []
        return
    assert [each.kind for each in found[:3]] == [FILE, FILE, HUNK]
    assert [each.text[1:] for each in found if each.kind in (REMOVED, SAME)] == old
    assert [each.text[1:] for each in found if each.kind in (ADDED, SAME)] == new


def test_several_files_and_a_missing_last_newline_are_told_apart() -> None:
    mark = "\\ No newline at end of file"
    first = f"--- a\n+++ b\n@@ -1 +1 @@\n-x\n{mark}\n+y\n{mark}\n"
    text = f"{first}--- c\n+++ d\n@@ -0,0 +1 @@\n+z\n"
    kinds = [each.kind for each in lines(text)]
    assert kinds == [FILE, FILE, HUNK, REMOVED, SAME, ADDED, SAME, FILE, FILE, HUNK, ADDED]


def test_no_difference_has_no_lines() -> None:
    assert lines("") == []


def test_a_head_that_counts_beyond_measure_is_no_hunk() -> None:
    assert [each.kind for each in lines(f"--- a\n+++ b\n@@ -1,{'9' * 5000} +1 @@\n+x\n")] == ["file"] * 4
