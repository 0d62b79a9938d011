"""The budget drops bodies of digested sessions, routine ones before rare ones, and nothing else."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from engram import Engram, StoreFull
from engram.capture.batch import hash_id
from engram.capture.digests import retention
from engram.capture.ingest_report import Retention
from engram.settings import Settings, load_settings
from engram.store import blobs, captures, digests, events, reserve_file
from engram.types import Event
from tests.capture.test_check import names, packed, replace, session_of
from tests.capture.transcripts import Claude
from tests.conftest import ManualClock

ENDLESS = (1 << 63) - 1


def evict(engram: Engram, **caps: int) -> Retention:
    """Evict under other settings than the store was opened with."""
    ours = engram.settings
    engram.settings = under(ours, **caps)
    try:
        return retention.evict(engram)
    finally:
        engram.settings = ours


def under(ours: Settings, **caps: Any) -> Settings:
    """Return settings with another budget."""
    return load_settings(
        home=ours.home, store=ours.store, **{"raw_soft_cap_bytes": ENDLESS, "raw_hard_cap_bytes": ENDLESS, **caps}
    )


def usage(engram: Engram) -> int:
    return blobs.get_kept_bytes(engram.engine)


def noise(seed: object, length: int = 3000) -> str:
    """Return words that do not compress well."""
    chance = random.Random(str(seed))
    return " ".join("".join(chance.choices("bcdfghklmnprst", k=6)) for _ in range(length // 7))


def worked(home: Path, how: str, start: int, session: str | None = None) -> Claude:
    """Write a session with an outcome that started this many seconds after ten o'clock."""
    work = Claude(home, session)
    work.clock = start
    work.says(f"Mend the flywheel {noise(work.session)}")
    work.edits("/home/me/app/wheel.py")
    if how == "success":
        work.runs("pytest -q", "3 passed")
        work.answers("Done, all tests pass.")
    else:
        work.runs("pytest -q", "3 failed, 1 passed", code=1)
        work.answers("I could not get it to work.")
    return work


def sent(home: Path, by: Claude, start: int) -> Claude:
    """Write a session that another one started."""
    child = Claude(home, by.session)
    child.clock = start
    child.path = by.path.parent / by.session / "subagents" / "agent-a1.jsonl"
    child.path.parent.mkdir(parents=True)
    facts = {"agentId": "a1", "isSidechain": True}
    for kind, text in (("user", f"Explore {noise(start)}"), ("assistant", "Done.")):
        child.write({**child.record(kind, message={"role": kind, "content": text}), **facts})
    child.session = f"{by.session}/a1"
    return child


def here(engram: Engram, *works: Claude) -> list[bool]:
    """Return for each session whether the bodies of its events are stored."""
    return [bool(bodies_of(engram, session_of(engram, work))) for work in works]


def bodies_of(engram: Engram, session: str) -> list[Event]:
    """Return the events of a session that still have their body."""
    return [event for event in engram.get_events(session, limit=1000) if not (event.data or {}).get("evicted")]


def half_evict(engram: Engram, count: int = 1) -> list[int]:
    """Mark bodies for eviction and crash."""
    rows = blobs.list_evictable(engram.engine, ENDLESS, count, by_worth=True)
    with engram.engine.transaction(durable=True):
        blobs.mark_evicting(engram.engine, rows, engram.now())
    return [row["num"] for row in rows]


# ---- What goes first


def test_within_budget_nothing_is_dropped(engram: Engram, home: Path) -> None:
    worked(home, "success", 0)
    engram.ingest()
    report = evict(engram, raw_soft_cap_bytes=usage(engram), raw_hard_cap_bytes=usage(engram))
    assert (report.freed, report.passes, report.data_loss) == (0, {"age": 0, "soft": 0, "hard": 0}, ())
    assert report.final_usage == usage(engram) > 0


def test_of_equals_the_oldest_is_evicted_first(engram: Engram, home: Path) -> None:
    late, early, middle = (worked(home, "success", start) for start in (900, 0, 300))
    engram.ingest()
    report = evict(engram, raw_soft_cap_bytes=usage(engram) - 1)
    assert here(engram, early, middle, late) == [False, True, True]
    assert report.passes == {"age": 0, "soft": 1, "hard": 0}
    evict(engram, raw_soft_cap_bytes=usage(engram) - 1)
    assert here(engram, early, middle, late) == [False, False, True]


