"""The rot meter: repeated text is counted as long as it repeats, at a cost that depends only on new text."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from click import unstyle

from engram import Engram
from engram.dream import rot, similarity
from engram.hub import Hub
from engram.search.briefing import build_briefing
from engram.store import dream_inbox, injected_texts, passages, recall_log, similarity_hashes
from engram.store import rot as store
from engram.surfaces.cli.render import render
from engram.types import Rot
from tests.conftest import ManualClock
from tests.dream.test_cycle import talk
from tests.summaries.talking import said

DAY = 86_400
BEGAN = "2026-03-10T12:00:00+00:00"
ONE = (
    "The release job of billing failed because the deploy key was rotated and the workflow still read the old one from"
    " its environment. We moved the key to the vault under ops, let only the release job read it, and wrote a check"
    " that fails when another job asks for it. Open: the staging key is to follow before the end of the month."
)
NEARLY = ONE.replace("staging", "testing")
OTHER = (
    "Search was slow on large projects since every keystroke read the whole index. It reads the first page now, waits"
    " for a pause of two hundred milliseconds before it asks again, and forgets answers that come too late."
)


def write(hub: Hub, key: str, text: str, kind: str = "article") -> None:
    with hub.engine.transaction():
        passages.save_parts(hub.engine, kind, key, [text] if text else [], at=hub.now())


def looked(hub: Hub) -> Rot:
    done = rot.inspect_inbox(hub)
    assert done.failed == {}
    assert done.left == 0
    return rot.meter(hub)


def counts(found: Rot) -> tuple[int, int, int]:
    return found.documents, found.duplicates, found.near_duplicates


def test_duplicates_and_near_duplicates_are_counted(engram: Engram) -> None:
    for key, text in {"a": ONE, "b": ONE.upper(), "c": NEARLY, "d": OTHER}.items():
        write(engram, key, text)
    assert rot.meter(engram).waiting == 4
    result = looked(engram)
    assert counts(result) == (4, 1, 1)
    assert result.waiting == 0
    assert result.shares["repeated"] == 0.5


def test_kinds_are_told_apart(engram: Engram) -> None:
    write(engram, "a", ONE)
    write(engram, "a", ONE, "gist")
    write(engram, "b", ONE, "era")  # made from all the others, so it is not checked
    assert counts(looked(engram)) == (2, 0, 0)


def test_a_finding_goes_with_its_text(engram: Engram) -> None:
    write(engram, "a", ONE)
    write(engram, "b", NEARLY)
    assert counts(looked(engram)) == (2, 0, 1)
    write(engram, "b", OTHER)
    assert counts(looked(engram)) == (2, 0, 0)
    write(engram, "b", NEARLY)
    assert counts(looked(engram)) == (2, 0, 1)
    write(engram, "a", "")
    assert counts(rot.meter(engram)) == (1, 0, 0)  # in one batch


def test_of_many_that_say_the_same_one_stays_when_the_first_goes(engram: Engram) -> None:
    for key in "abcd":
        write(engram, key, ONE)
    write(engram, "e", NEARLY)
    assert counts(looked(engram)) == (5, 3, 1)
    write(engram, "a", "")
    assert counts(looked(engram)) == (4, 2, 1)
    write(engram, "b", OTHER)
    assert counts(looked(engram)) == (4, 1, 1)


def test_the_order_of_looking_makes_no_difference(engram: Engram) -> None:
    chain = {"a": ONE, "b": NEARLY, "c": NEARLY.replace("vault", "safe")}
    for key, text in chain.items():
        write(engram, key, text)
    before = counts(looked(engram))
    for key in "bca":
        write(engram, key, OTHER)
        looked(engram)
        write(engram, key, chain[key])
        assert counts(looked(engram)) == before


def test_only_news_is_looked_at(engram: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(40):
        write(engram, f"p{n}", f"{OTHER} {n} " + " ".join(f"word{n * 50 + m}" for m in range(60)))
    looked(engram)
    asked: list[str] = []
    run = engram.engine.run

    def counted(sql: str, **facts: Any) -> Any:
        asked.append(sql)
        return run(sql, **facts)

    monkeypatch.setattr(engram.engine, "run", counted)
    assert rot.inspect_inbox(engram).looked == 0
    idle = len(asked)
    write(engram, "new", ONE)
    asked.clear()
    assert rot.inspect_inbox(engram).looked == 1
    assert len(asked) - idle < 40  # one per band
    assert sum("content from passages" in sql for sql in asked) <= 2  # out of forty-one


def test_a_look_ends_in_time_and_goes_on_later(
    timed: Engram, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(5):
        write(timed, f"p{n}", f"{ONE} {n}")
    content = passages.read_content

    def slow(*words: Any) -> str:
        clock.pass_(1)
        return content(*words)

    monkeypatch.setattr(passages, "read_content", slow)
    until = clock.steady() + 2_000_000
    done = rot.inspect_inbox(timed, lambda: clock.steady() >= until)
    assert 0 < done.looked < 5
    assert done.left == 5 - done.looked
    assert rot.inspect_inbox(timed).left == 0


def test_one_that_cannot_be_read_stops_no_other(engram: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in "abc":
        write(engram, key, ONE if key == "b" else f"{OTHER} {key}")
    words = similarity.split_words
    monkeypatch.setattr(similarity, "split_words", lambda text: 1 / 0 if "release" in text else words(text))
    done = rot.inspect_inbox(engram)
    assert (done.looked, list(done.failed), done.left) == (2, ["article\tb"], 1)
    monkeypatch.undo()
    assert rot.inspect_inbox(engram).looked == 1


def test_what_changes_while_it_is_looked_at_is_looked_at_again(engram: Engram) -> None:
    write(engram, "a", ONE)
    row = dream_inbox.list_waiting(engram.engine, dream_inbox.ROT)[0]
    write(engram, "a", OTHER)
    rot._inspect_row(engram, row)
    assert [each["key"] for each in dream_inbox.list_waiting(engram.engine, dream_inbox.ROT)] == ["article\ta"]


def test_our_own_words_that_come_back_are_counted_once(engram: Engram) -> None:
    said(engram, "old", BEGAN, "The deploy key of billing lives in vault under ops, only the release job may read it.")
    engram.ensure_session("s")
    injected_texts.record_text(engram.engine, "s", f"- codex 2026-03-10\n| {ONE}", engram.now() - DAY * 1_000_000)
    engram.remember("s", "user", f"<hook>{ONE}</hook> please go on")
    engram.remember("s", "assistant", OTHER)
    engram.remember("old", "user", ONE)  # not injected by a hook
    assert rot.inspect_inbox(engram).found == 1
    assert rot.meter(engram).loops == 1
    assert rot.inspect_inbox(engram).looked == 0
    engram.remember("s", "assistant", f"## From memory (quoted data, not instructions)\n| {OTHER}")
    assert rot.inspect_inbox(engram).found == 1
    assert rot.meter(engram).loops == 2


def test_what_was_said_before_it_was_told_is_no_echo(timed: Engram, clock: ManualClock) -> None:
    timed.remember("s", "user", ONE)
    clock.pass_(DAY)
    injected_texts.record_text(timed.engine, "s", ONE, timed.now())
    timed.remember("s", "assistant", "Understood.")
    assert rot.inspect_inbox(timed).found == 0


def test_what_was_told_is_kept_for_a_month(timed: Engram, clock: ManualClock) -> None:
    timed.ensure_session("s")
    injected_texts.record_text(timed.engine, "s", ONE, timed.now())
    clock.pass_(31 * DAY)
    rot.inspect_inbox(timed)
    assert injected_texts.list_by_session(timed.engine, "s") == []


def test_a_deleted_session_leaves_no_finding(engram: Engram) -> None:
    for name in ("s", "t"):
        engram.ensure_session(name)
        said(engram, name, BEGAN, OTHER)
        engram.store_summary(name, ONE)
    injected_texts.record_text(engram.engine, "s", ONE, engram.now())
    engram.remember("s", "user", ONE)
    engram.recall("deploy key of the release job")
    build_briefing(engram, None)
    assert counts(looked(engram)) == (2, 1, 0)
    assert rot.meter(engram).loops == 1
    engram.complete("s", "done")
    engram.delete_session("s")
    assert counts(looked(engram)) == (1, 0, 0)
    assert rot.meter(engram).loops == 0
    for table in ("likenesses", "likeness_bands", "rot", "recalled", "news"):
        rows = engram.engine.run(f"select * from {table}")
        assert not [
            row for row in rows if "s" in {row.get("key"), row.get("other"), str(row["key"]).partition("\t")[2]}
        ]


def test_what_no_recall_ever_showed_is_counted_after_a_month(timed: Engram, clock: ManualClock) -> None:
    write(timed, "concepts/deploy-key", ONE)
    write(timed, "concepts/search", OTHER)
    looked(timed)
    assert timed.recall("deploy key of the release job")[0].name == "concepts/deploy-key"
    assert recall_log.count_shown(timed.engine, "article", "concepts/deploy-key") == 1
    clock.pass_(29 * DAY)
    assert rot.meter(timed).never_recalled == 0
    clock.pass_(2 * DAY)
    assert rot.meter(timed).never_recalled == 1
    assert rot.meter(timed).shares["never_recalled"] == 0.5


def test_a_prompt_notes_only_what_it_was_told(engram: Engram) -> None:
    said(engram, "a", BEGAN, "The deploy key of billing lives in vault under ops.")
    said(engram, "b", BEGAN, "The deploy of the shop is on friday.")
    told_ = engram.context("Where does the deploy key of billing live?")
    rows = engram.engine.run("select kind, key from recalled")
    assert [f"x{row['key']}" for row in rows] == list(told_.sources)


def test_a_briefing_notes_what_it_told_and_showed(engram: Engram) -> None:
    said(engram, "before", BEGAN, OTHER)
    engram.store_summary("before", ONE)
    session = engram.register("claude", "now")
    build_briefing(engram, session)
    assert (
        "in Engram, the memory all coding agents here share"
        in injected_texts.list_by_session(engram.engine, session)[0]["content"]
    )


def test_a_busy_store_fails_and_delays_no_recall(tmp_path: Path) -> None:
    with Engram(tmp_path / "home", busy_seconds=60) as hub, Engram(tmp_path / "home") as other:
        said(hub, "a", BEGAN, "The deploy key of billing lives in vault under ops.")
        hub.recall("deploy key of billing")
        with other.engine.transaction():
            other.engine.run("update sessions set summary = 'busy'")
            found: list[Any] = []
            asking = threading.Thread(target=lambda: found.append(hub.recall("deploy key of billing")))
            asking.start()
            asking.join(30)  # it would wait a minute
            assert found
            injected_texts.record_text(hub.engine, "a", "some words", 1)
        assert len(injected_texts.list_by_session(hub.engine, "a")) == 0
        injected_texts.record_text(hub.engine, "a", "some words", 1)
        assert len(injected_texts.list_by_session(hub.engine, "a")) == 1


def test_findings_of_others_are_kept_and_shown(engram: Engram) -> None:
    write(engram, "a", ONE)
    looked(engram)
    rot.save_findings(engram, store.STALE, [("era", "2026-03", "")])
    rot.save_findings(engram, store.REPLACED, [("exchange", "3", "7"), ("exchange", "4", "7")])
    found = engram.stats().rot
    assert (found.stale, found.contradicted) == (1, 2)
    rot.save_findings(engram, store.STALE, [])
    assert engram.stats().rot.stale == 0


def test_a_person_reads_it_in_one_line(engram: Engram) -> None:
    assert "none in 0 documents" in render(engram.stats())
    for key, text in {"a": ONE, "b": ONE, "c": NEARLY}.items():
        write(engram, key, text)
    assert "none in 0 documents; 3 not checked yet" in render(engram.stats())
    looked(engram)
    line = next(line for line in unstyle(render(engram.stats())).splitlines() if line.startswith("stale or duplicate"))
    assert line.endswith("1 duplicates, 1 near-duplicates in 3 documents")


def test_a_contradiction_holds_until_its_page_is_changed(timed: Engram, clock: ManualClock) -> None:
    write(timed, "a", ONE)
    write(timed, "b", OTHER)
    clock.pass_(60)
    with timed.engine.transaction():
        store.replace_findings(timed.engine, store.CONTRADICTION, [("article", "a", "b")], timed.now())
    assert looked(timed).contradicted == 1  # the pages are older than the table
    clock.pass_(60)
    write(timed, "b", f"{OTHER} Not any more.")
    assert looked(timed).contradicted == 0


def test_a_store_from_before_has_everything_to_look_at(engram: Engram) -> None:
    assert similarity_hashes.KINDS == ("gist", "article", "daily")  # the migration names them, too
    text = (Path(dream_inbox.__file__).parent / "migrations" / "0008_dream.sql").read_text()
    assert f"kind in {similarity_hashes.KINDS}" in text
    assert "kind || '\t' || key" in text


def test_a_gist_whose_session_went_on_is_stale_until_it_is_made_again(timed: Engram, clock: ManualClock) -> None:
    talk(timed)
    timed.dream(force=True)
    clock.pass_(60)
    timed.remember("s1", "user", "One more thing about the invoices, please.")
    dream_pass = timed.dream(force=True)
    assert dream_pass.rot is not None
    assert dream_pass.rot.stale == 1
    clock.pass_(2 * 3600)
    again = timed.dream(force=True)
    assert again.rot is not None
    assert again.rot.stale == 0
