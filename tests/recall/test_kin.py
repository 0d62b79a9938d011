"""What says the same, and what a newer statement replaces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.index.words import words
from engram.recall.kin import Said, copies, raised, replaced


def said(text: str, at: int = 0, statement: bool = True) -> Said:
    return Said(words=frozenset(words(text)), at=at, statement=statement)


def test_what_says_the_same_is_folded_into_the_first() -> None:
    texts = [said("we use redis for the cache"), said("postgres holds the truth"), said("We use Redis for the cache!")]
    assert copies(texts) == {2: 0}


def test_copies_of_copies_belong_to_the_first() -> None:
    assert copies([said("red green blue")] * 3) == {1: 0, 2: 0}


def test_a_newer_statement_on_the_subject_replaces_the_older() -> None:
    old, new = said("the deploy key of billing is in vault", 1), said("the deploy key of billing is in doppler", 2)
    assert replaced([old, new]) == {0: 1}
    assert replaced([new, old]) == {1: 0}


def test_the_newest_of_several_replaces_them_all() -> None:
    texts = [
        said(f"the deploy key of billing is in {place}", at) for at, place in enumerate(("vault", "doppler", "pass"))
    ]
    assert replaced(texts) == {0: 2, 1: 2}


def test_a_question_an_answer_and_another_subject_replace_nothing() -> None:
    old = said("the deploy key of billing is in vault", 1)
    assert replaced([old, said("the deploy key of billing is in doppler", 2, statement=False)]) == {}
    assert replaced([old, said("lunch on friday is at the harbour", 2)]) == {}
    assert replaced([old, said("the deploy key of billing is in doppler", 1)]) == {}


def test_a_short_word_and_a_long_page_are_no_statements() -> None:
    page = " ".join(f"word{n}" for n in range(80))
    assert replaced([said("okay then", 1), said("okay now", 2), said(page, 3), said(f"{page} more", 4)]) == {}


TEXTS = st.lists(
    st.tuples(st.lists(st.sampled_from("abcdefg"), min_size=0, max_size=6), st.integers(0, 3), st.booleans()),
    max_size=7,
).map(lambda rows: [Said(words=frozenset(found), at=at, statement=is_one) for found, at, is_one in rows])


@given(TEXTS, st.lists(st.floats(0, 1), min_size=7, max_size=7))
def test_what_is_replaced_stands_behind_and_nothing_falls(texts: list[Said], scores: list[float]) -> None:
    newer = replaced(texts)
    found = raised(scores[: len(texts)], newer)
    assert all(texts[new].at > texts[old].at for old, new in newer.items())
    assert all(found[new] > scores[old] for old, new in newer.items())
    assert all(after >= before for before, after in zip(scores, found, strict=False))


@given(TEXTS)
def test_a_copy_is_of_something_that_is_none(texts: list[Said]) -> None:
    same = copies(texts)
    assert all(first < later and first not in same for later, first in same.items())
