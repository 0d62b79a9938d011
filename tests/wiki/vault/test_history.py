"""History: older versions of a page are kept within limits, without deleted content."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.errors import NotFound
from engram.wiki.vault import history
from engram.wiki.vault.vault import Vault, open_vault
from tests.summaries.talking import said
from tests.wiki.logs import entry, log, page

TALK = ("Please change `src/cart.py` so that it counts in cents.", "Done, it counts in cents now, all tests pass.")


def texts(vault: Vault, target: str) -> list[str]:
    return [history.read_version(vault, target, version.version) for version in history.list_versions(vault, target)]


def test_each_version_is_kept_up_to_a_number(tmp_path: Path) -> None:
    vault = Vault(str(tmp_path))
    for number in range(25):
        history.save_version(vault, "concepts/tea", f"text {number}", f"2026-11-16T10:00:{number:02}+01:00")
    assert texts(vault, "concepts/tea") == [f"text {number}" for number in range(24, 4, -1)]
    newest = history.list_versions(vault, "concepts/tea")[0]
    assert newest.at.isoformat() == "2026-11-16T10:00:24+01:00"
    assert newest.size == len("text 24")


def test_two_versions_of_one_second_are_both_kept_and_one_kept_twice_is_one(tmp_path: Path) -> None:
    vault, at = Vault(str(tmp_path)), "2026-11-16T10:00:00+00:00"
    for text in ("one", "two", "two", "one"):
        history.save_version(vault, "concepts/tea", text, at)
    assert sorted(texts(vault, "concepts/tea")) == ["one", "two"]


def test_rules_after_rules_are_kept_once_a_day_and_for_a_few_days(tmp_path: Path) -> None:
    vault = Vault(str(tmp_path))
    history.save_version(vault, "concepts/tea", "by hand", "2026-10-01T10:00:00+00:00")
    for day in range(1, 9):
        for hour in (10, 11):
            stamp = f"2026-11-{day:02}T{hour}:00:00+00:00"
            history.save_version(vault, "concepts/tea", f"{day} at {hour}", stamp, by_rules=True)
    assert texts(vault, "concepts/tea") == [*(f"{day} at 10" for day in range(8, 3, -1)), "by hand"]


@pytest.mark.parametrize("version", ["../../state", "2026-11-16T100000+0000/../x", "nothing", ""])
def test_only_versions_that_are_there_can_be_asked_for(tmp_path: Path, version: str) -> None:
    vault = Vault(str(tmp_path))
    history.save_version(vault, "concepts/tea", "x", "2026-11-16T10:00:00+00:00")
    with pytest.raises(NotFound):
        history.read_version(vault, "concepts/tea", version)


def test_what_the_rules_replace_is_kept(engram: Engram) -> None:
    log(engram, "2026-11-09", entry(1, goal="mend the till"))
    engram.compile()
    first = page(engram, "concepts/shop")
    log(engram, "2026-11-10", entry(2, goal="mend the door"))
    engram.compile()
    assert page(engram, "concepts/shop") != first
    assert texts(open_vault(engram), "concepts/shop") == [first]
    assert "mend the door" in engram.page_diff(
        "concepts/shop", history.list_versions(open_vault(engram), "concepts/shop")[0].version
    )


def test_what_nobody_saw_is_not_kept(engram: Engram) -> None:
    for number in range(4):
        log(engram, f"2026-11-0{number + 1}", entry(number, goal=f"mend number {number}"))
    engram.compile()
    assert texts(open_vault(engram), "concepts/shop") == []


def test_a_deleted_session_leaves_history_and_does_not_come_back_to_it(engram: Engram) -> None:
    ids = {name: engram.register("test", name, project="/home/ada/shop") for name in ("one", "two", "three")}
    for name, day in (("one", "09"), ("two", "10"), ("three", "11")):
        said(engram, ids[name], f"2026-11-{day}T10:00:00+00:00", f"This is {name}. {TALK[0]}", TALK[1])
    engram.flush()
    engram.compile()
    vault = open_vault(engram)
    target = "concepts/shop"
    old = engram.get_page(target)
    engram.edit_page(target, old.text + "\nMine.\n", old.version)
    log_page = engram.get_page("daily/2026-11-10")
    engram.edit_page("daily/2026-11-10", log_page.text + "\nA note.\n", log_page.version)
    history.save_version(vault, target, "of another day: daily/2026-11-09", "2026-11-01T10:00:00+00:00")
    assert any("This is two." in text for text in texts(vault, target))
    engram.complete(ids["two"], "done")
    changed = engram.delete_session(ids["two"], dry_run=True).changed
    assert {"page daily/2026-11-10: entries deleted", f"page {target}: rebuilt by the next compile"} <= set(changed)
    assert any("This is two." in text for text in texts(vault, target))
    assert engram.delete_session(ids["two"]).changed == changed
    assert "of another day: daily/2026-11-09" in texts(vault, target)
    assert not any("This is two." in text for text in texts(vault, target))
    assert texts(vault, "daily/2026-11-10") == []
    current = engram.get_page(target)
    engram.edit_page(
        target, current.text + "\nMore.\n", current.version
    )  # the page quotes it until it is compiled again
    engram.compile()
    kept = [text for each in vault.iter_pages() for text in texts(vault, each)]
    assert [text for text in kept if "This is two." in text] == []


def test_a_page_made_again_after_a_deletion_is_kept_as_usual(engram: Engram) -> None:
    vault = open_vault(engram)
    log(engram, "2026-11-09", entry(1, goal="mend the till"))
    log(engram, "2026-11-10", entry(2, goal="mend the door"))
    engram.compile()
    history.delete_versions_naming(vault, {"s2", "daily/2026-11-10"})
    assert history.is_withdrawn(vault, "concepts/shop")
    log(engram, "2026-11-11", entry(3, goal="mend the wall"))
    engram.compile()  # another log: the page still contains what was deleted
    assert history.is_withdrawn(vault, "concepts/shop")
    log(engram, "2026-11-10", entry(4, goal="mend the roof"))
    engram.compile()
    assert not history.is_withdrawn(vault, "concepts/shop")
    assert [text for text in texts(vault, "concepts/shop") if "mend the door" in text] == []


def test_forgetting_takes_whole_names(tmp_path: Path) -> None:
    vault = Vault(str(tmp_path))
    history.save_version(vault, "concepts/tea", "session s12 said", "2026-11-01T10:00:00+00:00")
    history.save_version(vault, "concepts/tea", "session s1 said", "2026-11-02T10:00:00+00:00")
    history.delete_versions_naming(vault, {"s1"})
    assert texts(vault, "concepts/tea") == ["session s12 said"]


@pytest.mark.xfail(strict=True, reason="pages quote it until the next compile")
def test_deleting_a_session_takes_its_quotes_out_of_pages_at_once(engram: Engram) -> None:
    ids = {name: engram.register("test", name, project="/home/ada/shop") for name in ("one", "two", "three")}
    for name, session in ids.items():
        said(engram, session, "2026-11-10T10:00:00+00:00", f"This is {name}. {TALK[0]}", TALK[1])
        engram.complete(session, "done")
    engram.flush()
    engram.compile()
    engram.edit_page("qa/who", f"# Who\n\nThis is two, says session `{ids['two']}`.\n")
    assert "This is two." in page(engram, "concepts/shop")
    result = engram.delete_session(ids["two"], dry_run=True)
    assert "This is two." in page(engram, "concepts/shop")
    gone = engram.delete_session(ids["two"])
    quoting = [target for target in open_vault(engram).iter_pages() if "This is two" in page(engram, target)]
    assert quoting == ["qa/who"]
    assert "This is one." in page(engram, "concepts/shop")
    for each in (result, gone):
        assert "page concepts/shop" in each.remade
        assert "page qa/who" in each.mentions
    assert engram.compile().updated == ()
