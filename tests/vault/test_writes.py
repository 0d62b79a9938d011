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
from engram.vault import index, state, writes
from engram.vault.vault import Vault, of
from engram.vault.writes import Write
from tests.wiki.logs import entry, log, page

DAYS = ("2026-11-09", "2026-11-10", "2026-11-11")
ROOT = Path(__file__).parents[2]


def a_day(hub: Engram, number: int) -> None:
    decided = [f"We count in cents, said for the time number {number}."]
    log(
        hub,
        DAYS[number],
        entry(number, goal=f"mend the till, time {number}", changed=["`src/cart.py`"], decided=decided),
    )


def seen(hub: Engram) -> dict[str, str]:
    """Return all pages, and what is found of them, without the times of writing."""
    vault = of(hub)
    found = {target: page(hub, target) for target in [*vault.pages("concepts", "connections"), "index"]}
    found["log"] = re.sub(r"\[20[^]]*\]", "[…]", page(hub, "log"))
    found["searched"] = str(sorted(passages.known(hub.engine, "article")))
    kept = Path(vault.own, "pages").rglob("*.json")
    return found | {path.name: path.read_text() for path in kept}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A home in which one log is left to compile, and how it looks when that is done."""
    home = tmp_path_factory.mktemp("whole") / "home"
    with Engram(home) as hub:
        a_day(hub, 0)
        hub.compile()
        a_day(hub, 1)
        hub.compile()
        a_day(hub, 2)
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
            assert state.load(of(hub))["totals"]["entries"] == 3
            assert not (Path(of(hub).own) / writes.JOURNAL).exists()
        shutil.rmtree(copy)
    assert killed > (15 if thorough else 5)


def test_what_a_person_saves_between_a_death_and_the_next_compile_stays(engram: Engram) -> None:
    a_day(engram, 0)
    engram.compile()
    vault = of(engram)
    write = Write(target="concepts/tea", text="# Tea\n\n## Hot\n\nyes\n", made_by="rules/1", summary="Tea.")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writes, "_apply", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            writes.commit(engram, vault, [write], what="compile", subject="x", at="2026-11-16T10:00:00+00:00")
    Path(vault.root, "concepts", "tea.md").write_text("# Tea\n\n## Hot\n\nno, iced\n")
    assert writes.finish(engram, vault) is not None
    assert "no, iced" in page(engram, "concepts/tea")
    assert writes.finish(engram, vault) is None


def test_a_journal_somebody_left_is_finished_before_another_is_begun(engram: Engram) -> None:
    vault = of(engram)
    first = Write(target="concepts/one", text="# One\n\nx\n", summary="One.")
    at = "2026-11-16T10:00:00+00:00"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writes, "_apply", lambda *_: None)
        writes.commit(engram, vault, [first], what="compile", subject="x", at=at)
    writes.commit(engram, vault, [Write(target="concepts/two", text="# Two\n")], what="compile", subject="y", at=at)
    assert page(engram, "concepts/one")
    assert page(engram, "concepts/two")


@pytest.mark.parametrize(
    "target", ["../x", "/etc/x", "concepts/../../x", "concepts/.hidden", "a\\..\\b", "", "concepts/\x00"]
)
def test_a_write_that_leads_out_of_the_vault_is_refused_before_anything_is_written(engram: Engram, target: str) -> None:
    vault = of(engram)
    good = Write(target="concepts/good", text="# Good\n")
    with pytest.raises(InvalidInput):
        writes.commit(engram, vault, [good, Write(target=target, text="x")], what="compile", subject="x", at="2026")
    assert vault.read("concepts/good") is None


def test_a_link_out_of_the_vault_is_not_written_through(engram: Engram, tmp_path: Path) -> None:
    vault = of(engram)
    outside = tmp_path / "outside"
    outside.mkdir()
    Path(vault.root).mkdir(parents=True)
    Path(vault.root, "concepts").symlink_to(outside)
    with pytest.raises(InvalidInput):
        writes.commit(engram, vault, [Write(target="concepts/x", text="x")], what="compile", subject="x", at="2026")
    assert list(outside.iterdir()) == []


def test_the_index_touches_only_the_rows_that_changed(tmp_path: Path) -> None:
    rows = {
        f"concepts/p{n}": index.row(f"concepts/p{n}", f"page {n}", ["daily/2026-11-01"], "2026-11-01") for n in range(9)
    }
    text = index.with_rows(None, rows)
    mine = text.replace("# Index\n", "# Index\n\nMy own words.\n") + "\nAnd an end.\n"
    changed = index.with_rows(
        mine, {"concepts/p5": index.row("concepts/p5", "new | words", [], "2026-11-02")}, ["concepts/p2"]
    )
    assert changed.count("[[concepts/p5]]") == 1
    assert "[[concepts/p2]]" not in changed
    first = next(line for line in changed.splitlines() if line.startswith("| [["))
    assert first == "| [[concepts/p5]] | new ¦ words |  | 2026-11-02 |"
    assert "My own words." in changed
    assert "And an end." in changed
    assert index.with_rows(changed, {}) == changed
    assert index.with_rows("no table here", rows).startswith("no table here\n\n| Article |")


def test_the_build_log_is_only_ever_added_to(tmp_path: Path) -> None:
    vault = Vault(str(tmp_path))
    first = index.log_entry("2026-11-16T10:00:00+00:00", "compile", "daily/x", {"Created": ["concepts/a"]})
    for _ in range(2):
        index.add_log(vault, first)
    before = (tmp_path / "log.md").read_text()
    index.add_log(
        vault, index.log_entry("2026-11-16T11:00:00+00:00", "query", "what | is\n## this", {"Filed": ["qa/a"]})
    )
    assert (tmp_path / "log.md").read_text().startswith(before)
    assert before.count("## [") == 1
    assert (tmp_path / "log.md").read_text().count("\n## [") == 2
