"""Times are read by the user's calendar, and other words are left alone."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from re._constants import MAXREPEAT  # type: ignore[import-not-found]
from re._parser import parse  # type: ignore[import-not-found]
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.search.time_expressions import _PATTERNS, Window, find_window

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 18, 15, 30, tzinfo=BERLIN)  # a Wednesday

CERTAIN = [
    ("what did we decide today?", "2026-11-18", "2026-11-19"),
    ("yesterday", "2026-11-17", "2026-11-18"),
    ("the day before yesterday", "2026-11-16", "2026-11-17"),
    ("yesterday afternoon", "2026-11-17 12", "2026-11-17 18"),
    ("last night", "2026-11-17 18", "2026-11-18 06"),
    ("this morning", "2026-11-18 05", "2026-11-18 12"),
    ("this week", "2026-11-16", "2026-11-23"),
    ("last week", "2026-11-09", "2026-11-16"),
    ("the previous week", "2026-11-09", "2026-11-16"),
    ("the week before last", "2026-11-02", "2026-11-09"),
    ("in the past week", "2026-11-11", "2026-11-19"),
    ("last month", "2026-10-01", "2026-11-01"),
    ("this quarter", "2026-10-01", "2027-01-01"),
    ("last quarter", "2026-07-01", "2026-10-01"),
    ("last year", "2025-01-01", "2026-01-01"),
    ("last weekend", "2026-11-14", "2026-11-16"),
    ("over the weekend", "2026-11-14", "2026-11-16"),
    ("what did I say on Monday", "2026-11-16", "2026-11-17"),
    ("last Tuesday", "2026-11-17", "2026-11-18"),
    ("this Friday", "2026-11-13", "2026-11-14"),
    ("on Wednesday", "2026-11-11", "2026-11-12"),
    ("on Sat", "2026-11-14", "2026-11-15"),
    ("Friday last week", "2026-11-13", "2026-11-14"),
    ("last week on Tuesday", "2026-11-10", "2026-11-11"),
    ("3 days ago", "2026-11-15", "2026-11-16"),
    ("two weeks ago", "2026-11-01", "2026-11-08"),
    ("a month ago", "2026-10-03", "2026-11-03"),
    ("in the last 3 days", "2026-11-15", "2026-11-19"),
    ("in the last 24 hours", "2026-11-17 15:30", "2026-11-19"),
    ("in May", "2026-05-01", "2026-06-01"),
    ("in december", "2025-12-01", "2026-01-01"),
    ("in May 2024", "2024-05-01", "2024-06-01"),
    ("the January release", "2026-01-01", "2026-02-01"),
    ("last November", "2025-11-01", "2025-12-01"),
    ("May of last year", "2025-05-01", "2025-06-01"),
    ("on 2024-05-03", "2024-05-03", "2024-05-04"),
    ("at 2024-05-03T10:15:00Z", "2024-05-03", "2024-05-04"),
    ("13/03/2024", "2024-03-13", "2024-03-14"),
    ("May 3rd", "2026-05-03", "2026-05-04"),
    ("on Dec. 3", "2025-12-03", "2025-12-04"),
    ("3 May 2024", "2024-05-03", "2024-05-04"),
    ("the 3rd of May", "2026-05-03", "2026-05-04"),
    ("Monday, May 4th", "2026-05-04", "2026-05-05"),
    ("May 3-7, 2024", "2024-05-03", "2024-05-08"),
    ("February 29", "2024-02-29", "2024-03-01"),
    ("since Monday", "2026-11-16", None),
    ("since may", "2026-05-01", None),
    ("before June", None, "2026-06-01"),
    ("until last week", None, "2026-11-16"),
    ("after 2024-05-03", "2024-05-04", None),
    ("between March and May", "2026-03-01", "2026-06-01"),
    ("from Monday to yesterday", "2026-11-16", "2026-11-18"),
    ("from November to February", "2025-11-01", "2026-03-01"),
    ("between 2019 and 2021", "2019-01-01", "2022-01-01"),
    ("in 2023 we moved", "2023-01-01", "2024-01-01"),
    ("in 2031", "2031-01-01", "2032-01-01"),
    ("Q2 2024", "2024-04-01", "2024-07-01"),
    ("2024-Q4", "2024-10-01", "2025-01-01"),
    ("on New Year’s Eve", "2025-12-31", "2026-01-01"),
]

VAGUE = [
    ("tonight", "2026-11-18", "2026-11-19"),
    ("this weekend", "2026-11-14", "2026-11-16"),
    ("a couple of weeks ago", "2026-10-25", "2026-11-15"),
    ("a few weeks ago", "2026-10-11", "2026-11-08"),
    ("several months ago", "2026-03-03", "2026-09-03"),
    ("about 3 weeks ago", "2026-10-18", "2026-11-08"),
    ("2-3 weeks ago", "2026-10-25", "2026-11-08"),
    ("over the past few weeks", "2026-10-14", "2026-11-19"),
    ("an hour ago", "2026-11-18 14", "2026-11-18 15"),
    ("early March", "2026-03-01", "2026-03-13"),
    ("mid-March 2024", "2024-03-09", "2024-03-23"),
    ("the end of May", "2026-05-18", "2026-06-01"),
    ("late 2023", "2023-09-01", "2024-01-01"),
    ("05/03/2024", "2024-05-03", "2024-05-04"),
    ("in the spring", "2026-03-01", "2026-06-01"),
    ("last fall", "2025-09-01", "2025-12-01"),
    ("summer of 2023", "2023-06-01", "2023-09-01"),
    ("in the winter of 2023", "2022-12-01", "2024-03-01"),
    ("at Christmas", "2025-12-24", "2025-12-27"),
    ("New Year 2024", "2023-12-31", "2024-01-02"),
    ("in Q3", "2026-07-01", "2026-10-01"),
    ("recently", "2026-10-19", "2026-11-19"),
]

NO_TIMES = [
    "", "I may go", "this may be wrong", "the 3rd may fail", "march on", "the 2 march off", "I sat down in the sun",
    "the wed mon", "a second opinion", "fall over", "does this fall under that?", "python 3.11 and 1.2.3",
    "v2024-05-03",
    "see 2024-05-03.log", "logs/2024/05/03/x", "`since May 2024`", "```\nsince May 2024\n```", "next Friday",
    "every Monday",
    "on Mondays", "in 2000 lines", "the year is 2023", "30 February 2024", "2024-13-45", "9999 years ago",
    "in the Spring context", "after today", "May I?", "Monday-Friday", "half a year ago", "today(hub)",
]  # fmt: skip


def moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    shape = "%Y-%m-%d %H:%M" if ":" in text else "%Y-%m-%d %H" if " " in text else "%Y-%m-%d"
    return datetime.strptime(text, shape).replace(tzinfo=BERLIN)


def read(text: str, now: datetime = NOW) -> Window:
    window = find_window(text, now)
    assert window is not None, text
    return window


@pytest.mark.parametrize(("text", "since", "until"), CERTAIN)
def test_an_exact_expression_is_a_certain_window(text: str, since: str | None, until: str | None) -> None:
    result = read(text)
    assert (result.since, result.until, result.certain) == (moment(since), moment(until), True)


@pytest.mark.parametrize(("text", "since", "until"), VAGUE)
def test_a_vague_expression_is_a_window_that_says_so(text: str, since: str, until: str) -> None:
    result = read(text)
    assert (result.since, result.until, result.certain) == (moment(since), moment(until), False)


@pytest.mark.parametrize("text", NO_TIMES)
def test_words_that_are_no_past_time_are_left_alone(text: str) -> None:
    assert find_window(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What broke in the last week?", "in the last week"),
        ("İSTANBUL trip since Monday!", "since Monday"),
        ("runs from March to May, then", "from March to May"),
        ("recently, or was it in May?", "in May"),
        ("`in June` or in May", "in May"),
    ],
)
def test_the_words_of_the_expression_are_told(text: str, words: str) -> None:
    start, end = read(text).words
    assert text[start:end] == words


@pytest.mark.parametrize(
    ("now", "text", "since", "until"),
    [
        ("2026-03-31", "last month", "2026-02-01", "2026-03-01"),
        ("2026-03-31", "in the past month", "2026-02-28", "2026-04-01"),
        ("2024-02-29", "in the past year", "2023-02-28", "2024-03-01"),
        ("2026-03-10", "in May", "2025-05-01", "2025-06-01"),
        ("2026-04-10", "between March and May", "2025-03-01", "2025-06-01"),
        ("2026-11-22", "last weekend", "2026-11-14", "2026-11-16"),
        ("2026-11-22", "this weekend", "2026-11-21", "2026-11-23"),
        ("2026-01-01", "last week", "2025-12-22", "2025-12-29"),
        ("2026-07-10", "last summer", "2025-06-01", "2025-09-01"),
    ],
)
def test_months_and_years_end_where_the_calendar_says(now: str, text: str, since: str, until: str) -> None:
    asked = moment(now)
    assert asked is not None
    result = read(text, asked.replace(hour=12))
    assert (result.since, result.until) == (moment(since), moment(until))


def test_a_day_on_which_the_clocks_change_is_the_whole_day() -> None:
    result = read("yesterday", datetime(2026, 3, 30, 9, tzinfo=BERLIN))  # 29 March has 23 hours
    assert result.since is not None
    assert result.until is not None
    assert result.until.timestamp() - result.since.timestamp() == 23 * 3600
    assert result.since.utcoffset() == timedelta(hours=1)
    assert result.until.utcoffset() == timedelta(hours=2)


def test_hours_are_counted_across_a_change_of_the_clocks() -> None:
    now = datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1)
    result = read("in the last 3 hours", now)
    assert result.since is not None
    assert now.timestamp() - result.since.timestamp() == 3 * 3600


@pytest.mark.parametrize(
    "piece",
    [
        "`", "```", "last ", "in the last ", "between May and ", "1 ", "2024-", "12/12/", "may ", "a few ",
        "the day before ", "from may to june ", "\n\t", "about about ", "new year's ", "q1 ", "İ",
    ],
)  # fmt: skip
def test_a_hundred_kilobytes_of_hostile_text_are_read(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    window = find_window(text, NOW)
    assert window is None or window.words[1] <= len(text)


def test_no_pattern_repeats_without_bound() -> None:
    def unbounded(parsed: Any) -> bool:
        if isinstance(parsed, tuple | list) or hasattr(parsed, "data"):
            return any(unbounded(each) for each in getattr(parsed, "data", parsed))
        return parsed is MAXREPEAT

    assert unbounded(parse("(?:a|b(?=c*))"))
    assert [pattern for pattern, _ in _PATTERNS if unbounded(parse(pattern))] == []


WORDS = st.sampled_from(
    re.findall(
        r"\S+",
        """
        since before after until between and from to in on the last this past next early late of ago about a
        few couple 3 2 31 days weeks months years week month quarter weekend monday Sat May march december
        2024 2031 1999 3rd 2024-02-30 5/6/24 02/29/2023 Q1 fall winter Christmas yesterday tonight night
        morning recently hours - , . ` '
        """,
    )
)
ZONES = st.sampled_from(
    [timezone.utc, BERLIN, ZoneInfo("America/Sao_Paulo"), ZoneInfo("Pacific/Apia"), ZoneInfo("Africa/Cairo"),
     timezone(timedelta(hours=5, minutes=45))]
)  # fmt: skip
MOMENTS = st.datetimes(datetime(1980, 1, 1), datetime(2090, 1, 1), timezones=ZONES)  # noqa: DTZ001


def holds(text: str, now: datetime) -> None:
    window = find_window(text, now)
    if window is None:
        return
    assert window.since is not None or window.until is not None
    assert 0 <= window.words[0] < window.words[1] <= len(text)
    assert all(each.tzinfo is now.tzinfo for each in (window.since, window.until) if each)
    if window.since and window.until:
        assert window.since.timestamp() < window.until.timestamp()


@given(st.lists(WORDS, max_size=12).map(" ".join), MOMENTS)
def test_a_window_begins_before_it_ends_in_the_zone_of_the_asker(text: str, now: datetime) -> None:
    holds(text, now)


@given(st.text(), MOMENTS)
def test_no_text_is_too_strange(text: str, now: datetime) -> None:
    holds(text, now)


@given(st.lists(WORDS.filter(lambda word: not any(map(str.isdigit, word))), max_size=8).map(" ".join), MOMENTS)
def test_without_a_year_nothing_lies_ahead(text: str, now: datetime) -> None:
    window = find_window(text, now)
    if window and window.since:
        assert window.since.timestamp() <= now.timestamp()