def test_routine_is_evicted_before_a_rare_failure_however_old(engram: Engram, home: Path) -> None:
    failure, success = worked(home, "failure", 0), worked(home, "success", 900)
    engram.ingest()
    assert engram.get_digest(session_of(engram, failure)).outcome == "failure"
    assert engram.get_digest(session_of(engram, success)).outcome == "success"
    evict(engram, raw_soft_cap_bytes=usage(engram) - 1)
    assert here(engram, failure, success) == [True, False]


def test_a_persons_word_on_the_outcome_counts(engram: Engram, home: Path) -> None:
    corrected, other = worked(home, "success", 0), worked(home, "success", 900)
    engram.ingest()
    engram.set_outcome(session_of(engram, corrected), "failure", "me")
    evict(engram, raw_soft_cap_bytes=usage(engram) - 1)
    assert here(engram, corrected, other) == [True, False]


def test_subagents_are_evicted_before_their_parents(engram: Engram, home: Path) -> None:
    parent = worked(home, "success", 0)
    child = sent(home, parent, 900)
    engram.ingest()
    evict(engram, raw_soft_cap_bytes=usage(engram) - 1)
    assert here(engram, parent, child) == [True, False]


def test_a_cap_of_almost_nothing_drops_everything(engram: Engram, home: Path) -> None:
    works = [worked(home, how, start) for start, how in enumerate(("success", "failure") * 3)]
    engram.ingest()
    before = usage(engram)
    report = evict(engram, raw_soft_cap_bytes=1)
    assert (report.freed, report.final_usage, report.data_loss) == (before, 0, ())
    assert not any(here(engram, *works))
    assert blobs.BlobStore(engram.engine, engram.settings).list_names() == set()
    assert engram.check().problems == ()


