"""Sessions captured by versions without exchanges get them at the next sweep."""

from __future__ import annotations

from pathlib import Path

from engram import Engram
from tests.capture.transcripts import Claude


def as_before(engram: Engram) -> None:
    """Put a store into the state of a version without exchanges."""
    with engram.engine.transaction():
        for sql in ("delete from exchanges", "delete from unindexed", "delete from postings", "delete from vectors",
                    "delete from segments", "update captures set exchanged = 0"):  # fmt: skip
            engram.engine.run(sql)


def worked(home: Path) -> Claude:
    work = Claude(home)
    work.says("Mend the redis cache.")
    work.runs("make check", "4 passed")
    work.answers("The redis cache works again.")
    return work


def test_messages_captured_earlier_become_exchanges(engram: Engram, home: Path) -> None:
    worked(home)
    engram.ingest()
    (session,) = [capture.session.id for capture in engram.list_sessions()]
    before = [
        (exchange.role, exchange.content, exchange.created_at, exchange.origin) for exchange in engram.history(session)
    ]
    assert [role for role, *_ in before] == ["user", "assistant"]
    as_before(engram)
    assert engram.history(session) == []
    engram.ingest()
    assert [(turn.role, turn.content, turn.created_at, turn.origin) for turn in engram.history(session)] == before
    assert engram.recall("redis cache", tiers=["exchange"])[0].session_id == session
    engram.ingest()
    assert len(engram.history(session)) == 2
    assert engram.engine.run("select num from captures where exchanged = 0") == []


def test_a_session_that_grows_meanwhile_has_each_message_once(engram: Engram, home: Path) -> None:
    work = worked(home)
    engram.ingest()
    as_before(engram)
    work.says("And the queue?")
    engram.ingest()
    (session,) = [capture.session.id for capture in engram.list_sessions()]
    said = [exchange.content for exchange in engram.history(session)]
    assert said == ["Mend the redis cache.", "The redis cache works again.", "And the queue?"]


def test_a_message_is_found_as_an_exchange_and_not_again_as_an_event(engram: Engram, home: Path) -> None:
    worked(home)
    engram.ingest()
    as_before(engram)
    engram.ingest()
    tiers = [hit.tier for hit in engram.recall("redis cache works again", k=20, messages=True)]
    assert "event" not in tiers
    assert "exchange" in tiers
