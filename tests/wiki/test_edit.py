"""Editing: no text is lost, even with concurrent writers."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engram import Engram
from engram.errors import InvalidInput, TooLarge
from engram.store import passages
from engram.wiki.edit import NotWhole, PageChanged
from engram.wiki.vault import history
from engram.wiki.vault.vault import open_vault
from tests.wiki.logs import entry, log, page
from tests.wiki.shop import read, work, work_a_week

ROOT = Path(__file__).parents[2]
TEA = "# Tea\n\nIt is hot.\n"


def test_a_page_is_written_read_changed_and_its_versions_kept(engram: Engram) -> None:
    first = engram.edit_page("concepts/tea", TEA)
    assert (first.created, first.changed) == (True, True)
    seen = engram.get_page("concepts/tea")
    assert (seen.text, seen.version, seen.title) == (TEA, first.version, "Tea")
    second = engram.edit_page("concepts/tea", TEA.replace("hot", "iced"), seen.version, "ada")
    assert not second.created
    now = engram.get_page("concepts/tea")
    (older,) = now.versions
    assert engram.get_page("concepts/tea", older.version).text == TEA
    assert "-It is hot.\n+It is iced." in engram.page_diff("concepts/tea", older.version)
    result = page(engram, "log")
    assert "edit | concepts/tea by you\n\n- Created: [[concepts/tea]]" in result
    assert "edit | concepts/tea by ada\n\n- Updated: [[concepts/tea]]" in result
    assert "| [[concepts/tea]] | It is hot. |" in page(engram, "index")


def test_the_same_text_changes_nothing(engram: Engram) -> None:
    version = engram.edit_page("concepts/tea", TEA).version
    assert not engram.edit_page("concepts/tea", TEA, version).changed
    assert engram.get_page("concepts/tea").versions == ()


def test_an_older_version_is_restored_by_its_text(engram: Engram) -> None:
    version = engram.edit_page("concepts/tea", TEA).version
    version = engram.edit_page("concepts/tea", "# Tea\n\nWrong.\n", version).version
    (older,) = engram.get_page("concepts/tea").versions
    engram.edit_page("concepts/tea", engram.get_page("concepts/tea", older.version).text, version)
    result = engram.get_page("concepts/tea")
    assert result.text == TEA
    assert len(result.versions) == 2


LONG, LATIN, ESCAPED, OLD_MAC = (
    b"# Tea\n\n" + b"It is hot.\n" * 110_000, b"# Caf\xe9\n\nHot.\n", b"# Tea\n\n\x1b[31mHot.\n", b"# Tea\rHot.\r",
)  # fmt: skip


@pytest.mark.parametrize("held", [LONG, LATIN, ESCAPED, OLD_MAC])
def test_what_an_editor_would_not_give_back_whole_is_not_replaced(engram: Engram, held: bytes) -> None:
    path = Path(open_vault(engram).root, "concepts", "tea.md")
    path.parent.mkdir(parents=True)
    path.write_bytes(held)
    seen = engram.get_page("concepts/tea")
    assert not seen.whole
    with pytest.raises(NotWhole):
        engram.edit_page("concepts/tea", seen.text[:900] + "more\n", seen.version)
    assert path.read_bytes() == held


def test_line_ends_and_a_mark_at_the_beginning_hinder_nobody(engram: Engram) -> None:
    path = Path(open_vault(engram).root, "concepts", "tea.md")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xef\xbb\xbf# Tea\r\n\r\nHot.\r\n")
    seen = engram.get_page("concepts/tea")
    assert seen.whole
    engram.edit_page("concepts/tea", seen.text.replace("Hot", "Iced"), seen.version)
    assert path.read_bytes() == b"\xef\xbb\xbf# Tea\r\n\r\nIced.\r\n"


def test_a_page_that_is_written_is_not_said_to_be_lost_when_nothing_can_tell_of_it(engram: Engram) -> None:
    root = Path(open_vault(engram).root)
    (root / "log.md").mkdir(parents=True)  # where no line can be added
    (root / "index.md").mkdir()
    done = engram.edit_page("concepts/tea", TEA)
    assert (done.created, (root / "concepts" / "tea.md").read_text()) == (True, TEA)
    assert [hit.name for hit in engram.recall("hot tea", tiers=["article"])] == ["concepts/tea"]


def test_who_saw_something_else_is_refused_and_told_what_stands_there(engram: Engram) -> None:
    version = engram.edit_page("concepts/tea", TEA).version
    path = Path(open_vault(engram).root, "concepts", "tea.md")
    path.write_text("# Tea\n\nIced, says an editor.\n")
    with pytest.raises(PageChanged) as refused:
        engram.edit_page("concepts/tea", "# Tea\n\nMine.\n", version)
    assert refused.value.content == path.read_text()
    assert engram.edit_page("concepts/tea", "# Tea\n\nBoth.\n", refused.value.version).changed
    (older,) = engram.get_page("concepts/tea").versions
    assert "Iced" in engram.get_page("concepts/tea", older.version).text


def test_a_page_that_is_there_is_no_new_one_and_one_that_went_is_told(engram: Engram) -> None:
    version = engram.edit_page("concepts/tea", TEA).version
    with pytest.raises(PageChanged):
        engram.edit_page("concepts/tea", "# Other\n")
    Path(open_vault(engram).root, "concepts", "tea.md").unlink()
    with pytest.raises(PageChanged) as refused:
        engram.edit_page("concepts/tea", "# Tea\n\nMine.\n", version)
    assert (refused.value.version, refused.value.content) == ("", "")
    assert engram.edit_page("concepts/tea", "# Tea\n\nMine.\n", "").created


def test_of_many_threads_that_saw_the_same_one_writes(engram: Engram) -> None:
    version = engram.edit_page("concepts/tea", TEA).version

    def edit(number: int) -> bool:
        try:
            return engram.edit_page("concepts/tea", f"# Tea\n\nNumber {number}.\n", version).changed
        except PageChanged:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(edit, range(8))) == 1
    assert len(engram.get_page("concepts/tea").versions) == 1


def test_two_processes_that_try_again_lose_no_line(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Engram(home) as hub:
        hub.edit_page("concepts/tea", TEA)
    script = (
        "import sys\n"
        "from engram import Engram\n"
        "from engram.wiki.edit import PageChanged\n"
        "with Engram(sys.argv[1]) as hub:\n"
        "    for number in range(10):\n"
        "        while True:\n"
        "            seen = hub.get_page('concepts/tea')\n"
        "            try:\n"
        "                hub.edit_page('concepts/tea', seen.text + f'{sys.argv[2]}{number}\\n', seen.version)\n"
        "                break\n"
        "            except PageChanged:\n"
        "                continue\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", script, str(home), name], cwd=ROOT) for name in "ab"]
    assert [each.wait(120) for each in both] == [0, 0]
    with Engram(home) as hub:
        result = hub.get_page("concepts/tea")
    lines = result.text.splitlines()[3:]
    assert sorted(lines) == sorted(f"{name}{number}" for name in "ab" for number in range(10))
    assert len(result.versions) == 20


@pytest.mark.parametrize(
    "target", ["../secret", "concepts/../../secret", "/etc/x", "index", "notes/x", "concepts/", "concepts/.x", ""]
)  # fmt: skip
def test_nothing_outside_of_the_folders_is_written(engram: Engram, target: str) -> None:
    with pytest.raises(InvalidInput):
        engram.edit_page(target, "# X\n")


def test_a_link_that_leads_out_of_the_vault_is_refused(engram: Engram, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("mine")
    folder = Path(open_vault(engram).root, "concepts")
    folder.mkdir(parents=True)
    (folder / "out.md").symlink_to(secret)
    for call in (lambda: engram.edit_page("concepts/out", "# X\n"), lambda: engram.get_page("concepts/out")):
        with pytest.raises(InvalidInput):
            call()
    assert secret.read_text() == "mine"


def test_sizes_and_emptiness_are_refused(engram: Engram) -> None:
    with pytest.raises(TooLarge):
        engram.edit_page("concepts/tea", "x" * (1024 * 1024 + 1))
    with pytest.raises(InvalidInput):
        engram.edit_page("concepts/tea", " \n")
    with pytest.raises(InvalidInput):
        engram.edit_page(f"concepts/{'é' * 150}", "# X\n")


def test_line_ends_and_the_mark_at_the_beginning_stay(engram: Engram) -> None:
    path = Path(open_vault(engram).root, "concepts", "tea.md")
    path.parent.mkdir(parents=True)
    path.write_bytes("\ufeff# Tea\r\n\r\nHot.\r\n".encode())
    seen = engram.get_page("concepts/tea")
    engram.edit_page("concepts/tea", seen.text.replace("Hot", "Iced"), seen.version)
    assert path.read_bytes() == "\ufeff# Tea\r\n\r\nIced.\r\n".encode()


def test_an_edited_page_is_found_at_once_and_without_its_secrets(engram: Engram) -> None:
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    version = engram.edit_page("concepts/tea", f"# Tea\n\nThe kettle whistles. {secret}\n").version
    assert "kettle" in engram.recall("kettle whistles", tiers=["article"])[0].snippet
    held = [row["content"] for row in _rows(engram, "concepts/tea")]
    assert held
    assert not any(secret in text for text in held)
    engram.edit_page("concepts/tea", "# Tea\n\nThe samovar sings.\n", version)
    assert not any("kettle" in row["content"] for row in _rows(engram, "concepts/tea"))


def _rows(hub: Engram, target: str) -> list[dict[str, str]]:
    ids = passages.list_documents(hub.engine, "article")
    assert target in ids
    return hub.engine.run("select content from passages where kind = 'article' and key = :key", key=target)


def test_a_log_is_edited_whole_and_its_entries_are_still_known(engram: Engram) -> None:
    log(engram, "2026-11-10", entry(1, goal="mend the till"), entry(2, goal="mend the door"))
    seen = engram.get_page("daily/2026-11-10")
    assert [each.id for each in seen.entries] == ["e1", "e2"]
    engram.edit_page("daily/2026-11-10", seen.text.replace("mend the door", "paint the door"), seen.version)
    result = engram.get_page("daily/2026-11-10")
    assert [each.session_id for each in result.entries] == ["s1", "s2"]
    assert "paint the door" in result.entries[1].content
    assert "daily/2026-11-10#e2" in passages.list_documents(engram.engine, "daily")
    assert engram.compile().logs == ("2026-11-10",)


def test_what_a_person_edits_stays_when_the_page_is_made_again(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    engram.compile()
    seen = engram.get_page("concepts/shop")
    assert (seen.made_by, seen.edited) == ("rules/3", ())
    engram.edit_page("concepts/shop", seen.text.replace("## Commands\n", "## Commands\n\nMine.\n"), seen.version)
    assert engram.get_page("concepts/shop").edited == ("Commands",)
    work(tmp_path, "later", 9, "Sort the price labels by their weight.")
    read(engram, tmp_path)
    engram.compile()
    assert "Mine." in page(engram, "concepts/shop")
    assert len(history.list_versions(open_vault(engram), "concepts/shop")) == 2
