"""Files in the vault are searchable, including those people write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engram import Engram
from engram.errors import InvalidInput, NotFound
from engram.wiki.vault import daily_log, vault
from engram.wiki.vault.sync import sync_pages
from tests.summaries.talking import passages, said

BEGAN = "2026-11-10T10:00:00+00:00"
TALK = (
    "Please make the export of invoices faster, it takes an hour.",
    "The export reads every row twice. I will use one query instead.",
    "We decided to keep the CSV format because accounting depends on it.",
    "Done: the export takes four minutes now.",
)


def write(hub: Engram, target: str, text: str) -> None:
    home = vault.open_vault(hub)
    before = home.resolve_path(target)
    assert home.write(target, text, home.read(target))
    os.utime(before, ns=(1, os.stat(before).st_mtime_ns + 1_000_000))  # so that coarse file times see the edit


def names(hub: Engram, words: str, tier: str) -> set[str]:
    return {hit.name or "" for hit in hub.recall(words, tiers=[tier])}


def test_an_entry_is_found_with_its_session_day_and_project(engram: Engram) -> None:
    talk = engram.register("claude", "invoices", project="/p/shop")
    said(engram, talk, BEGAN, *TALK)
    (entry,) = engram.flush().entries
    sync_pages(engram, vault.open_vault(engram))
    (hit,) = engram.recall("CSV format accounting", tiers=["daily"], project="/p/shop")
    assert (hit.name, hit.session_id) == (f"daily/2026-11-10#{entry}", talk)
    assert hit.at is not None
    assert hit.at.date().isoformat() == "2026-11-10"
    assert "CSV format" in engram.get(hit.id).content


def test_nothing_is_read_again_while_nothing_changes_and_a_new_store_finds_all(engram: Engram, tmp_path: Path) -> None:
    said(engram, "talk", BEGAN, *TALK)
    engram.flush()
    write(engram, "concepts/kafka", "# Kafka\n\nThe broker runs on three nodes.\n")
    assert sync_pages(engram, vault.open_vault(engram)) == 1  # the log was indexed when it was written
    assert sync_pages(engram, vault.open_vault(engram)) == 0
    with Engram(home=str(tmp_path / "other"), wiki=vault.open_vault(engram).root) as other:
        assert sync_pages(other, vault.open_vault(other)) == 2
        assert names(other, "CSV format accounting", "daily") != set()
    assert sync_pages(engram, vault.open_vault(engram)) == 0


def test_what_people_write_change_and_remove_is_found_changed_and_gone(engram: Engram) -> None:
    home = vault.open_vault(engram)
    write(engram, "daily/2026-11-09", "# Daily Log: 2026-11-09\n\nMet Anna about the zeppelin budget.\n")
    write(engram, "concepts/kafka", "# Kafka\n\nThe broker runs on three nodes.\n")
    sync_pages(engram, home)
    assert names(engram, "zeppelin budget", "daily") == {"daily/2026-11-09"}
    assert names(engram, "broker nodes", "article") == {"concepts/kafka"}
    write(engram, "daily/2026-11-09", "# Daily Log: 2026-11-09\n\nMet Anna about the submarine budget.\n")
    write(engram, "concepts/kafka", "# Kafka\n\nThe cluster runs on a lighthouse.\n")
    sync_pages(engram, home)
    assert names(engram, "zeppelin", "daily") == set()
    assert names(engram, "submarine budget", "daily") == {"daily/2026-11-09"}
    assert names(engram, "cluster lighthouse", "article") == {"concepts/kafka"}
    home.remove("daily/2026-11-09")
    home.remove("concepts/kafka")
    assert sync_pages(engram, home) == 2
    assert (passages(engram, "daily"), passages(engram, "article")) == ({}, {})


def test_an_entry_somebody_takes_out_is_found_no_more(engram: Engram) -> None:
    said(engram, "talk", BEGAN, *TALK)
    engram.flush()
    home = vault.open_vault(engram)
    sync_pages(engram, home)
    daily_log.delete_sessions(home, "2026-11-10", {"talk"})
    sync_pages(engram, home)
    assert set(passages(engram, "daily")) == {"daily/2026-11-10"}


def test_a_log_with_entries_of_a_session_that_is_not_here_is_found_all_the_same(engram: Engram) -> None:
    mark = '<!-- engram entry="e1" session="gone" flavor="claude" project="" -->'
    entry = f"### Session (10:00) claude\n{mark}\n\nThe zeppelin flies.\n"
    write(engram, "daily/2026-11-09", f"# Daily Log: 2026-11-09\n\n## Sessions\n\n{entry}")
    sync_pages(engram, vault.open_vault(engram))
    (hit,) = engram.recall("zeppelin flies", tiers=["daily"])
    assert (hit.name, hit.session_id) == ("daily/2026-11-09#e1", None)


def test_secrets_people_write_into_pages_are_not_searched(engram: Engram) -> None:
    key = "AKIA" + "QWERTYUIOPASDFGH"
    write(engram, "daily/2026-11-09", f"# Daily Log: 2026-11-09\n\nThe deploy key is {key} for now.\n")
    sync_pages(engram, vault.open_vault(engram))
    assert key not in str(passages(engram, "daily"))


def test_an_entry_that_retells_a_session_gives_way_to_the_session_itself(engram: Engram) -> None:
    said(engram, "talk", BEGAN, *TALK)
    engram.flush()
    sync_pages(engram, vault.open_vault(engram))
    hits = engram.recall("Why keep the CSV format for accounting?")
    assert {hit.tier for hit in hits} == {"exchange"}


def test_a_page_and_an_entry_are_shown_by_their_names(engram: Engram) -> None:
    said(engram, "talk", BEGAN, *TALK)
    (entry,) = engram.flush().entries
    write(engram, "concepts/kafka", "---\ntitle: Kafka\n---\n\nThe broker runs on three nodes.\n")
    page = engram.get("concepts/kafka")
    assert (page.tier, page.title, page.source) == ("article", "Kafka", "concepts/kafka.md")
    assert "three nodes" in page.content
    assert engram.get("[[concepts/kafka.md|the broker]]").content == page.content
    log = engram.get("daily/2026-11-10")
    assert (log.tier, log.title) == ("daily", "Daily Log: 2026-11-10")
    one = engram.get(f"daily/2026-11-10#{entry}")
    assert one.session_id == "talk"
    assert one.content.startswith("### Session (")


@pytest.mark.parametrize("name", ["concepts/../../etc/passwd", "daily/", "concepts/.hidden", "concepts/a\\b"])
def test_a_name_that_leads_out_of_the_vault_is_refused(engram: Engram, name: str) -> None:
    with pytest.raises(InvalidInput):
        engram.get(name)


def test_a_page_that_is_not_there_is_said_to_be_missing(engram: Engram) -> None:
    with pytest.raises(NotFound, match="concepts/nothing"):
        engram.get("concepts/nothing")
