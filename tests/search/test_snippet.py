"""The snippet is the part of a text that answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.search.snippet import LENGTH, extract_snippet


def test_a_short_text_is_shown_whole_on_one_line() -> None:
    assert extract_snippet("We drop\n  redis.", frozenset({"redis"})) == "We drop redis."


def test_the_stretch_with_most_words_is_shown_with_signs_of_the_rest() -> None:
    text = f"{'filler ' * 200}redis {'filler ' * 200}we drop redis because the queue is slow {'filler ' * 200}"
    result = extract_snippet(text, frozenset({"redis", "queue", "slow"}))
    assert "drop redis because the queue is slow" in result
    assert result.startswith("…")
    assert result.endswith("…")


def test_without_a_word_of_the_question_the_beginning_is_shown() -> None:
    assert extract_snippet("begin " + "filler " * 200, frozenset({"redis"})).startswith("begin filler")


def test_a_word_is_found_in_any_of_its_forms() -> None:
    assert "CachingLayer" in extract_snippet(
        f"{'filler ' * 200}the CachingLayer {'filler ' * 200}", frozenset({"cach"})
    )


@given(st.text(max_size=2000), st.frozensets(st.sampled_from(["a", "redis", "0", "é"])), st.integers(20, 400))
def test_a_snippet_is_one_bounded_line(text: str, wanted: frozenset[str], length: int) -> None:
    result = extract_snippet(text, wanted, length)
    assert len(result) <= length + 2
    assert len(result.splitlines()) <= 1


def test_a_blob_is_no_trouble() -> None:
    assert len(extract_snippet("x" * 300_000, frozenset({"x"}))) <= LENGTH + 2
