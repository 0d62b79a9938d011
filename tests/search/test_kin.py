"""Near duplicates, and statements that a newer one replaces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.index.tokenizer import extract_terms
from engram.search.near_duplicates import ComparedText, find_copies, find_replaced, raise_newer


def said(text: str, at: int = 0, statement: bool = True) -> ComparedText:
    return ComparedText(words=frozenset(extract_terms(text)), at=at, statement=statement)


def test_what_says_the_same_is_folded_into_the_first() -> None:
    texts = [said("we use redis for the cache"), said("postgres holds the truth"), said("We use Redis for the cache!")]
    assert find_copies(texts) == {2: 0}


def test_copies_of_copies_belong_to_the_first() -> None:
    assert find_copies([said("red green blue")] * 3) == {1: 0, 2: 0}


def test_a_newer_statement_on_the_subject_replaces_the_older() -> None:
    old, new = said("the deploy key of billing is in vault", 1), said("the deploy key of billing is in doppler", 2)
    assert find_replaced([old, new]) == {0: 1}
    assert find_replaced([new, old]) == {1: 0}


def test_the_newest_of_several_replaces_them_all() -> None:
    texts = [
        said(f"the deploy key of billing is in {place}", at) for at, place in enumerate(("vault", "doppler", "pass"))
    ]
    assert find_replaced(texts) == {0: 2, 1: 2}


def test_a_question_an_answer_and_another_subject_replace_nothing() -> None:
    old = said("the deploy key of billing is in vault", 1)
    assert find_replaced([old, said("the deploy key of billing is in doppler", 2, statement=False)]) == {}
    assert find_replaced([old, said("lunch on friday is at the harbour", 2)]) == {}
    assert find_replaced([old, said("the deploy key of billing is in doppler", 1)]) == {}


def test_a_short_word_and_a_long_page_are_no_statements() -> None:
    page = " ".join(f"word{n}" for n in range(80))
    assert find_replaced([said("okay then", 1), said("okay now", 2), said(page, 3), said(f"{page} more", 4)]) == {}


TEXTS = st.lists(
    st.tuples(st.lists(st.sampled_from("abcdefg"), min_size=0, max_size=6), st.integers(0, 3), st.booleans()),
    max_size=7,
).map(lambda rows: [ComparedText(words=frozenset(found), at=at, statement=is_one) for found, at, is_one in rows])


@given(TEXTS, st.lists(st.floats(0, 1), min_size=7, max_size=7))
def test_what_is_replaced_stands_behind_and_nothing_falls(texts: list[ComparedText], scores: list[float]) -> None:
    newer = find_replaced(texts)
    result = raise_newer(scores[: len(texts)], newer)
    assert all(texts[new].at > texts[old].at for old, new in newer.items())
    assert all(result[new] > scores[old] for old, new in newer.items())
    assert all(after >= before for before, after in zip(scores, result, strict=False))


@given(TEXTS)
def test_a_copy_is_of_something_that_is_none(texts: list[ComparedText]) -> None:
    same = find_copies(texts)
    assert all(first < later and first not in same for later, first in same.items())
