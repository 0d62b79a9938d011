"""The state: damaged files are set aside and reported, and nothing is compiled again because of them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from engram import Engram
from engram.wiki.vault import state
from engram.wiki.vault.vault import Vault, open_vault
from tests.wiki.logs import entry, log, page
from tests.wiki.shop import read, work, work_a_week

DAYS = ("2026-11-09", "2026-11-10")


def filled(hub: Engram) -> Path:
    for number, day in enumerate(DAYS):
        log(hub, day, entry(number))
    hub.compile()
    return Path(open_vault(hub).own_dir)


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b"\xff\xfe", b'{"logs": 7}', b'{"logs": {}, "totals": []}', b"null"]
)
def test_a_damaged_state_is_set_aside_and_compiles_nothing_anew(
    engram: Engram, tmp_path: Path, damage: bytes
) -> None:  # fmt: skip
    work_a_week(engram, tmp_path)
    own = filled(engram)
    (own / "state.json").write_bytes(damage)
    before = page(engram, "concepts/shop")
    assert before
    with pytest.warns(UserWarning, match=r"state\.json of the wiki could not be read"):
        done = engram.compile()
    assert done.logs == done.updated == ()
    aside = [name for name in os.listdir(own) if name.startswith("state.json.bak-")]
    assert re.fullmatch(r"state\.json\.bak-\d{8}T\d{6}Z", aside[0])
    assert (own / aside[0]).read_bytes() == damage
    assert page(engram, "concepts/shop") == before
    log(engram, "2026-11-11", entry(7))
    assert engram.compile().logs == ("2026-11-11",)


def test_a_page_whose_facts_are_lost_counts_as_edited_by_people(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    own = filled(engram)
    before = page(engram, "concepts/shop")
    (own / "pages" / "concepts" / "shop.json").write_text("{")
    work(tmp_path, "later", 9, "Sort the price labels by their weight.")
    read(engram, tmp_path)
    with pytest.warns(UserWarning, match="could not be read"):
        done = engram.compile()
    after = page(engram, "concepts/shop")
    assert "Commands" in done.kept["concepts/shop"]
    assert [line for line in before.splitlines() if line not in after and not line.startswith("updated:")] == []


def test_the_state_says_what_was_compiled_when_and_for_how_much(engram: Engram) -> None:
    filled(engram)
    result = state.load_state(open_vault(engram))
    for day in DAYS:
        assert re.fullmatch(r"[0-9a-f]{16}", result["logs"][day]["hash"])
        assert result["logs"][day]["compiled_at"][:2] == "20"
        assert result["logs"][day]["cost"] == 0
    assert result["totals"]["entries"] == 2


def test_what_others_keep_in_the_state_stays(engram: Engram) -> None:
    filled(engram)
    vault = open_vault(engram)
    held = state.load_state(vault)
    state.write_file(vault, state.STATE, {**held, "totals": {**held["totals"], "asked": 7}, "last_lint": "today"})
    log(engram, "2026-11-11", entry(7))
    engram.compile()
    assert state.load_state(vault)["last_lint"] == "today"
    assert state.load_state(vault)["totals"]["asked"] == 7


def test_two_damaged_files_in_one_second_are_both_kept(tmp_path: Path) -> None:
    vault = Vault(str(tmp_path))
    (tmp_path / ".engram").mkdir()
    for _ in range(3):
        (tmp_path / ".engram" / "state.json").write_text("{")
        with pytest.warns(UserWarning, match="could not be read"):
            state.load_state(vault)
    assert len(list((tmp_path / ".engram").glob("state.json.bak-*"))) == 3
