"""Text by Engram is recognized; text that others derive from it is not ours."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.dream import own_words
from engram.search import briefing

TOLD = (
    "- codex 2026-03-10 user [x12]\n> The deploy key of billing lives in vault under ops, and only the release job may"
    " read it; ask Ada before you rotate it.\n- claude 2026-03-11 assistant [x15]\n> Retries of the payment queue are"
    " capped at five since the outage of March, because every retry was billed twice by the provider."
)
ANSWER = (
    "I looked into the rotation. According to memory the deploy key of billing lives in vault under ops, and only the"
    " release job may read it. So I changed the workflow to fetch the key inside that job, removed the two places that"
    " read it from the environment, and added a check that fails when another job asks for it. The tests of the release"
    " workflow pass. I did not rotate the key itself: that needs somebody with access to the vault."
)


def test_what_was_told_comes_back_whole_or_in_part() -> None:
    known = own_words.hash_own_text(TOLD)
    assert own_words.is_echo(TOLD, known)
    assert own_words.is_echo(f"<context>\n{TOLD}\n</context>\n\nPlease rotate the key.", known)
    assert own_words.is_echo(TOLD.partition("\n- claude")[0], known)


def test_an_answer_that_quotes_a_line_is_an_answer() -> None:
    assert not own_words.is_echo(ANSWER, own_words.hash_own_text(TOLD))


def test_what_is_short_proves_nothing() -> None:
    assert not own_words.is_echo("ask Ada before you rotate it", own_words.hash_own_text(TOLD))


def test_a_block_of_ours_is_known_by_its_heading() -> None:
    for mark in briefing.MARKERS:
        assert own_words.is_echo(f"fix it\n\n{mark}\n> something else", frozenset())
    assert briefing.ASKED in briefing.MARKERS


@given(st.text(max_size=300))
def test_nothing_is_an_echo_of_nothing(said: str) -> None:
    assert not own_words.is_echo(said, frozenset())