def test_more_than_one_step_of_bodies_is_dropped(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_STEP", 2)
    with Engram(tmp_path / "home") as engram:
        for start in range(7):
            worked(home, "success", start)
        engram.ingest()
        assert evict(engram, raw_soft_cap_bytes=1).passes["soft"] == 7


def test_a_session_from_the_future_is_dropped_as_well(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.write({**work.record("user", message={"role": "user", "content": "x"}), "timestamp": "2099-01-01T00:00:00Z"})
    engram.ingest()
    assert evict(engram, raw_soft_cap_bytes=1).final_usage == 0


def test_bodies_held_for_too_long_go_even_where_there_is_space(timed: Engram, clock: ManualClock, home: Path) -> None:
    old = worked(home, "success", 0)
    timed.ingest()
    clock.pass_(200 * 86400)
    young = worked(home, "success", 60)
    timed.ingest()
    clock.pass_(200 * 86400)
    report = evict(timed, raw_max_age_days=300)
    assert report.passes == {"age": 1, "soft": 0, "hard": 0}
    assert here(timed, old, young) == [False, True]


def test_a_body_is_too_old_a_microsecond_after_its_days_are_over(timed: Engram, clock: ManualClock, home: Path) -> None:
    work = worked(home, "success", 0)
    timed.ingest()
    clock.wall += 3 * 24 * 60 * 60 * 1_000_000
    assert evict(timed, raw_max_age_days=3).passes["age"] == 0
    clock.wall += 1
    report = evict(timed, raw_max_age_days=3)
    assert (report.passes["age"], report.freed > 0, report.final_usage) == (1, True, 0)
    assert here(timed, work) == [False]


def test_eviction_stops_as_soon_as_the_budget_is_kept(engram: Engram, home: Path) -> None:
    works = [worked(home, "success", start) for start in (0, 300, 900)]
    engram.ingest()
    rows = blobs.list_evictable(engram.engine, ENDLESS, 9, by_worth=True)
    size = rows[0]["stored_bytes"]
    report = evict(engram, raw_soft_cap_bytes=usage(engram) - size)
    assert (report.passes["soft"], report.freed) == (1, size)
    report = evict(engram, raw_hard_cap_bytes=usage(engram) - rows[1]["stored_bytes"] - 1)
    assert report.passes["hard"] == 2
    assert here(engram, *works) == [False, False, False]


def test_the_digests_are_weighed_unless_time_is_short(engram: Engram, home: Path) -> None:
    worked(home, "success", 0)
    engram.ingest()
    engram.settings = under(engram.settings, distilled_cap_bytes=1)
    brief, whole = retention.evict(engram, whole=False), retention.evict(engram)
    assert (brief.distilled, brief.distilled_over) == (0, False)
    assert (whole.distilled, whole.distilled_over) == (digests.sum_bytes(engram.engine), True)


def test_a_sweep_itself_keeps_to_the_budget(store: str, home: Path, tmp_path: Path) -> None:
    worked(home, "success", 0)
    with Engram(store=store, home=str(tmp_path / "home"), raw_soft_cap_bytes=1) as engram:
        found = engram.ingest().retention
        assert found is not None
        assert (found.passes["soft"], found.final_usage) == (1, 0)


# ---- The hard cap


def undigest(engram: Engram) -> None:
    """Leave the store as if its sessions had never been digested."""
    engram.engine.run("delete from digests")


def test_the_hard_cap_digests_first_and_then_drops(engram: Engram, home: Path) -> None:
    work = worked(home, "success", 0)
    engram.ingest()
    facts = engram.get_digest(session_of(engram, work)).facts
    undigest(engram)
    assert evict(engram, raw_soft_cap_bytes=1).freed == 0
    report = evict(engram, raw_hard_cap_bytes=1)
    assert (report.passes, report.data_loss, report.final_usage) == ({"age": 0, "soft": 0, "hard": 1}, (), 0)
    assert engram.get_digest(session_of(engram, work)).facts == facts


def test_the_hard_cap_holds_even_below_the_soft_one(engram: Engram, home: Path) -> None:
    worked(home, "success", 0)
    engram.ingest()
    assert evict(engram, raw_hard_cap_bytes=1).passes == {"age": 0, "soft": 0, "hard": 1}


@pytest.mark.parametrize("how", ["gone", "damaged"])
def test_only_what_cannot_be_digested_is_lost_and_reported(engram: Engram, home: Path, how: str) -> None:
    broken, sound = worked(home, "success", 0), worked(home, "success", 60)
    engram.ingest([str(broken.path)])
    (name,) = names(engram)
    engram.ingest()
    replace(engram, name, None if how == "gone" else packed(engram, name)[:-9])
    undigest(engram)
    before = usage(engram)
    report = evict(engram, raw_hard_cap_bytes=1)
    assert report.data_loss == (session_of(engram, broken),)
    assert (report.final_usage, report.freed, report.passes) == (0, before, {"age": 0, "soft": 0, "hard": 2})
    assert engram.get_digest(session_of(engram, sound)).outcome == "success"
    assert evict(engram, raw_hard_cap_bytes=1).data_loss == ()


def test_a_broken_body_does_not_affect_the_other_bodies_of_its_session(engram: Engram, home: Path) -> None:
    work = worked(home, "success", 0)
    engram.ingest()
    work.says("Now mend the gearbox")
    engram.ingest()
    replace(engram, names(engram)[1], None)
    undigest(engram)
    report = evict(engram, raw_hard_cap_bytes=1)
    assert report.data_loss == (session_of(engram, work),)
    assert engram.get_digest(session_of(engram, work)).facts["goal"].startswith("Mend the flywheel")


def test_a_session_that_lost_several_bodies_is_reported_once(engram: Engram, home: Path) -> None:
    works = [worked(home, "success", 0), worked(home, "success", 60)]
    for _ in range(2):
        engram.ingest()
        for work in works:
            work.says("Now mend the gearbox")
    engram.ingest()
    bodies = names(engram)
    for name in set(bodies):
        replace(engram, name, None)
    undigest(engram)
    report = evict(engram, raw_hard_cap_bytes=1)
    assert report.data_loss == tuple(sorted(session_of(engram, work) for work in works))
    assert report.passes["hard"] == len(bodies) > len(works)


def test_nothing_is_lost_where_there_is_room_for_it(engram: Engram, home: Path) -> None:
    worked(home, "success", 0)
    engram.ingest()
    replace(engram, names(engram)[0], None)
    undigest(engram)
    assert evict(engram, raw_soft_cap_bytes=1, raw_hard_cap_bytes=usage(engram)).data_loss == ()


def test_a_store_without_room_for_a_digest_loses_nothing(home: Path, tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        work = worked(home, "success", 0)
        for number in range(200):
            work.edits(f"/home/me/app/a/rather/long/path/{number}/{noise(number, 60)}.py")
        engram.ingest()
        undigest(engram)
        engram.engine.script("vacuum")
        pages = engram.engine.run("pragma page_count")[0]["page_count"]
        engram.engine.run(f"pragma max_page_count = {pages}")
        with pytest.raises(StoreFull):
            evict(engram, raw_hard_cap_bytes=1)
        assert here(engram, work) == [True]
        engram.engine.run("pragma max_page_count = 1000000")
        report = evict(engram, raw_hard_cap_bytes=1)
        assert (report.final_usage, report.data_loss) == (0, ())


def test_too_many_digests_are_reported_and_none_is_dropped(engram: Engram, home: Path) -> None:
    work = worked(home, "success", 0)
    engram.ingest()
    report = evict(engram, distilled_cap_bytes=1, raw_soft_cap_bytes=1)
    assert report.distilled_over
    assert report.distilled == digests.sum_bytes(engram.engine) > 1
    assert engram.get_digest(session_of(engram, work)).outcome == "success"
    assert not evict(engram, distilled_cap_bytes=report.distilled).distilled_over


# ---- What stays


def test_transcripts_digests_costs_and_sessions_are_not_touched(engram: Engram, home: Path) -> None:
    works = [worked(home, "success", 0), worked(home, "failure", 60)]
    engram.ingest()
    files = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    tables = ("digests", "captures", "sessions", "usage", "cursors")
    rows = {table: engram.engine.run(f"select * from {table} order by 1, 2") for table in tables}
    evict(engram, raw_soft_cap_bytes=1)
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == files
    assert {table: engram.engine.run(f"select * from {table} order by 1, 2") for table in tables} == rows
    assert not any(here(engram, *works))


def test_evicted_events_can_still_be_listed_and_costs_stay(engram: Engram, home: Path) -> None:
    work = worked(home, "success", 0)
    engram.ingest()
    session = session_of(engram, work)
    before = (engram.get_capture(session), engram.get_digest(session), engram.cost("session", session))
    evict(engram, raw_soft_cap_bytes=1)
    assert (engram.get_capture(session), engram.get_digest(session), engram.cost("session", session)) == before
    assert [capture.session.id for capture in engram.list_sessions()] == [session]


def test_only_events_with_bodies_keep_their_text(engram: Engram, home: Path) -> None:
    work = worked(home, "success", 0)
    engram.ingest()
    work.says("Now mend the gearbox")
    engram.ingest()
    evict(engram, raw_soft_cap_bytes=usage(engram) - 1)
    assert [event.text for event in bodies_of(engram, session_of(engram, work))] == ["Now mend the gearbox"]


def test_recall_finds_no_evicted_event_but_still_its_exchanges(engram: Engram, home: Path) -> None:
    old, new = worked(home, "success", 0), worked(home, "success", 60)
    engram.ingest()
    assert len({hit.session_id for hit in engram.recall("pytest", tiers=["event"])}) == 2
    evict(engram, raw_soft_cap_bytes=usage(engram) - 1)
    assert {hit.session_id for hit in engram.recall("pytest", tiers=["event"])} == {session_of(engram, new)}
    evict(engram, raw_soft_cap_bytes=1)
    assert engram.recall("pytest", tiers=["event"]) == []
    assert {hit.session_id for hit in engram.recall("flywheel", by="session")} == {
        session_of(engram, item) for item in (old, new)
    }
    assert not any(here(engram, old, new))


def test_two_bodies_of_one_content_survive_each_other(engram: Engram, home: Path) -> None:
    work = worked(home, "success", 0)
    twin = Claude(home)
    lines = [{**json.loads(line), "sessionId": twin.session} for line in work.path.read_text().splitlines()]
    twin.write(*lines)
    engram.ingest()
    assert len(set(names(engram))) == 1
    assert len(names(engram)) == 2
    evict(engram, raw_soft_cap_bytes=usage(engram) - 1)
    assert sorted(here(engram, work, twin)) == [False, True]
    assert engram.check().problems == ()
    evict(engram, raw_soft_cap_bytes=1)
    assert blobs.BlobStore(engram.engine, engram.settings).list_names() == set()


# ---- After an eviction


def test_an_unchanged_transcript_brings_nothing_back(engram: Engram, home: Path) -> None:
    work = worked(home, "success", 0)
    engram.ingest()
    evict(engram, raw_soft_cap_bytes=1)
    os.utime(work.path)
    assert engram.ingest().events == 0
    assert usage(engram) == 0
    assert here(engram, work) == [False]


def test_a_session_that_continues_is_captured_and_digested(engram: Engram, home: Path) -> None:
    work = worked(home, "success", 0)
    engram.ingest()
    session = session_of(engram, work)
    evict(engram, raw_soft_cap_bytes=1)
    work.says("No, that is wrong")
    work.runs("pytest -q", "9 failed", code=1)
    work.answers("I could not get it to work.")
    assert engram.ingest().events == 4
    assert len(bodies_of(engram, session)) == 4
    digest = engram.get_digest(session)
    assert (digest.outcome, digest.facts["prompts"], digest.facts["tests"]["runs"]) == ("failure", 2, 2)
    assert digest.facts["goal"].startswith("Mend the flywheel")
    assert engram.recall("wrong", messages=True)[0].snippet == "No, that is wrong"
    assert evict(engram, raw_soft_cap_bytes=1).data_loss == ()
    assert engram.check().problems == ()


def rewrite(work: Claude, old: str, new: str) -> None:
    """Change what an agent wrote, under the same ids."""
    work.path.write_text(work.path.read_text().replace(old, new))


def test_a_digest_remembers_what_is_evicted_when_a_later_event_changes(engram: Engram, home: Path) -> None:
    work = worked(home, "success", 0)
    engram.ingest()
    evict(engram, raw_soft_cap_bytes=1)
    first, after = Claude(home, work.session), work.path.with_name("resumed.jsonl")
    first.path, first.clock = after, 600
    first.says("Now mend the gearbox")
    engram.ingest()
    rewrite(first, "gearbox", "crankshaft")
    engram.ingest()
    facts = engram.get_digest(session_of(engram, work)).facts
    assert facts["goal"].startswith("Mend the flywheel")
    assert (facts["prompts"], facts["tests"]["runs"]) == (2, 1)
    assert [event.text for event in bodies_of(engram, session_of(engram, work))] == ["Now mend the crankshaft"]
    assert captures.list_digest_due(engram.engine) == []


def test_a_changed_event_keeps_its_place_and_the_goal_stays_the_first_request(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Mend the flywheel")
    work.says("Then the gearbox")
    engram.ingest()
    rewrite(work, "flywheel", "crankshaft")
    engram.ingest()
    events = engram.get_events(session_of(engram, work))
    assert [event.text for event in events] == ["Mend the crankshaft", "Then the gearbox"]
    assert engram.get_digest(session_of(engram, work)).facts["goal"] == "Mend the crankshaft"


def test_an_evicted_transcript_that_moves_is_not_digested_twice(engram: Engram, home: Path) -> None:
    work = worked(home, "success", 0)
    engram.ingest()
    session = session_of(engram, work)
    before = engram.get_digest(session).facts["tests"]["runs"], engram.get_capture(session).events
    evict(engram, raw_soft_cap_bytes=1)
    place = work.path.parent.parent / "elsewhere"
    place.mkdir()
    work.path.rename(place / work.path.name)
    engram.ingest()
    assert (engram.get_digest(session).facts["tests"]["runs"], engram.get_capture(session).events) == before


def test_an_evicted_last_line_completed_later_is_not_digested_twice(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("One")
    work.says("Two")
    work.path.write_text(work.path.read_text().removesuffix("\n"))
    engram.ingest()
    evict(engram, raw_soft_cap_bytes=1)
    with open(work.path, "a", encoding="utf-8") as file:
        file.write("\n")
    engram.ingest()
    session = session_of(engram, work)
    assert (engram.get_capture(session).events, engram.get_digest(session).facts["prompts"]) == (2, 2)


# ---- Marks and crashes


@pytest.mark.parametrize("facts", [
    {"digest": None, "through": None}, {"digest": None, "through": 9}, {"digest": "own", "through": 0},
    {"digest": 4711, "through": 9}, {"digest": "own", "through": None},
])  # fmt: skip
def test_the_database_refuses_to_drop_bodies_no_digest_covers(
    engram: Engram, home: Path, facts: dict[str, object]
) -> None:
    work = worked(home, "success", 0)
    engram.ingest()
    (row,) = blobs.list_evictable(engram.engine, ENDLESS, 1, by_worth=True)
    forged = row | facts | ({"digest": row["digest"]} if facts["digest"] == "own" else {})
    with pytest.raises(Exception, match=r"(?i)constraint"), engram.engine.transaction():
        blobs.mark_evicting(engram.engine, [forged], engram.now())
    assert here(engram, work) == [True]
    evict(engram)
    assert here(engram, work) == [True]


def test_the_database_refuses_to_call_a_body_dropped_that_is_not_marked(engram: Engram, home: Path) -> None:
    worked(home, "success", 0)
    engram.ingest()
    (row,) = blobs.list_kept(engram.engine)
    with pytest.raises(Exception, match=r"(?i)constraint"):
        blobs.mark_evicted(engram.engine, row["num"], engram.now())


def test_the_database_refuses_to_forget_a_digest_bodies_were_dropped_for(engram: Engram, home: Path) -> None:
    worked(home, "success", 0)
    engram.ingest()
    evict(engram, raw_soft_cap_bytes=1)
    with pytest.raises(Exception, match=r"(?i)constraint"):
        engram.engine.run("delete from digests")


@pytest.mark.parametrize("by", ["evict", "ingest"])
def test_a_crash_between_mark_and_drop_is_finished_by_the_next_pass(engram: Engram, home: Path, by: str) -> None:
    first, second = worked(home, "success", 0), worked(home, "success", 60)
    engram.ingest()
    half_evict(engram)
    assert len(blobs.BlobStore(engram.engine, engram.settings).list_names()) == 2
    if by == "evict":
        evict(engram)
    else:
        engram.ingest()
    assert here(engram, first, second) == [False, True]
    assert blobs.list_half_evicted(engram.engine) == []
    assert blobs.BlobStore(engram.engine, engram.settings).list_names() == set(names(engram))
    assert engram.check().problems == ()


def test_a_crash_after_the_file_is_gone_is_finished_by_the_next_pass(engram: Engram, home: Path) -> None:
    work = worked(home, "success", 0)
    engram.ingest()
    (name,) = names(engram)
    half_evict(engram)
    replace(engram, name, None)
    assert engram.check().problems == ()
    assert evict(engram).data_loss == ()
    assert here(engram, work) == [False]


def test_half_dropped_events_say_so_and_do_not_hurt_recall(engram: Engram, home: Path) -> None:
    work = worked(home, "success", 0)
    engram.ingest()
    half_evict(engram)
    assert bodies_of(engram, session_of(engram, work)) == []
    assert all(hit.snippet == "" for hit in engram.recall("pytest", tiers=["event"]))
    assert engram.get_digest(session_of(engram, work)).outcome == "success"


def test_a_body_stored_again_while_it_is_being_dropped_stays(engram: Engram, home: Path) -> None:
    work = worked(home, "success", 0)
    engram.ingest()
    half_evict(engram)
    twin = Claude(home)
    twin.write(*({**json.loads(line), "sessionId": twin.session} for line in work.path.read_text().splitlines()))
    engram.ingest()
    assert here(engram, work, twin) == [False, True]
    assert engram.check().problems == ()


def test_a_ballast_cut_short_is_made_whole(home: Path, tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        (tmp_path / "home" / "ballast").write_bytes(b"\0" * 100)
        assert not reserve_file.is_reserved(engram.settings.home)
        engram.ingest()
        assert reserve_file.is_reserved(engram.settings.home)


# ---- A full disk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A separate small disk that fills up quickly."""
    place = tmp_path / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(place)]
    if sys.platform != "linux" or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("eviction on a full disk is not tested: mounting a small one needs root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=False)


def fill(disk: Path) -> None:
    """Fill the rest of the disk, as another program would."""
    with open(disk / "filler", "ab", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while file.write(b"\0" * size):
                    pass
            except OSError:
                continue


def test_a_full_disk_stops_a_sweep_without_loss_and_free_space_lets_it_continue(home: Path, disk: Path) -> None:
    with Engram(disk / "home") as engram:
        old = [worked(home, "success", start) for start in range(5)]
        engram.ingest()
        fill(disk)
        new = [worked(home, "success", 60 + start) for start in range(30)]
        with pytest.raises(StoreFull, match="Free some disk space"):
            engram.ingest()
        assert all(here(engram, *old))
        assert engram.check().problems == ()
        (disk / "filler").unlink()
        engram.ingest()
        assert all(here(engram, *old, *new))
        assert engram.check(repair=True).problems == ()


def test_on_a_full_disk_the_ballast_makes_room_for_making_room(home: Path, disk: Path) -> None:
    with Engram(disk / "home") as engram:
        works = [worked(home, "success", start) for start in range(40)]
        engram.ingest()
        assert reserve_file.is_reserved(engram.settings.home)
        engram.engine.run("pragma wal_checkpoint(truncate)")
        fill(disk)
        with pytest.raises(StoreFull):
            engram.engine.run("insert into counters values ('x', 1)")
        report = evict(engram, raw_soft_cap_bytes=1)
        assert (report.final_usage, report.data_loss) == (0, ())
        assert not reserve_file.is_reserved(engram.settings.home)
        assert not any(here(engram, *works))
        new = worked(home, "success", 600)
        engram.ingest()
        assert here(engram, new) == [True]
        assert engram.check().problems == ()


def test_a_sweep_over_budget_on_a_full_disk_makes_room_by_itself(home: Path, disk: Path) -> None:
    with Engram(disk / "home") as engram:
        for start in range(40):
            worked(home, "success", start)
        engram.ingest()
        engram.engine.run("pragma wal_checkpoint(truncate)")
        fill(disk)
        engram.settings = under(engram.settings, raw_soft_cap_bytes=20_000)
        new = worked(home, "success", 600)
        engram.ingest()
        assert here(engram, new) == [True]


def test_a_full_disk_is_called_full_by_the_next_process_too(home: Path, disk: Path) -> None:
    with Engram(disk / "home") as engram:
        worked(home, "success", 0)
        engram.ingest()
    fill(disk)
    try:
        Engram(disk / "home").close()
    except StoreFull:
        pass


# ---- Anything in any order


def said(work: Claude, number: int, version: int) -> str:
    """Return the text of a session's line after this many changes."""
    return f"{number} {version} {noise((work.session, number, version), 400)}"


class Budget(RuleBasedStateMachine):
    """Sessions are added, continued, rewritten and evicted; the store always has what was written."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.place = root / uuid.uuid4().hex
        self.place.mkdir()
        self.patch = pytest.MonkeyPatch()
        self.patch.setenv("HOME", str(self.place))
        self.engram = Engram(self.place / "home")
        self.works: dict[str, Claude] = {}
        self.lines: dict[str, list[int]] = {}  # native id → number of changes of each line of its transcript
        self.read: dict[str, int] = {}  # lines read
        self.held: dict[str, dict[int, str]] = {}  # the store's view of them
        self.limbo: dict[str, set[int]] = {}  # lines whose body is marked but not dropped
        self.rewritten: set[str] = set()  # since the last sweep
        self.gone: dict[tuple[str, int], str] = {}  # texts of evicted lines: known, and not stored again

    def teardown(self) -> None:
        self.engram.close()
        self.patch.undo()
        shutil.rmtree(self.place)

    # What agents do

    @initialize(count=st.integers(1, 4))
    def first(self, count: int) -> None:
        self.begin(count)

    @rule(count=st.integers(1, 4))
    def begin(self, count: int) -> None:
        name = str(uuid.UUID(int=len(self.works) + 1))
        self.works[name], self.lines[name] = Claude(self.place, name), []
        self._say(name, count)

    @precondition(lambda self: self.works)
    @rule(which=st.integers(0, 99), count=st.integers(1, 4))
    def append(self, which: int, count: int) -> None:
        self._say(self._name(which), count)

    @precondition(lambda self: self.works)
    @rule(which=st.integers(0, 99), line=st.integers(0, 99))
    def rewrite(self, which: int, line: int) -> None:
        """Change one line; a different start of the file makes it be read again."""
        name = self._name(which)
        line %= len(self.lines[name])
        self.lines[name][line] += 1
        before = self.works[name].path.read_text()
        records = [json.loads(item) for item in before.splitlines() if item]
        records[line]["message"]["content"] = self._said(name, line)
        text = "".join(json.dumps(record) + "\n" for record in records)
        self.works[name].path.write_text("\n" * (before.count("\n") - len(records) + 1) + text)
        self.rewritten.add(name)

    # What we do

    @rule()
    def ingest(self) -> None:
        assert self.engram.ingest().failures == {}
        for name in self.works:
            self._follow(name)
        self.rewritten.clear()
        self._drop()

    @rule(soft=st.integers(1, 6000), hard=st.integers(1, 12000))
    def evict(self, soft: int, hard: int) -> None:
        bodies = self._bodies()
        report = evict(self.engram, raw_soft_cap_bytes=soft, raw_hard_cap_bytes=hard)
        assert report.data_loss == ()
        assert report.final_usage <= min(soft, hard)
        self._mark(bodies, {row["num"] for row in blobs.list_kept(self.engram.engine)})
        self._drop()

    @rule(count=st.integers(1, 3))
    def crash_between_mark_and_drop(self, count: int) -> None:
        bodies = self._bodies()
        half_evict(self.engram, count)
        self._mark(bodies, {row["num"] for row in blobs.list_kept(self.engram.engine)})

    @precondition(lambda self: self.held)
    @rule(which=st.integers(0, 99), outcome=st.sampled_from(["success", "failure", "partial"]))
    def correct(self, which: int, outcome: str) -> None:
        session = self._session(sorted(self.held)[which % len(self.held)])
        assert self.engram.set_outcome(session, outcome, "me").outcome == outcome

    @rule()
    def repair(self) -> None:
        report = self.engram.check(repair=True)
        assert (report.problems, report.mended, report.leftovers) == ((), (), 0)

    # What must hold

    @invariant()
    def the_store_is_sound(self) -> None:
        assert self.engram.check().problems == ()

    @invariant()
    def what_is_held_is_what_was_said(self) -> None:
        for name, lines in self.held.items():
            told = [text for line, text in lines.items() if line not in self.limbo.get(name, ())]
            assert sorted(event.text for event in bodies_of(self.engram, self._session(name))) == sorted(told)

    @invariant()
    def what_was_dropped_is_digested(self) -> None:
        for name in self.held:
            assert self.engram.get_digest(self._session(name)).facts["prompts"] == self.read[name]
        for row in self.engram.engine.run("select * from blobs where evicting_at is not null"):
            assert row["lost"] == 0
            assert row["digested_through"] >= row["batch"]

    # How the model keeps up

    def _follow(self, name: str) -> None:
        """Compute what a sweep reads of a transcript: all of it, or what is new."""
        held, read = self.held.setdefault(name, {}), self.read.get(name, 0)
        for line in range(0 if name in self.rewritten else read, len(self.lines[name])):
            known = held.get(line) or self.gone.get((name, line))
            if known != self._said(name, line):
                held[line] = self._said(name, line)
                self.limbo.get(name, set()).discard(line)
        self.read[name] = len(self.lines[name])

    def _bodies(self) -> dict[int, list[tuple[str, int]]]:
        """Return which lines are in which body."""
        found: dict[int, list[tuple[str, int]]] = {}
        for name, lines in self.held.items():
            capture = captures.find_by_session(self.engram.engine, self._session(name))
            rows = events.list_by_capture(self.engram.engine, capture["num"] if capture else 0)
            numbers = {hash_id(str(uuid.uuid5(uuid.NAMESPACE_URL, f"{name}{line + 1}"))): line for line in lines}
            for row in rows:
                if row["key"] in numbers:
                    found.setdefault(row["blob"], []).append((name, numbers[row["key"]]))
        return found

    def _mark(self, bodies: dict[int, list[tuple[str, int]]], kept: set[int]) -> None:
        for num in bodies.keys() - kept:
            for name, line in bodies[num]:
                self.limbo.setdefault(name, set()).add(line)

    def _drop(self) -> None:
        for name, lines in self.limbo.items():
            for line in lines:
                self.gone[name, line] = self.held[name].pop(line)
        self.limbo.clear()

    def _say(self, name: str, count: int) -> None:
        for _ in range(count):
            self.lines[name].append(0)
            self.works[name].says(self._said(name, len(self.lines[name]) - 1))

    def _said(self, name: str, line: int) -> str:
        return said(self.works[name], line, self.lines[name][line])

    def _name(self, which: int) -> str:
        return list(self.works)[which % len(self.works)]

    def _session(self, name: str) -> str:
        return session_of(self.engram, self.works[name])


def test_whatever_happens_in_whatever_order_nothing_undigested_is_dropped(tmp_path: Path, thorough: bool) -> None:
    class Here(Budget):
        def __init__(self) -> None:
            super().__init__(tmp_path)

    bounds = settings(
        max_examples=60 if thorough else 12, stateful_step_count=25, deadline=None, database=None,
        phases=(Phase.generate, Phase.shrink), suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    run_state_machine_as_test(Here, settings=bounds)
