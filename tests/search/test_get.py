"""The full text of a hit, with its context."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.errors import InvalidInput, NotFound
from tests.capture.transcripts import Claude
from tests.summaries.talking import said

BEGAN = "2026-03-10T12:00:00+00:00"
TALK = [f"Message number {n}." for n in range(9)]


def contents(found: object) -> list[str]:
    return [exchange.content for exchange in found.exchanges]  # type: ignore[attr-defined]


def test_an_exchange_comes_with_what_was_said_before_and_after_in_order(engram: Engram) -> None:
    said(engram, "a", BEGAN, *TALK)
    said(engram, "b", BEGAN, "Somebody else.")
    middle = engram.history("a")[4]
    response = engram.get(f"x{middle.id}")
    assert (response.tier, response.session_id, response.content) == ("exchange", "a", TALK[4])
    assert contents(response) == TALK[2:7]
    assert contents(engram.get(f"x{middle.id}", around=0)) == [TALK[4]]
    assert contents(engram.get(f"x{middle.id}", around=1000)) == TALK


def test_the_edges_of_a_session_have_one_side(engram: Engram) -> None:
    said(engram, "a", BEGAN, *TALK)
    first, *_, last = engram.history("a")
    assert contents(engram.get(f"x{first.id}")) == TALK[:3]
    assert contents(engram.get(f"x{last.id}")) == TALK[-3:]


def test_surroundings_go_by_time_not_by_the_order_of_storing(engram: Engram) -> None:
    said(engram, "a", "2026-03-10T12:00:00+00:00", "Later.")
    said(engram, "a", "2026-03-09T12:00:00+00:00", "Earlier.")
    said(engram, "a", "2026-03-11T12:00:00+00:00", "Last.")
    later = next(version for version in engram.history("a") if version.content == "Later.")
    assert contents(engram.get(f"x{later.id}", around=1)) == ["Earlier.", "Later.", "Last."]


def test_a_passage_comes_with_its_session(engram: Engram) -> None:
    said(engram, "a", BEGAN, "Let's drop MySQL because it is slow.", "Dropped. Next step: port the reports.")
    engram.summarize()
    hit = engram.recall_summaries("MySQL")[0]
    response = engram.get(hit.id)
    assert (response.tier, response.session_id) == ("gist", "a")
    assert "MySQL" in response.content
    assert contents(response)[0].startswith("Let's drop")


def test_an_event_comes_with_what_was_said_around_it(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Run the tests.")
    work.runs("make check", "ORA-00942: table INVOICES does not exist")
    work.answers("A table is missing.")
    engram.ingest()
    hit = next(hit for hit in engram.recall("ORA-00942", tiers=["event"]))
    response = engram.get(hit.id, around=1)
    assert (response.tier, response.session_id) == ("event", hit.session_id)
    assert "ORA-00942" in response.content
    assert contents(response) == ["Run the tests.", "A table is missing."]


@pytest.mark.parametrize(
    "called", ["", " ", "x", "12", "y12", "x-1", "x1.5", "X1", "x12 ", "xx1", "x1\n", "p" + "9" * 30]
)
def test_what_is_no_id_is_refused(engram: Engram, called: str) -> None:
    with pytest.raises(InvalidInput, match="id"):
        engram.get(called)


@pytest.mark.parametrize("called", ["x1", "p1", "e1", "x0", "x" + "9" * 18, "e" + "9" * 18])
def test_what_is_not_here_is_said_to_be_so(engram: Engram, called: str) -> None:
    with pytest.raises(NotFound, match="may have been deleted"):
        engram.get(called)


def test_fewer_than_none_around_is_refused(engram: Engram) -> None:
    with pytest.raises(InvalidInput, match="around"):
        engram.get("x1", around=-1)


def test_what_was_deleted_cannot_be_got(engram: Engram) -> None:
    number = engram.remember("a", "user", "The kestrel nests above the garage.")
    engram.delete_session("a")
    with pytest.raises(NotFound):
        engram.get(f"x{number}")
