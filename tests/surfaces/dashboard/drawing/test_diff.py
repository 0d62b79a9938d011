"""Diffs as lines of a kind, whatever their text."""

from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st

from engram.surfaces.dashboard.drawing.diff import ADDED, FILE, HUNK, REMOVED, SAME, parse_diff

_line = st.sampled_from(["", "a", "b", "-- x", "++ x", "- item", "+ plus", "@@ -1 +1 @@", "--- old", "\\ odd"])


@given(st.lists(_line, max_size=12), st.lists(_line, max_size=12))
def test_both_texts_can_be_read_back_from_the_kinds(old: list[str], new: list[str]) -> None:
    diff = parse_diff("\n".join(difflib.unified_diff(old, new, "a", "b", n=50, lineterm="")))
    if old == new:
        assert diff == []
        return
    assert [each.kind for each in diff[:3]] == [FILE, FILE, HUNK]
    assert [each.text[1:] for each in diff if each.kind in (REMOVED, SAME)] == old
    assert [each.text[1:] for each in diff if each.kind in (ADDED, SAME)] == new


def test_several_files_and_a_missing_last_newline_are_distinguished() -> None:
    mark = "\\ No newline at end of file"
    first = f"--- a\n+++ b\n@@ -1 +1 @@\n-x\n{mark}\n+y\n{mark}\n"
    text = f"{first}--- c\n+++ d\n@@ -0,0 +1 @@\n+z\n"
    kinds = [line.kind for line in parse_diff(text)]
    assert kinds == [FILE, FILE, HUNK, REMOVED, SAME, ADDED, SAME, FILE, FILE, HUNK, ADDED]


def test_no_difference_has_no_lines() -> None:
    assert parse_diff("") == []


def test_a_hunk_header_with_huge_counts_is_ignored() -> None:
    assert [line.kind for line in parse_diff(f"--- a\n+++ b\n@@ -1,{'9' * 5000} +1 @@\n+x\n")] == ["file"] * 4
