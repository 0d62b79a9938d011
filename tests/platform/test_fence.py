"""A fenced block in another program's text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.platform import fence

TEXTS = st.text(alphabet="a#\n -<>!", max_size=40) | st.sampled_from(["x\r\n", "x\r\ny", "\n\n", "# A\n\ntext\n"])


@given(TEXTS, TEXTS)
def test_what_is_added_is_removed_byte_for_byte(text: str, block: str) -> None:
    put = fence.insert_block(text, "", f"a{block}")
    assert fence.remove_block(put, "") == text
    assert text in put


@given(TEXTS, TEXTS, TEXTS)
def test_a_block_is_replaced_in_place(text: str, old: str, new: str) -> None:
    put = fence.insert_block(text, "", f"a{old}") + "after\n"
    again = fence.insert_block(put, "", f"b{new}")
    assert fence.read_block(again, "") == "\n".join(f"b{new}".strip().splitlines())
    assert again.startswith(text)
    assert again.endswith("after\n")


def test_blocks_of_different_names_do_not_touch() -> None:
    text = fence.insert_block(fence.insert_block("mine\n", "", "one"), "patterns", "two")
    assert fence.read_block(text, "") == "one"
    assert fence.read_block(fence.remove_block(text, ""), "patterns") == "two"
    assert fence.remove_block(fence.remove_block(text, ""), "patterns") == "mine\n"


def test_removing_a_block_keeps_the_text_around_it() -> None:
    text = fence.insert_block("before\n", "", "ours") + "after\n"
    assert fence.remove_block(text, "") == "before\nafter\n"


def test_a_named_block_before_ours_is_not_taken_for_it() -> None:
    text = fence.insert_block(fence.insert_block("mine\n", "patterns", "two"), "", "one")
    assert fence.read_block(text, "") == "one"
    assert fence.remove_block(fence.remove_block(text, ""), "patterns") == "mine\n"


def test_a_block_without_a_fence_or_with_two_is_not_well_formed() -> None:
    text = fence.insert_block("mine\n", "patterns", "two", "sha 1")
    assert fence.read_note(text, "patterns") == "sha 1"
    assert fence.is_well_formed(text, "patterns")
    assert fence.is_well_formed("mine\n", "patterns")
    assert not fence.is_well_formed(text + text, "patterns")
    assert not fence.is_well_formed(text.replace("<!-- engram:end patterns -->", ""), "patterns")


def test_lines_around_a_block_that_was_moved_stay_lines() -> None:
    text = "before\n" + fence.insert_block("", "", "ours") + "after\n"
    assert fence.remove_block(text, "") == "before\nafter\n"
