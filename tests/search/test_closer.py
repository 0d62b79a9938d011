"""Sentence match: the sentence with most of a question, and whether it is a statement."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.search.sentence_match import SentenceMatcher, match_texts

RARITY = {"redis": 3.0, "queue": 2.0, "slow": 1.0}


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Redis is slow. The queue is not.", 4 / 6),
        ("Redis. The queue is slow!", 3 / 6),
        ("redis queue slow", 1.0),
        ("Redis\n\nqueue\nslow", 3 / 6),
        ("nothing of it", 0.0),
        ("predisposed", 0.0),
        ("queues", 2 / 6),
        ("", 0.0),
    ],
)
def test_the_best_sentence_counts(text: str, share: float) -> None:
    (look,) = match_texts(RARITY, [text])
    assert look.sentence == pytest.approx(share)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("I moved the queue to Redis.", True),
        ("Our queue is slow.", True),
        ("Should I move the queue?", False),
        ("The queue is slow.", False),
        ("I like tea. The queue is slow.", False),
        ("I like the queue. Redis is slow.", False),
        ("The queue is slow. I like tea.", False),
        ("Is it slow? I moved the queue to Redis.", True),
        ("We talked. The queue failed.\nRedis and the queue are slow.", False),
    ],
)
def test_a_statement_is_told_by_the_sentence_that_answers(text: str, is_one: bool) -> None:
    (look,) = match_texts(RARITY, [text])
    assert look.statement is is_one


def test_nothing_asked_is_nothing_found() -> None:
    (look,) = match_texts({}, ["I moved the queue."])
    assert (look.sentence, look.statement) == (0.0, False)


@given(st.text(max_size=500), st.dictionaries(st.text(min_size=1, max_size=6), st.floats(0.1, 9), max_size=5))
def test_any_text_can_be_looked_at(text: str, rarity: dict[str, float]) -> None:
    look = SentenceMatcher(rarity).match_text(text)
    assert 0.0 <= look.sentence <= 1.0 + 1e-9


def test_a_long_page_is_looked_at_in_bounded_time() -> None:
    match_texts({f"word{n}": 1.0 for n in range(48)}, ["word1 word2. " * 100_000] * 20)
