"""History: older versions of a page are kept within limits, without deleted content."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.errors import NotFound
from engram.wiki.vault import history
from engram.wiki.vault.vault import Vault, open_vault
from tests.wiki.logs import entry, log, page
from tests.wiki.shop import DECISIONS, PAGE, PRICES, SHOP, read, work, work_a_week


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


def test_what_the_rules_replace_is_kept(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    engram.compile()
    first = page(engram, PRICES)
    work(tmp_path, "later", 9, "Sort the price labels by their weight.")
    read(engram, tmp_path)
    engram.compile()
    assert page(engram, PRICES) != first
    assert texts(open_vault(engram), PRICES) == [first]
    version = history.list_versions(open_vault(engram), PRICES)[0].version
    assert "Sort the price labels" in engram.page_diff(PRICES, version)


def test_a_deleted_session_leaves_pages_and_history_at_once(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    engram.compile()
    work(tmp_path, "later", 9, "Sort the price labels. Price labels must always name the weight before the price.")
    read(engram, tmp_path)
    engram.compile()
    vault = open_vault(engram)
    session = next(
        item.session.id for item in engram.list_sessions(project=SHOP, limit=10) if item.began and item.began.day == 4
    )
    engram.edit_page("qa/who", f"# Who\n\nSemicolons, says session `{session}`.\n")
    assert any("semicolons" in text for text in texts(vault, DECISIONS))
    history.save_version(vault, PAGE, "of another day: daily/2026-10-09", "2026-10-09T10:00:00+00:00")
    planned = engram.delete_session(session, dry_run=True)
    assert "semicolons" in page(engram, DECISIONS)
    gone = engram.delete_session(session)
    assert planned.remade == gone.remade
    for report in (planned, gone):
        assert {f"page {PAGE}", f"page {DECISIONS}", f"page {PRICES}"} <= set(report.remade)
        assert "page qa/who" in report.mentions
        assert "page daily/2026-11-04: entries deleted" in report.changed
    quoting = [target for target in vault.iter_pages() if "emicolons" in page(engram, target)]
    assert quoting == ["qa/who"]
    assert "must always be rounded half up" in page(engram, DECISIONS)
    assert not any("semicolons" in text for target in vault.iter_pages() for text in texts(vault, target))
    assert "of another day: daily/2026-10-09" in texts(vault, PAGE)
    assert engram.compile().updated == ()
    assert not history.is_withdrawn(vault, PAGE)


def test_a_page_of_a_model_that_quotes_a_deleted_session_is_not_kept_until_its_log_is_compiled(engram: Engram) -> None:
    vault = open_vault(engram)
    log(engram, "2026-11-09", entry(1, goal="mend the till"))
    log(engram, "2026-11-10", entry(2, goal="mend the door"))
    engram.compile()
    engram.edit_page("concepts/door", "# Door\n\nMended: [[daily/2026-11-10]].\n")
    history.delete_versions_naming(vault, {"s2", "daily/2026-11-10"})
    assert history.is_withdrawn(vault, "concepts/door")
    log(engram, "2026-11-11", entry(3, goal="mend the wall"))
    engram.compile()  # another log: the page still contains what was deleted
    assert history.is_withdrawn(vault, "concepts/door")
    log(engram, "2026-11-10", entry(4, goal="mend the roof"))
    engram.compile()
    assert not history.is_withdrawn(vault, "concepts/door")


def test_forgetting_takes_whole_names(tmp_path: Path) -> None:
    vault = Vault(str(tmp_path))
    history.save_version(vault, "concepts/tea", "session s12 said", "2026-11-01T10:00:00+00:00")
    history.save_version(vault, "concepts/tea", "session s1 said", "2026-11-02T10:00:00+00:00")
    history.delete_versions_naming(vault, {"s1"})
    assert texts(vault, "concepts/tea") == ["session s12 said"]
