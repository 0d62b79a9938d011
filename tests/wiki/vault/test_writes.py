"""Writes: a compiler killed at any step repeats nothing and loses nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engram import Engram
from engram.errors import InvalidInput
from engram.store import passages
from engram.wiki.vault import index_page, state, write_batch
from engram.wiki.vault.vault import Vault, open_vault
from engram.wiki.vault.write_batch import PageWrite
from tests.wiki.logs import page
from tests.wiki.shop import RULES, read, work

ROOT = Path(__file__).parents[3]


def a_day(hub: Engram, home: Path, number: int) -> None:
    work(home, f"s{number}", number, RULES[number])
    read(hub, home)


def seen(hub: Engram) -> dict[str, str]:
    """Return all pages and their search results, without the times of writing."""
    vault = open_vault(hub)
    found = {target: page(hub, target) for target in [*vault.iter_pages("concepts", "connections"), "index"]}
    found["log"] = re.sub(r"\[20[^]]*\]", "[…]", page(hub, "log"))
    found["searched"] = str(sorted(passages.list_documents(hub.engine, "article")))
    result = Path(vault.own_dir, "pages").rglob("*.json")
    return found | {path.name: path.read_text() for path in result}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A home with one log to compile, and its state after compiling."""
    home = tmp_path_factory.mktemp("whole") / "home"
    with Engram(home) as hub:
        a_day(hub, home.parent, 0)
        hub.compile()
        a_day(hub, home.parent, 1)
        hub.compile()
        a_day(hub, home.parent, 2)
    done = home.parent / "done"
    shutil.copytree(home, done)
    with Engram(done) as hub:
        hub.compile()
        return home, seen(hub)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_compiler_killed_at_any_step_is_finished_by_the_next(
    whole: tuple[Path, dict[str, str]], tmp_path: Path, moment: str, thorough: bool
) -> None:  # fmt: skip
    home, expected = whole
    killed = 0
    for number in range(1, 200, 1 if thorough else 3):
        copy = tmp_path / f"h{number}"
        shutil.copytree(home, copy)
        command = [sys.executable, "-m", "tests.wiki.dying", str(copy), str(number), moment]
        died = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
        if died.returncode == 0:
            break
        assert died.returncode == -9, died.stderr
        killed += 1
        with Engram(copy) as hub:
            hub.compile()
            assert seen(hub) == expected, f"killed {moment} step {number}"
            assert state.load_state(open_vault(hub))["totals"]["entries"] == 3
            assert not (Path(open_vault(hub).own_dir) / write_batch.JOURNAL).exists()
        shutil.rmtree(copy)
    assert killed > (15 if thorough else 5)


def test_what_a_person_saves_between_a_death_and_the_next_compile_stays(engram: Engram, tmp_path: Path) -> None:
    a_day(engram, tmp_path, 0)
    engram.compile()
    (Path(open_vault(engram).root) / "concepts").mkdir(exist_ok=True)
    vault = open_vault(engram)
    write = PageWrite(target="concepts/tea", text="# Tea\n\n## Hot\n\nyes\n", made_by="rules/1", summary="Tea.")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_batch, "_apply_journal", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            write_batch.commit_writes(
                engram, vault, [write], what="compile", subject="x", at="2026-11-16T10:00:00+00:00"
            )
    Path(vault.root, "concepts", "tea.md").write_text("# Tea\n\n## Hot\n\nno, iced\n")
    assert write_batch.finish_journal(engram, vault) is not None
    assert "no, iced" in page(engram, "concepts/tea")
    assert write_batch.finish_journal(engram, vault) is None


def test_a_journal_somebody_left_is_finished_before_another_is_begun(engram: Engram) -> None:
    vault = open_vault(engram)
    first = PageWrite(target="concepts/one", text="# One\n\nx\n", summary="One.")
    at = "2026-11-16T10:00:00+00:00"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_batch, "_apply_journal", lambda *_: None)
        write_batch.commit_writes(engram, vault, [first], what="compile", subject="x", at=at)
    write_batch.commit_writes(
        engram, vault, [PageWrite(target="concepts/two", text="# Two\n")], what="compile", subject="y", at=at
    )
    assert page(engram, "concepts/one")
    assert page(engram, "concepts/two")


@pytest.mark.parametrize(
    "target", ["../x", "/etc/x", "concepts/../../x", "concepts/.hidden", "a\\..\\b", "", "concepts/\x00"]
)
def test_a_write_that_leads_out_of_the_vault_is_refused_before_anything_is_written(engram: Engram, target: str) -> None:
    vault = open_vault(engram)
    good = PageWrite(target="concepts/good", text="# Good\n")
    with pytest.raises(InvalidInput):
        write_batch.commit_writes(
            engram, vault, [good, PageWrite(target=target, text="x")], what="compile", subject="x", at="2026"
        )
    assert vault.read("concepts/good") is None


def test_a_link_out_of_the_vault_is_not_written_through(engram: Engram, tmp_path: Path) -> None:
    vault = open_vault(engram)
    outside = tmp_path / "outside"
    outside.mkdir()
    Path(vault.root).mkdir(parents=True)
    Path(vault.root, "concepts").symlink_to(outside)
    with pytest.raises(InvalidInput):
        write_batch.commit_writes(
            engram, vault, [PageWrite(target="concepts/x", text="x")], what="compile", subject="x", at="2026"
        )
    assert list(outside.iterdir()) == []


def test_the_index_touches_only_the_rows_that_changed(tmp_path: Path) -> None:
    rows = {
        f"concepts/p{n}": index_page.format_row(f"concepts/p{n}", f"page {n}", ["daily/2026-11-01"], "2026-11-01")
        for n in range(9)
    }
    text = index_page.update_rows(None, rows)
    mine = text.replace("# Index\n", "# Index\n\nMy own words.\n") + "\nAnd an end.\n"
    changed = index_page.update_rows(
        mine, {"concepts/p5": index_page.format_row("concepts/p5", "new | words", [], "2026-11-02")}, ["concepts/p2"]
    )
    assert changed.count("[[concepts/p5]]") == 1
    assert "[[concepts/p2]]" not in changed
    first = next(line for line in changed.splitlines() if line.startswith("| [["))
    assert first == "| [[concepts/p5]] | new ¦ words |  | 2026-11-02 |"
    assert "My own words." in changed
    assert "And an end." in changed
    assert index_page.update_rows(changed, {}) == changed
    assert index_page.update_rows("no table here", rows).startswith("no table here\n\n| Article |")


def test_the_build_log_is_only_ever_added_to(tmp_path: Path) -> None:
    vault = Vault(str(tmp_path))
    first = index_page.format_log_entry("2026-11-16T10:00:00+00:00", "compile", "daily/x", {"Created": ["concepts/a"]})
    for _ in range(2):
        index_page.append_log(vault, first)
    before = (tmp_path / "log.md").read_text()
    index_page.append_log(
        vault,
        index_page.format_log_entry("2026-11-16T11:00:00+00:00", "query", "what | is\n## this", {"Filed": ["qa/a"]}),
    )
    assert (tmp_path / "log.md").read_text().startswith(before)
    assert before.count("## [") == 1
    assert (tmp_path / "log.md").read_text().count("\n## [") == 2
