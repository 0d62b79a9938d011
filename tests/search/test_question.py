"""Any text is parsed into words, phrases, prefixes and a time."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.search.query import parse_question

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=timezone.utc)


def test_words_come_once_and_in_order() -> None:
    assert parse_question("redis cache, Redis queue", NOW).words == ("redis", "cach", "queu")


def test_a_phrase_is_kept_as_it_stands() -> None:
    asked = parse_question('who said "Drop  the Café" and "x"?', NOW)
    assert asked.phrases == ("drop the cafe",)
    assert {"drop", "caf"} <= {*asked.words}


@pytest.mark.parametrize("text", ['an "open end', '""', '"a"', '" "', '"   "', '"\n"'])
def test_odd_quotes_are_no_phrase(text: str) -> None:
    assert not any(parse_question(text, NOW).phrases)


def test_a_beginning_is_told_by_its_star() -> None:
    asked = parse_question("conn* pool", NOW)
    assert asked.beginnings == ("conn",)
    assert asked.words == ("pool",)


def test_a_hash_may_be_the_beginning_of_a_longer_one() -> None:
    assert parse_question("what did 3f2a9c1 change", NOW).beginnings == ("3f2a9c1",)
    assert parse_question("the deadbeef of 12345678", NOW).beginnings == ()


def test_words_of_time_say_when_and_are_not_looked_for() -> None:
    asked = parse_question("what did we decide about redis last week", NOW)
    assert asked.window
    assert asked.window.since
    assert asked.window.until
    assert (asked.window.since.date().isoformat(), asked.window.until.date().isoformat()) == (
        "2026-11-09",
        "2026-11-16",
    )
    assert "week" not in asked.words
    assert "redis" in asked.words


def test_a_question_of_nothing_but_time_still_has_words() -> None:
    assert parse_question("yesterday", NOW).words == ("yesterday",)


def test_a_page_is_asked_by_so_many_words_and_beginnings() -> None:
    asked = parse_question(" ".join(f"w{n} {n:06x}a{n:03x} b{n}*" for n in range(3000)), NOW)
    assert len(asked.words) <= 48
    assert len(asked.beginnings) <= 48


@given(st.text(st.characters(codec="utf-8"), max_size=300))
def test_any_text_is_a_question(text: str) -> None:
    asked = parse_question(text, NOW)
    assert asked.text == text
    assert all(asked.words)
    assert all(asked.beginnings)
    assert all(asked.phrases)
