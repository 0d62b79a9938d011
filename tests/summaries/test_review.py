"""Deletion also holds under concurrency: in the write-ahead log, in cached replies, and against slow writers."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.errors import NotFound
from engram.store import model_calls
from engram.summaries import versions

WORD = "kookaburrax"


def test_a_deleted_word_is_in_no_file_while_another_has_the_store_open(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Engram(home) as engram, Engram(home) as other:
        other.recall("anything")
        engram.remember("s1", "user", f"The {WORD} plan is secret.")
        engram.remember("s2", "user", "I live in Oslo.")
        engram.recall(WORD)
        assert any(WORD.encode() in path.read_bytes() for path in home.iterdir() if path.is_file())
        engram.delete_session("s1")
        assert [path.name for path in home.iterdir() if path.is_file() and WORD.encode() in path.read_bytes()] == []


def test_a_reply_that_was_kept_for_inspection_goes_with_any_deleted_session(engram: Engram) -> None:
    engram.remember("s1", "user", f"The {WORD} plan is secret.")
    now = engram.now()
    call = model_calls.reserve(
        engram.engine, at=now, host="h", purpose="gist", provider="claude", model="m", input=1, output=1, cost=0.5,
        lapses_at=now,
    )  # fmt: skip
    model_calls.record_failure(engram.engine, call, seconds=1.0, error="no JSON", reply=f"About {WORD}", billed=True)
    engram.delete_session("s1")
    (row,) = engram.engine.run("select * from model_calls order by id desc limit 1")
    assert (row["reply"], row["cost"]) == (None, 0.5)


def test_an_era_made_of_a_session_that_was_deleted_meanwhile_is_not_kept(engram: Engram) -> None:
    engram.remember("s1", "user", f"The {WORD} plan is secret.")
    engram.delete_session("s1")
    with pytest.raises(NotFound, match="deleted meanwhile"):
        versions.save_version(engram, "era", "2026-11", f"About {WORD}", {"sessions": ["s1"]}, "claude/m")
    assert versions.get_current(engram, "era", "2026-11") is None


def test_what_a_person_wrote_before_a_session_began_outlives_it(engram: Engram) -> None:
    engram.set_profile("Ada likes owls.")
    engram.set_self_state('{"mood": "calm"}')
    engram.remember("s1", "user", f"The {WORD} plan is secret.")
    engram.delete_session("s1")
    assert engram.get_profile() == "Ada likes owls."
    assert engram.get_self_state() == {"mood": "calm"}


def test_what_a_person_wrote_after_a_session_began_stays_and_is_named(engram: Engram) -> None:
    engram.remember("s1", "user", f"The {WORD} plan is secret.")
    engram.set_profile(f"Ada likes {WORD}.")
    assert engram.delete_session("s1").mentions == (f"profile ({WORD})",)
    assert engram.get_profile() == f"Ada likes {WORD}."
