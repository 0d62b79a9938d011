"""Undo: what a pass wrote returns to its earlier state, and stays so until there is something new."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engram import Engram, InvalidInput, NotFound
from engram.dream import journal
from engram.store import log_entries
from engram.summaries import self_state
from engram.summaries.attribution import attribute_to_pass
from engram.wiki.vault import state, vault
from tests.conftest import ManualClock
from tests.dream.test_cycle import talk
from tests.summaries.talking import passages, said
from tests.wiki.shop import work_a_week


def test_pages_that_a_pass_removed_come_back_when_it_is_undone(
    timed: Engram, clock: ManualClock, tmp_path: Path
) -> None:  # fmt: skip
    home = vault.open_vault(timed)
    work_a_week(timed, tmp_path)
    timed.compile()
    target = "concepts/shop-prices"
    record = state.read_page_record(home, target) or {}
    before = home.read(target)
    state.write_file(home, state.page_record_path("concepts/older"), {**record, "made_by": "rules/2"})
    assert home.write("concepts/older", before or "", None)
    state.write_file(home, state.STATE, {**state.load_state(home), "rules": "rules/2"})
    clock.pass_(3 * 3600)
    dream_pass = timed.dream(force=True)
    assert home.read("concepts/older") is None
    assert "page concepts/older" in timed.undo_dream(dream_pass.id).restored
    assert home.read("concepts/older") == before


def work(engram: Engram, day: int) -> str:
    """Let an agent work on a project for a while."""
    session = engram.register("agent", "billing", flavor="claude", project="/srv/billing")
    said(
        engram, session, f"2026-11-{day:02}T10:00:00+00:00",
        "Why does `src/invoice.py` fail with KeyError: 'total'? We decided to keep the old API.",
        "The KeyError: 'total' in `src/invoice.py` came from an empty basket; I fixed `src/basket.py` and tests pass.",
        "Good. Remember that we always round half up in `src/invoice.py`.", "Noted: round half up in `src/invoice.py`.",
    )  # fmt: skip
    engram.complete(session, "done")
    return session


def more(engram: Engram, began: str = "2026-11-05T10:00:00+00:00") -> None:
    texts = [f"Now the {number}th module, please; keep the tests green." for number in range(24)]
    said(engram, "s1", began, *texts)


def test_the_first_pass_undone_leaves_nothing_it_made(engram: Engram) -> None:
    talk(engram)
    work(engram, 2)
    dream_pass = engram.dream(force=True)
    undone = engram.undo_dream(dream_pass.id)
    assert {"gist s1", "era 2026-11", "profile self", "narrative current"} <= set(undone.removed)
    assert undone.kept == ()
    assert engram.get_summary("s1") is None
    assert engram.list_eras() == []
    assert engram.get_profile() is None
    assert engram.get_narrative() is None
    assert not passages(engram, "gist")
    home = vault.open_vault(engram)
    assert list(home.iter_pages("concepts", "connections")) == []
    (day,) = home.iter_pages("daily")
    assert "<!-- engram" not in (home.read(day) or "")


def test_what_was_undone_is_not_made_again_before_something_is_new(engram: Engram) -> None:
    talk(engram)
    engram.undo_dream(engram.dream(force=True).id)
    engram.dream(force=True)
    assert engram.get_summary("s1") is None
    assert engram.get_profile() is None
    more(engram)
    engram.dream(force=True)
    assert engram.get_summary("s1") is not None
    assert engram.list_eras()


def test_the_second_pass_undone_gives_back_what_the_first_said(
    timed: Engram, clock: ManualClock, tmp_path: Path
) -> None:  # fmt: skip
    talk(timed)
    work_a_week(timed, tmp_path)
    work(timed, 2)
    timed.dream(force=True)
    before = _all_of(timed)
    assert before["pages"]
    clock.pass_(3 * 3600)
    more(timed)
    work(timed, 4)
    second = timed.dream(force=True)
    assert _all_of(timed) != before
    undone = timed.undo_dream(second.id)
    assert undone.kept == ()
    assert _all_of(timed) == before
    assert "gist s1" in undone.restored
    timed.dream(force=True)
    assert _all_of(timed) == before


def _all_of(engram: Engram) -> dict[str, object]:
    gist, home = engram.get_summary("s1"), vault.open_vault(engram)
    assert gist is not None
    pages = {target: home.read(target) for target in home.iter_pages("concepts", "connections")}
    return {
        "gist": gist.content, "found": passages(engram, "gist"), "eras": [era.content for era in engram.list_eras()],
        "profile": engram.get_profile(), "narrative": engram.get_narrative(), "pages": pages,
    }  # fmt: skip


def test_what_somebody_changed_since_is_left_alone_and_named(
    timed: Engram, clock: ManualClock, tmp_path: Path
) -> None:  # fmt: skip
    work_a_week(timed, tmp_path)
    work(timed, 2)
    dream_pass = timed.dream(force=True)
    clock.pass_(60)
    timed.set_profile("I am my own profile.")
    home = vault.open_vault(timed)
    page = next(iter(home.iter_pages("concepts")))
    text = home.read(page) or ""
    home.write(page, text + "\nA person wrote this.\n", text)
    undone = timed.undo_dream(dream_pass.id)
    assert "profile self" in undone.kept
    assert f"page {page}" in undone.kept
    assert timed.get_profile() == "I am my own profile."
    assert "A person wrote this." in (home.read(page) or "")


def test_entries_undone_are_not_flushed_again(engram: Engram) -> None:
    talk(engram)
    engram.undo_dream(engram.dream(force=True).id)
    assert engram.flush().entries == ()
    assert log_entries.list_unwritten(engram.engine) == []


def test_a_pass_is_undone_once_and_only_if_there_is_one(engram: Engram) -> None:
    talk(engram)
    dream_pass = engram.dream(force=True)
    engram.undo_dream(dream_pass.id)
    with pytest.raises(InvalidInput, match="already undone"):
        engram.undo_dream(dream_pass.id)
    for number in (999, 0, -1, 1 << 70):
        with pytest.raises(NotFound, match="engram dream log"):
            engram.undo_dream(number)
    assert engram.dream_log()[0].undone_at is not None


def test_undoing_does_not_bring_back_a_deleted_session(timed: Engram, clock: ManualClock) -> None:
    said(timed, "secret", "2026-11-02T10:00:00+00:00", "My cat is called Zebedee.", "Noted, Zebedee it is.")
    timed.dream(force=True)
    clock.pass_(3600)
    talk(timed)
    second = timed.dream(force=True)
    timed.delete_session("secret")
    timed.undo_dream(second.id)
    rows = timed.engine.run("select content from documents") + timed.engine.run("select content from passages")
    assert not [row for row in rows if "Zebedee" in row["content"]]
    home = vault.open_vault(timed)
    assert not [
        page for page in home.iter_pages("concepts", "connections", "daily") if "Zebedee" in (home.read(page) or "")
    ]


def test_a_deleted_session_does_not_keep_other_pages_from_being_undone(
    timed: Engram, clock: ManualClock, tmp_path: Path
) -> None:  # fmt: skip
    work_a_week(timed, tmp_path)
    dream_pass = timed.dream(force=True)
    (page,) = (each for each in vault.open_vault(timed).iter_pages("concepts") if each == "concepts/shop")
    said(timed, "later", "2026-11-09T10:00:00+00:00", "My cat is called Zebedee.", "Noted, Zebedee it is.")
    clock.pass_(3600)
    timed.dream(force=True)
    timed.delete_session("later")
    undone = timed.undo_dream(dream_pass.id)
    assert f"page {page}" in undone.removed
    assert vault.open_vault(timed).read(page) is None


def test_a_reflection_is_undone_though_the_drives_moved_since(timed: Engram, clock: ManualClock) -> None:
    timed.set_self_state({"mood": "calm"})
    self_state.update_state(timed, {"reflection": {"narrative": "the first", "sessions": []}}, "rules/1", [])
    with attributed_pass(timed) as number:
        self_state.update_state(timed, {"reflection": {"narrative": "the second", "sessions": []}}, "rules/1", [])
    self_state.update_state(timed, {"drives": {"continuity": {"level": 0.4, "why": "x"}}}, "rules/1", [])
    assert timed.undo_dream(number).restored == ("reflection",)
    state = timed.get_self_state()
    assert state["reflection"]["narrative"] == "the first"
    assert (state["mood"], state["drives"]["continuity"]["level"]) == ("calm", 0.4)


def test_a_reflection_somebody_changed_since_is_left_alone(timed: Engram, clock: ManualClock) -> None:
    with attributed_pass(timed) as number:
        self_state.update_state(timed, {"reflection": {"narrative": "ours", "sessions": []}}, "rules/1", [])
    timed.set_self_state({"reflection": {"narrative": "theirs"}})
    assert timed.undo_dream(number).kept == ("reflection",)
    assert timed.get_self_state()["reflection"]["narrative"] == "theirs"


@contextmanager
def attributed_pass(engram: Engram) -> Iterator[int]:
    """Treat a block as a pass."""
    number = journal.begin_pass(engram, "asked", {})
    with attribute_to_pass(number):
        yield number
