"""A dry run shows what a pass would do and writes nothing."""

from __future__ import annotations

from engram import Engram
from engram.store import documents
from tests.conftest import ManualClock
from tests.dream.test_cycle import talk
from tests.dream.test_undo import more


def test_a_dry_run_shows_the_gist_it_would_make_and_writes_nothing(engram: Engram) -> None:
    talk(engram)
    before = engram.engine.run("select count(*) as n from documents")
    preview = engram.foresee_dream()
    assert preview.steps["gist"] == 1
    assert "+++ b/gist/s1" in preview.diff
    assert "billing" in preview.diff
    assert engram.engine.run("select count(*) as n from documents") == before
    assert engram.dream_log() == []
    engram.dream(force=True)
    gist = engram.get_summary("s1")
    assert gist is not None
    assert all(f"+{line}" in preview.diff for line in gist.content.splitlines())


def test_a_dry_run_shows_how_eras_profile_and_pages_would_change(timed: Engram, clock: ManualClock) -> None:
    talk(timed)
    timed.dream(force=True)
    clock.pass_(3 * 3600)
    more(timed)
    timed.flush()
    timed.summarize()
    before = {
        kind: documents.list_version_numbers(timed.engine, kind) for kind in ("era", "profile", "narrative", "standing")
    }
    preview = timed.foresee_dream(force=True)
    assert "a/era/2026-11" in preview.diff
    assert "b/narrative/current" in preview.diff
    assert {"integrate", "compile"} <= set(preview.steps)
    after = {
        kind: documents.list_version_numbers(timed.engine, kind) for kind in ("era", "profile", "narrative", "standing")
    }
    assert after == before


def test_what_is_below_its_threshold_is_shown_as_waiting(timed: Engram, clock: ManualClock) -> None:
    talk(timed)
    timed.dream(force=True)
    clock.pass_(60)
    timed.remember("s1", "user", "One more thing.")
    preview = timed.foresee_dream()
    assert preview.steps == {}
    assert preview.waiting["flush"] == 1
