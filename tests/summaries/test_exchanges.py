"""Messages are stored permanently, once, in the order they were said."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram import Engram
from engram.errors import InvalidInput, NotFound, TooLarge
from engram.types import Exchange
from tests.summaries.talking import said

AT = "2026-03-10T12:00:00+00:00"


def contents(found: list[Exchange]) -> list[str]:
    return [each.content for each in found]


# ---- Remember


def test_a_message_is_kept_with_its_number_and_its_time(timed: Engram, clock: Any) -> None:
    """LY-038, LY-039."""
    number = timed.remember("a", "user", "I have nine apple trees.")
    (kept,) = timed.history("a")
    assert (kept.id, kept.session_id, kept.role, kept.content) == (number, "a", "user", "I have nine apple trees.")
    assert (kept.score, kept.origin) == (None, "user")
    assert kept.created_at.utcoffset() is not None
    assert kept.created_at.timestamp() == clock.wall / 1_000_000


def test_numbers_rise_and_the_same_word_may_be_said_twice(engram: Engram) -> None:
    one, other = engram.remember("a", "user", "Yes."), engram.remember("a", "user", "Yes.")
    assert one < other
    assert contents(engram.history("a")) == ["Yes.", "Yes."]


@pytest.mark.parametrize(
    ("role", "origin", "kept"),
    [("user", None, "user"), ("assistant", None, "assistant"), ("tool", None, "tool"), ("system", None, "tool"),
     ("narrator", None, "tool"), ("user", "import", "import"), ("user", "tool", "tool")],
)  # fmt: skip
def test_how_far_a_message_can_be_trusted_is_kept(engram: Engram, role: str, origin: str | None, kept: str) -> None:
    engram.remember("a", role, "Hello there.", origin=origin)
    assert engram.history("a")[0].origin == kept


@pytest.mark.parametrize(
    "wrong",
    [{"content": ""}, {"content": " \n"}, {"role": ""}, {"session_id": ""}, {"session_id": "a\nb"}, {"origin": "god"}],
)
def test_a_message_that_says_nothing_or_comes_from_nowhere_is_refused(engram: Engram, wrong: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        engram.remember(**{"session_id": "a", "role": "user", "content": "Hello.", **wrong})
    assert engram.engine.run("select id from exchanges") == []


def test_a_message_may_be_large_but_not_without_end(engram: Engram) -> None:
    """LY-B15."""
    engram.remember("a", "user", "x" * 1024 * 1024)
    with pytest.raises(TooLarge):
        engram.remember("a", "user", "x" * 1024 * 1024 + "x")
    with pytest.raises(TooLarge):
        engram.add_exchanges_bulk("a", [{"role": "user", "content": "é" * 600_000, "at": AT}])
    assert len(engram.history("a")) == 1


def test_a_secret_is_taken_out_before_the_first_write(engram: Engram) -> None:
    """LY-B15: neither remembered nor imported messages keep it, nor does the index."""
    key = "AKIA" + "Z7QK2M4XW9RT3VLB"
    engram.remember("a", "user", f"My key is {key}, do not tell.")
    engram.add_exchanges_bulk("a", [{"role": "user", "content": f"Again {key} here.", "at": AT}])
    engram.index()
    assert not [content for content in contents(engram.history("a")) if key in content]
    assert len(contents(engram.history("a"))) == 2
    assert engram.engine.run("select term from postings where term like '%akia%'") == []
    assert engram.recall(key) == []


@pytest.mark.parametrize("text", ["NUL \0 here", "\x1b[31mred", "\ud800 alone", "💥 数据库 \u200d", "a\r\nb"])
def test_any_letters_can_be_kept(engram: Engram, text: str) -> None:
    engram.remember("a", "user", text)
    (kept,) = contents(engram.history("a"))
    assert kept
    assert "\x1b" not in kept
    assert "\0" not in kept


# ---- Many messages


def rows(*texts: str, start: int = 0) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": text, "at": f"2026-03-10T12:{n + start:02}:00+00:00"}
        for n, text in enumerate(texts)
    ]


def test_many_are_kept_once_however_often_they_come(engram: Engram) -> None:
    """LY-040, LY-B08."""
    assert engram.add_exchanges_bulk("a", rows("one", "two")) == 2
    assert engram.add_exchanges_bulk("a", rows("one", "two", "three")) == 1
    assert engram.add_exchanges_bulk("a", rows("one", "two", "three")) == 0
    assert engram.add_exchanges_bulk("b", rows("one")) == 1
    assert contents(engram.history("a")) == ["one", "two", "three"]


def test_the_same_word_twice_at_one_time_is_two(engram: Engram) -> None:
    twice = [*rows("yes"), *rows("yes")]
    assert engram.add_exchanges_bulk("a", twice) == 2
    assert engram.add_exchanges_bulk("a", twice) == 0
    assert engram.add_exchanges_bulk("a", [*twice, *rows("yes")]) == 1


@pytest.mark.parametrize(
    "bad",
    [{"role": "user", "content": "x"}, {"content": "x", "at": AT},
     {"role": "user", "content": 7, "at": AT}, {"role": "user", "content": "x", "at": "soon"},
     {"role": "user", "content": "x", "at": 10**18}, {"role": "user", "content": "x", "at": 10**30},
     {"role": "user", "content": "x", "at": "9999-12-31T23:59:59-11:00"}, {"role": "user", "content": "x", "at": True},
     {"role": "user", "content": "x", "at": AT, "origin": "god"}, {}],
)  # fmt: skip
def test_many_are_kept_all_or_none(engram: Engram, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        engram.add_exchanges_bulk("a", [*rows("one", "two"), bad])
    assert engram.engine.run("select id from exchanges") == []
    assert engram.engine.run("select id from sessions") == []


def test_empty_messages_among_many_are_passed_over(engram: Engram) -> None:
    assert engram.add_exchanges_bulk("a", [*rows("one"), {"role": "user", "content": " ", "at": AT}]) == 1


@pytest.mark.parametrize("wrong", [None, "text", {"role": "user"}, [["user", "x", AT]], [None]])
def test_what_is_no_list_of_messages_is_refused(engram: Engram, wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="rows"):
        engram.add_exchanges_bulk("a", wrong)


def test_none_at_all_makes_no_session(engram: Engram) -> None:
    assert engram.add_exchanges_bulk("a", []) == 0
    assert engram.engine.run("select id from sessions") == []


def test_a_time_without_a_zone_is_utc_and_any_zone_is_the_same_moment(engram: Engram) -> None:
    """LY-035."""
    times = ["2026-03-10T12:00:00", "2026-03-10T12:00:00Z", "2026-03-10T14:00:00+02:00", 1_773_144_000_000_000]
    for n, at in enumerate(times):
        engram.add_exchanges_bulk(f"s{n}", [{"role": "user", "content": "x y z", "at": at}])
    assert {engram.history(f"s{n}")[0].created_at.isoformat() for n in range(4)} == {AT}


IMPORT = """
import sys
from engram import Engram
with Engram(store=sys.argv[1]) as engram:
    sys.stdin.readline()
    for n in range(20):
        rows = [{"role": "user", "content": f"Message {m}", "at": 1_700_000_000_000_000 + m} for m in range(n + 5)]
        engram.add_exchanges_bulk("a", rows)
