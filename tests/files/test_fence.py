"""A fenced block in somebody's text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.files import fence

TEXTS = st.text(alphabet="a#\n -<>!", max_size=40) | st.sampled_from(["x\r\n", "x\r\ny", "\n\n", "# A\n\ntext\n"])


@given(TEXTS, TEXTS)
def test_what_is_put_in_comes_out_to_the_byte(text: str, block: str) -> None:
    put = fence.put(text, "", f"a{block}")
    assert fence.remove(put, "") == text
    assert text in put


@given(TEXTS, TEXTS, TEXTS)
def test_a_block_is_replaced_where_it_stands(text: str, old: str, new: str) -> None:
    put = fence.put(text, "", f"a{old}") + "after\n"
    again = fence.put(put, "", f"b{new}")
    assert fence.held(again, "") == "\n".join(f"b{new}".strip().splitlines())
    assert again.startswith(text)
    assert again.endswith("after\n")


def test_blocks_of_different_names_do_not_touch() -> None:
    text = fence.put(fence.put("mine\n", "", "one"), "patterns", "two")
    assert fence.held(text, "") == "one"
    assert fence.held(fence.remove(text, ""), "patterns") == "two"
    assert fence.remove(fence.remove(text, ""), "patterns") == "mine\n"


def test_a_block_somebody_wrote_around_leaves_their_words() -> None:
    text = fence.put("before\n", "", "ours") + "after\n"
    assert fence.remove(text, "") == "before\nafter\n"


def test_a_named_block_before_ours_is_not_taken_for_it() -> None:
    text = fence.put(fence.put("mine\n", "patterns", "two"), "", "one")
    assert fence.held(text, "") == "one"
    assert fence.remove(fence.remove(text, ""), "patterns") == "mine\n"


def test_a_block_that_lost_a_fence_or_stands_twice_is_not_whole() -> None:
    text = fence.put("mine\n", "patterns", "two", "sha 1")
    assert fence.note(text, "patterns") == "sha 1"
    assert fence.whole(text, "patterns")
    assert fence.whole("mine\n", "patterns")
    assert not fence.whole(text + text, "patterns")
    assert not fence.whole(text.replace("<!-- engram:end patterns -->", ""), "patterns")


def test_lines_around_a_block_that_was_moved_stay_lines() -> None:
    text = "before\n" + fence.put("", "", "ours") + "after\n"
    assert fence.remove(text, "") == "before\nafter\n"
