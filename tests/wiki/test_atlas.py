"""The cached overview of the vault equals a fresh one."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.wiki import page_map
from engram.wiki.page_map import PageMap, load_page_map
from engram.wiki.vault.vault import Vault

NAMES = ("concepts/tea", "concepts/cup", "connections/tea-cup", "qa/why", "daily/2026-11-10")
_said = st.lists(st.sampled_from([f"[[{name}]]" for name in (*NAMES, "Tea", "gone")]), max_size=4).map(" ".join)
_step = st.tuples(st.sampled_from(NAMES), st.none() | st.tuples(st.sampled_from(["Tea", "Cup", ""]), _said))


def write(root: Path, target: str, text: str) -> Path:
    path = root / f"{target}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def told(found: PageMap) -> object:
    cards = {target: (card.page, card.summary, card.entries) for target, card in found.cards.items()}
    return cards, dict(found.outgoing), {target: sorted(who) for target, who in found.incoming.items()}


@settings(max_examples=40, deadline=None)
@given(st.lists(_step, min_size=1, max_size=8))
def test_after_any_changes_it_says_what_a_fresh_look_says(
    steps: list[tuple[str, tuple[str, str] | None]],
) -> None:
    root = Path(tempfile.mkdtemp())
    try:
        for number, (target, change) in enumerate(steps):
            if change is None:
                (root / f"{target}.md").unlink(missing_ok=True)
            else:
                path = write(root, target, f"# {change[0]}\n\n{change[1]}\n")
                os.utime(path, ns=(number, number))
            known = load_page_map(Vault(str(root)))
            page_map._loaded_maps.clear()
            fresh = load_page_map(Vault(str(root)))
            assert told(known) == told(fresh)
            page_map._loaded_maps[Vault(str(root)).root] = known
    finally:
        shutil.rmtree(root)


def test_only_pages_that_changed_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        write(tmp_path, f"concepts/p{number}", f"# P{number}\n\n[[concepts/p0]]\n")
    vault, read = Vault(str(tmp_path)), []
    load_page_map(vault)

    def noted(self: Vault, target: str) -> str:
        read.append(target)
        return Path(self.resolve_path(target)).read_text()

    monkeypatch.setattr(Vault, "read", noted)
    before = load_page_map(vault)
    assert read == []
    write(tmp_path, "concepts/p3", "# P3\n\nnothing more, and longer\n")
    after = load_page_map(vault)
    assert read == ["concepts/p3"]
    assert before.incoming["concepts/p0"] == tuple(f"concepts/p{number}" for number in range(1, 5))
    assert after.incoming["concepts/p0"] == ("concepts/p1", "concepts/p2", "concepts/p4")


def test_what_is_none_of_ours_is_left_out(tmp_path: Path) -> None:
    root = tmp_path / "wiki"
    write(root, "concepts/tea", "# Tea\n")
    write(root, "concepts/.obsidian/x", "# Hidden\n")
    write(root, "concepts/.draft", "# Draft\n")
    write(tmp_path, "secret", "# Secret\n")
    (root / "concepts" / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "concepts" / "folder.md").mkdir()
    (root / "concepts" / "broken.md").write_bytes(b"# \xff\xfe Odd\n")
    assert set(load_page_map(Vault(str(root))).cards) == {"concepts/tea", "concepts/broken"}


def test_a_wiki_that_is_not_there_has_no_page(tmp_path: Path) -> None:
    assert load_page_map(Vault(str(tmp_path / "none"))).cards == {}