"""


def test_processes_that_import_the_same_keep_it_once(engram: Engram, store: str) -> None:
    words = [sys.executable, "-c", IMPORT, store]
    workers = [subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    problems = [worker.communicate("go\n", timeout=100)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0, 0], problems
    assert contents(engram.history("a")) == [f"Message {n}" for n in range(24)]


# ---- In order


def test_order_is_by_time_not_by_number(engram: Engram) -> None:
    """LY-041, LY-042, LY-046, LY-B07."""
    said(engram, "a", "2026-03-10T12:00:00+00:00", "third", "fourth")
    said(engram, "a", "2025-01-01T12:00:00+00:00", "first", "second")
    assert contents(engram.history("a")) == ["first", "second", "third", "fourth"]
    assert contents(engram.recent("a", 3)) == ["second", "third", "fourth"]
    assert contents(engram.recent("a")) == ["first", "second", "third", "fourth"]


def test_at_one_time_the_first_stored_is_first(engram: Engram) -> None:
    engram.add_exchanges_bulk("a", [{"role": "user", "content": text, "at": AT} for text in ("b", "a", "c")])
    assert contents(engram.history("a")) == ["b", "a", "c"]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(1, 15))
def test_recent_is_the_end_of_history(timed: Engram, times: list[int], count: int) -> None:
    name = f"s{len(timed.engine.run('select id from sessions'))}"
    for n, at in enumerate(times):
        timed.add_exchanges_bulk(name, [{"role": "user", "content": f"m{n}", "at": at}])
    whole = timed.history(name)
    assert [each.created_at for each in whole] == sorted(each.created_at for each in whole)
    assert timed.recent(name, count) == whole[-count:]


def test_a_session_nobody_heard_of_is_not_found(engram: Engram) -> None:
    for ask in (engram.history, engram.recent):
        with pytest.raises(NotFound):
            ask("nobody")
    with pytest.raises(InvalidInput):
        engram.history("")
    engram.remember("a", "user", "Hello.")
    with pytest.raises(InvalidInput, match="n: "):
        engram.recent("a", 0)


def test_a_session_is_found_by_the_beginning_of_its_name(engram: Engram) -> None:
    engram.remember("billing-rework", "user", "Hello.")
    assert contents(engram.history("billing")) == ["Hello."]


# ---- Sessions


def test_a_session_keeps_its_name(engram: Engram) -> None:
    """LY-043: set only when one is given, never cleared."""
    assert engram.ensure_session("a") == "a"
    assert engram.get_session("a").summary == ""
    engram.ensure_session("a", "The rework")
    engram.ensure_session("a")
    engram.ensure_session("a", "")
    engram.remember("a", "user", "Hello.")
    assert engram.get_session("a").summary == "The rework"
    engram.ensure_session("a", "Another")
    assert engram.get_session("a").summary == "Another"


def test_a_session_only_remembered_began_with_its_first_message(engram: Engram) -> None:
    """LY-045, LY-070."""
    said(engram, "a", AT, "Hello.")
    assert engram.get_session("a").started_at.isoformat() == AT


def test_a_session_is_as_old_as_its_earliest_message_also_where_that_comes_later(engram: Engram) -> None:
    """LY-045."""
    said(engram, "a", AT, "Hello.")
    said(engram, "a", "2025-01-01T12:00:00+00:00", "Long ago.")
    assert engram.get_session("a").started_at.isoformat() == "2025-01-01T12:00:00+00:00"


def test_remembering_in_a_session_at_work_does_not_end_it(engram: Engram, tmp_path: Any) -> None:
    session = engram.register("claude", "works", cwd=str(tmp_path))
    engram.remember(session, "user", "Hello.")
    assert engram.get_session(session).status == "active"
    assert engram.get_session(session).summary == "works"


def test_sessions_that_only_remember_are_listed(engram: Engram) -> None:
    """LY-044: named ones, and those with messages only, newest first."""
    said(engram, "old", "2025-01-01T12:00:00+00:00", "Hello.")
    said(engram, "new", AT, "Hello again.")
    assert [capture.session.id for capture in engram.list_sessions()] == ["new", "old"]


def test_the_same_note_is_stored_once(engram: Engram) -> None:
    note = engram.remember("notes", "user", "Staging is in Frankfurt.")
    engram.remember("notes", "user", "Production is in Oslo.")
    assert engram.remember("notes", "user", "Staging is in Frankfurt.") == note
