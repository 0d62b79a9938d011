"""Text: cleaned, on one line, quoted, measured."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.platform import text

ANYTHING = st.text(st.characters(codec=None), max_size=400)


@given(ANYTHING)
def test_clean_text_can_be_stored_anywhere_and_stays_clean(given_text: str) -> None:
    cleaned = text.validate_text("x", given_text)
    cleaned.encode("utf-8")
    assert not [c for c in cleaned if ord(c) < 32 and c not in "\n\t"]
    assert text.validate_text("x", cleaned) == cleaned


@given(ANYTHING, st.integers(1, 200))
def test_one_line_is_one_line_of_that_length(given_text: str, length: int) -> None:
    line = text.to_one_line(given_text, length)
    assert len(line) <= length
    assert len(line.splitlines()) <= 1


@given(ANYTHING)
def test_no_quoted_line_can_pass_for_ours(given_text: str) -> None:
    assert all(line.startswith("|") for line in text.quote_as_data(given_text).splitlines())


@given(ANYTHING, st.integers(0, 120))
def test_cut_text_fits_its_budget_and_begins_the_same(given_text: str, budget: int) -> None:
    kept = text.cut_to_tokens(given_text, budget)
    assert text.count_tokens(kept) <= budget
    assert "".join(given_text.split()).startswith("".join(kept.split()))


@pytest.mark.parametrize(
    ("microseconds", "words"),
    [(-5, "0 s"), (59_999_999, "59 s"), (60_000_000, "1 min"), (7_200_000_000, "2 h"), (172_800_000_000, "2 d")],
)
def test_durations_read_as_people_say_them(microseconds: int, words: str) -> None:
    assert text.format_duration(microseconds) == words


def test_color_codes_are_not_words() -> None:
    assert text.to_one_line("\x1b[1;31mred\x1b[0m and \x1b[38:5:1mmore\x1b[K") == "red and more"
    assert text.to_one_line("a [1m b") == "a [1m b"
