"""File changes of tool calls, in the formats of the agents."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.surfaces.dashboard.drawing.tool_edits import find_edit, is_diff

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@ def f\n-old\n+new\n+more\n same\n*** End Patch"
UNIFIED = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n"
BLOCKS = "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE"


@pytest.mark.parametrize(
    ("arguments", "added", "removed"),
    [
        ({"file_path": "a", "old_string": "x\ny", "new_string": "x\nz"}, 1, 1),
        ({"path": "a", "old_str": "x", "new_str": ""}, 0, 1),
        ({"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]}, 2, 2),
        ({"file_path": "a", "content": "one\ntwo\n"}, 2, 0),
        ({"input": PATCH}, 2, 1),
        (PATCH, 2, 1),
        ({"command": ["apply_patch", PATCH]}, 2, 1),
        ({"cmd": f"apply_patch <<'EOF'\n{PATCH}\nEOF"}, 2, 1),
        ({"diff": UNIFIED}, 1, 1),
        ({"path": "a", "diff": BLOCKS}, 1, 1),
    ],
)
def test_a_change_is_counted_by_line(arguments: Any, added: int, removed: int) -> None:
    edit = find_edit(arguments)
    assert edit is not None
    assert (edit.added, edit.removed) == (added, removed)


@pytest.mark.parametrize("arguments", [None, {}, "", "ls", {"command": "ls"}, {"query": "x"}, [], 7, {"edits": 3}])
def test_what_changes_nothing_has_no_diff(arguments: Any) -> None:
    assert find_edit(arguments) is None


@pytest.mark.parametrize(
    "hostile",
    ["<<<<< SEARCH\nx\n=====\n" * 50_000, "<" * 1_000_000, "<<<<<" + " " * 500_000 + "SEARCH REPLACE", BLOCKS * 9_000],
)
def test_no_text_takes_long(hostile: str) -> None:
    find_edit({"command": hostile})


def test_sides_of_many_lines_are_shown_one_after_the_other() -> None:
    before, after = ("\n".join(f"{side} {n % 150}" for n in range(9_000)) for side in "ab")
    edit = find_edit({"old_string": before, "new_string": after})
    assert edit is not None
    assert (edit.added, edit.removed) == (9_000, 9_000)


def test_output_of_a_diff_command_is_known_as_one() -> None:
    assert is_diff(UNIFIED)
    assert not is_diff("--- a list\n- one\n- two")


@given(st.text(), st.text())
def test_both_sides_of_a_replacement_can_be_read_off_its_diff(before: str, after: str) -> None:
    edit = find_edit({"old_string": before, "new_string": after})
    shown = edit.diff if edit else ()
    kept = [each.text[1:] for each in shown if each.kind in ("add", "same")]
    if len(before.splitlines()) <= 4 and len(after.splitlines()) <= 4 and before.splitlines() != after.splitlines():
        assert kept == after.splitlines()


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(
        ["edits", "old_string", "new_string", "content", "patch", "diff", "input", "command", "x"]), inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


@given(_json)
def test_no_argument_breaks_it(arguments: Any) -> None:
    find_edit(arguments)
