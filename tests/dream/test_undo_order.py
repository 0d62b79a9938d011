"""Undo of several passes in any order, and of passes whose pages are not kept any more."""

from __future__ import annotations

import os
from pathlib import Path

from engram import Engram
from engram.wiki.vault import page_snapshots, vault
from tests.conftest import ManualClock
from tests.dream.test_cycle import talk
from tests.dream.test_undo import more, work
from tests.wiki import shop


def said(engram: Engram) -> dict[str, object]:
    """Return the current documents and pages."""
    home = vault.open_vault(engram)
    return {
        "gists": {summary.session_id: summary.content for summary in engram.list_summaries()},
        "eras": [era.content for era in engram.list_eras()], "profile": engram.get_profile(),
        "narrative": engram.get_narrative(),
        "pages": {target: home.read(target) for target in home.iter_pages("concepts", "connections")},
    }  # fmt: skip


def three_passes(timed: Engram, clock: ManualClock) -> list[dict[str, object]]:
    """Dream three times with more and more data; return the texts before each pass and after the last."""
    states = [said(timed)]
    for day in (2, 5, 8):
        work(timed, day)
        if day == 2:
            talk(timed)
        else:
            more(timed, f"2026-11-{day:02}T12:00:00+00:00")
        timed.dream(force=True)
        states.append(said(timed))
        clock.pass_(3 * 3600)
    return states


def test_passes_undone_from_the_newest_on_give_back_what_was_before_each(timed: Engram, clock: ManualClock) -> None:
    states = three_passes(timed, clock)
    for number in (3, 2, 1):
        undone = timed.undo_dream(number)
        assert [each for each in undone.kept if not each.startswith("self ")] == []
        assert said(timed) == states[number - 1], number


def test_an_older_pass_undone_leaves_alone_what_a_newer_one_wrote(timed: Engram, clock: ManualClock) -> None:
    states = three_passes(timed, clock)
    undone = timed.undo_dream(1)
    assert {"gist s1", "era 2026-11", "narrative current"} <= set(undone.kept)
    assert said(timed)["eras"] == states[3]["eras"]
    assert timed.check().problems == ()


def test_pages_of_passes_long_past_are_not_kept_and_named_when_undone(
    timed: Engram, clock: ManualClock, tmp_path: Path
) -> None:  # fmt: skip
    shop.work_a_week(timed, tmp_path)
    first = timed.dream(force=True)
    for pass_id in range(100, 160):
        os.makedirs(os.path.join(vault.open_vault(timed).own_dir, "undo", str(pass_id)))
    clock.pass_(3600)
    shop.work(tmp_path, "later", 9, "Sort the price labels by their weight.")
    shop.read(timed, tmp_path)
    timed.dream(force=True)
    assert page_snapshots.read_snapshots(vault.open_vault(timed), first.id) == {}
    undone = timed.undo_dream(first.id)
    assert [each for each in undone.kept if each.startswith("page concepts/")]
