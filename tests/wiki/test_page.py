"""Listing, reading and linking pages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engram import Engram
from engram.errors import InvalidInput, NotFound
from engram.wiki.page import PageUnreadable, format_unified_diff
from engram.wiki.vault.vault import open_vault
from tests.wiki.logs import entry, log
from tests.wiki.shop import DECISIONS, FAILURE, PRICES, work_a_week


def put(hub: Engram, target: str, text: str, at: int = 0) -> Path:
    path = Path(open_vault(hub).root, f"{target}.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if at:
        os.utime(path, (at, at))
    return path


def test_pages_are_listed_by_what_changed_last_and_by_name(engram: Engram) -> None:
    put(engram, "concepts/b", "# Tea\n\nHot, see [[concepts/a|the cup]].\n", 1_700_000_000)
    put(engram, "concepts/a", "---\ntitle: Cup\naliases: [mug]\n---\n\n# Cup\n", 1_700_000_100)
    put(engram, "daily/2026-11-10", "# Daily Log: 2026-11-10\n", 1_700_000_200)
    pages = engram.list_pages()
    assert [page.target for page in pages.pages] == ["daily/2026-11-10", "concepts/a", "concepts/b"]
    assert pages.counts == {"daily": 1, "concepts": 2, "connections": 0, "qa": 0}
    tea = pages.pages[2]
    assert (tea.title, tea.summary, tea.kind, tea.links) == ("Tea", "Hot, see the cup.", "concepts", 1)
    assert [page.target for page in engram.list_pages(folder="articles", by_name=True).pages] == [
        "concepts/a",
        "concepts/b",
    ]
    assert [page.target for page in engram.list_pages(words="MUG").pages] == ["concepts/a"]
    assert engram.list_pages(words="nothing").pages == ()
    cut = engram.list_pages(limit=1)
    assert (len(cut.pages), cut.found) == (1, 3)
    with pytest.raises(InvalidInput):
        engram.list_pages(folder="notes")


def test_a_page_knows_its_links_its_backlinks_and_its_sources(engram: Engram, tmp_path: Path) -> None:
    log(engram, "2026-11-10", entry(2, goal="mend the door"))
    work_a_week(engram, tmp_path)
    engram.compile()
    put(engram, "concepts/note", "# Note\n\nSee [[Shop]] and [[concepts/gone]], `[[concepts/code]]`.\n")
    note = engram.get_page("note")
    assert [(link.target, link.exists, link.name) for link in note.links] == [
        ("concepts/shop", True, "Shop"), ("concepts/gone", False, "concepts/gone"),
    ]  # fmt: skip
    shop = engram.get_page("concepts/shop")
    assert [backlink.target for backlink in shop.backlinks] == ["concepts/note", DECISIONS, FAILURE, PRICES]
    assert [source.target for source in shop.sources] == [
        f"daily/2026-11-0{day}" for day in (4, 3, 2, 1) for _ in range(2)
    ]
    assert all(source.session_id for source in shop.sources[1::2])
    assert not shop.content.startswith("---")
    assert shop.text.startswith("---\ntitle: shop\n")
    assert shop.tags == ("project",)
    day = engram.get_page("daily/2026-11-10")
    assert day.backlinks == ()
    assert "concepts/shop" in [backlink.target for backlink in engram.get_page("daily/2026-11-04").backlinks]
    assert "mend the door" in day.entries[0].content
    assert "mend the door" not in day.notes


@pytest.mark.parametrize("target", ["../secret", "concepts/../../x", "concepts/.x"])
def test_what_lies_outside_is_refused(engram: Engram, target: str) -> None:
    with pytest.raises(InvalidInput):
        engram.get_page(target)


def test_what_is_not_there_is_told(engram: Engram) -> None:
    with pytest.raises(NotFound):
        engram.get_page("concepts/none")
    put(engram, "concepts/tea", "# Tea\n")
    with pytest.raises(NotFound):
        engram.get_page("concepts/tea", "2026-11-16T100000+0000")
    (Path(open_vault(engram).root) / "concepts" / "folder.md").mkdir()
    with pytest.raises(PageUnreadable):
        engram.get_page("concepts/folder")


def test_what_is_no_page_does_not_hinder_the_others(engram: Engram) -> None:
    put(engram, "concepts/tea", "# Tea\n")
    folder = os.fsencode(Path(open_vault(engram).root) / "concepts")
    with open(folder + b"/bad\xffname.md", "w") as file:
        file.write("# Bad\n")
    os.mkfifo(folder + b"/pipe.md")
    assert [page.target for page in engram.list_pages().pages] == ["concepts/tea"]
    assert engram.lint(structural_only=True).pages <= 2
    engram.compile()
    with pytest.raises(NotFound):
        engram.get_page("concepts/pipe")


def test_an_older_version_that_is_a_link_is_not_followed(engram: Engram, tmp_path: Path) -> None:
    put(engram, "concepts/tea", "# Tea\n")
    (tmp_path / "secret").write_text("secret")
    place = Path(open_vault(engram).own_dir) / "history" / "concepts" / "tea"
    place.mkdir(parents=True)
    (place / "2026-01-01T000000.md").symlink_to(tmp_path / "secret")
    with pytest.raises(NotFound):
        engram.get_page("concepts/tea", "2026-01-01T000000")


def test_the_graph_shows_articles_and_what_is_near_one(engram: Engram) -> None:
    put(engram, "concepts/a", "# A\n\n[[concepts/b]] [[daily/2026-11-10]] [[concepts/a]]\n")
    put(engram, "concepts/b", "# B\n\n[[concepts/c]] [[concepts/d]]\n")
    put(engram, "concepts/c", "# C\n")
    put(engram, "concepts/d", "# D\n")
    put(engram, "qa/e", "# E\n")
    put(engram, "daily/2026-11-10", "# Daily Log: 2026-11-10\n\n[[concepts/e]]\n")
    whole = engram.link_graph()
    assert [(node.target, node.degree) for node in whole.nodes] == [
        ("concepts/b", 3), ("concepts/a", 1), ("concepts/c", 1), ("concepts/d", 1), ("qa/e", 0),
    ]  # fmt: skip
    assert ("concepts/a", "concepts/b") in whole.edges
    assert len(whole.edges) == 3
    near = engram.link_graph(around="concepts/a")
    assert [node.target for node in near.nodes] == ["concepts/a", "concepts/b"]
    assert len(engram.link_graph(around="concepts/a", depth=2).nodes) == 4
    cut = engram.link_graph(limit=2)
    assert ([node.target for node in cut.nodes], cut.edges) == (
        ["concepts/b", "concepts/a"],
        (("concepts/a", "concepts/b"),),
    )
    assert cut.total == 5


def test_many_lines_are_compared_as_one_block() -> None:
    old = [f"line {n % 9}" for n in range(3_000)]
    new = [*old[:1_000], "another", *old[1_001:2_500], "and one", *old[2_501:]]
    result = format_unified_diff("\n".join(old), "\n".join(new), "a", "b").split("\n")
    assert result[:3] == ["--- a", "+++ b", "@@ -1001,1501 +1001,1501 @@"]
    assert [line[1:] for line in result[3:] if line.startswith("+")] == new[1_000:2_501]
    assert [line[1:] for line in result[3:] if line.startswith("-")] == old[1_000:2_501]
