"""Import of a memoria wiki: completely, once, and without loss of our own pages."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram import Engram
from engram.errors import ImportRefused
from engram.importers.memoria import mark_entries, rewrite_links
from engram.importers.memoria_tree import decode_text
from engram.wiki.vault import daily_log, due_logs, state, vault
from tests.summaries.talking import said

LOG = """# Daily Log: 2026-04-01

## Sessions

### Session (10:03)

**Context:** The zeppelin gateway was moved to port 8040.

### Memory Flush (11:00)

FLUSH_OK - Nothing worth saving from this session

## Memory Maintenance
"""
CONCEPT = """---
title: "Zeppelin Gateway"
aliases: [gateway]
sources:
  - "daily/2026-04-01.md"
created: 2026-04-01
updated: 2026-04-02
---

# Zeppelin Gateway

It listens on port 8040, see [[knowledge/connections/a-and-b|the link]] and [[daily/2026-04-01]].

```
[[knowledge/concepts/not-a-link]]
```
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "memoria"
    for folder in ("daily", "knowledge/concepts", "knowledge/connections", "knowledge/qa", "scripts"):
        (root / folder).mkdir(parents=True)
    (root / "daily/2026-04-01.md").write_text(LOG)
    (root / "daily/2026-04-02.md").write_text(LOG.replace("04-01", "04-02"))
    (root / "knowledge/concepts/zeppelin-gateway.md").write_text(CONCEPT)
    (root / "knowledge/connections/a-and-b.md").write_text("# A and B\n\n[[concepts/zeppelin-gateway]]\n")
    (root / "knowledge/index.md").write_text(
        "# Index\n\n| Article | Summary | Compiled From | Updated |\n|---|---|---|---|\n"
        "| [[concepts/zeppelin-gateway]] | How the gateway is reached | daily/2026-04-01.md | 2026-04-02 |\n"
    )
    (root / "knowledge/log.md").write_text("# Build Log\n\n## [2026-04-02T10:00:00] compile | 2026-04-01.md\n")
    ingested = {
        "2026-04-01.md": {"hash": sha256(LOG.encode()).hexdigest()[:16], "compiled_at": "2026-04-02T10:00:00"},
        "2026-04-02.md": {"hash": "0123456789abcdef", "compiled_at": "2026-04-02T10:00:00"},
    }
    (root / "scripts/state.json").write_text(json.dumps({"ingested": ingested, "total_cost": 1.5}))
    (root / "scripts/last-flush.json").write_text(json.dumps({"session_id": "s-9", "timestamp": 1.0}))
    return root


def files(root: str) -> dict[str, bytes]:
    found = {}
    for place, _, names in os.walk(root):
        for name in names:
            if not name.endswith(".lock"):
                found[os.path.relpath(os.path.join(place, name), root)] = Path(place, name).read_bytes()
    return found


def test_all_of_it_is_taken_over_and_found(engram: Engram, tree: Path) -> None:
    before = files(str(tree))
    result = engram.import_memoria(str(tree))
    home = vault.open_vault(engram)
    assert (result.logs, result.articles, result.compiled, result.refused) == (2, 2, 1, ())
    assert (result.last_flush, result.links, result.kept_both) == ("s-9", 1, {})
    page = home.read("concepts/zeppelin-gateway") or ""
    assert "[[connections/a-and-b|the link]]" in page
    assert "[[knowledge/concepts/not-a-link]]" in page
    assert "| [[concepts/zeppelin-gateway]] | How the gateway is reached | [[daily/2026-04-01]] |" in (
        home.read("index") or ""
    )
    assert "compile | 2026-04-01.md" in (home.read("log") or "")
    assert engram.recall("zeppelin gateway port", tiers=["article"])[0].name == "concepts/zeppelin-gateway"
    assert engram.recall("zeppelin gateway moved port", tiers=["daily"])
    assert files(str(tree)) == before


def test_entries_of_its_logs_become_entries_of_ours_and_what_says_nothing_does_not(engram: Engram, tree: Path) -> None:
    engram.import_memoria(str(tree))
    text = vault.open_vault(engram).read("daily/2026-04-01") or ""
    (entry,) = daily_log.parse_entries(text, "2026-04-01")
    assert (entry.flavor, entry.session_id, entry.title) == ("memoria", "", "Session (10:03)")
    assert "port 8040" in entry.content


def test_a_log_compiled_there_and_unchanged_since_counts_as_compiled(engram: Engram, tree: Path) -> None:
    engram.import_memoria(str(tree))
    home = vault.open_vault(engram)
    logs = state.load_state(home)["logs"]
    assert set(logs) == {"2026-04-01"}
    assert logs["2026-04-01"]["hash"] == due_logs.hash_text(home.read("daily/2026-04-01") or "")
    orphans = {finding.page for finding in engram.lint().findings if finding.check == "orphan-source"}
    assert orphans == {"daily/2026-04-02"}


def test_a_second_import_changes_nothing_also_after_edits(engram: Engram, tree: Path) -> None:
    engram.import_memoria(str(tree))
    home = vault.open_vault(engram)
    held = home.read("concepts/zeppelin-gateway")
    assert held is not None
    assert home.write("concepts/zeppelin-gateway", held + "\nMine.\n", held)
    home.remove("connections/a-and-b")
    before = files(home.root)
    again = engram.import_memoria(str(tree))
    assert (again.logs, again.articles, again.already_here) == (0, 0, 5)
    after = files(home.root)
    assert {name for name in after if after[name] != before.get(name)} <= {
        ".engram/searched.json",
        ".engram/state.json",
    }


def test_what_is_new_there_comes_with_the_next_import(engram: Engram, tree: Path) -> None:
    engram.import_memoria(str(tree))
    (tree / "daily/2026-04-01.md").write_text(LOG + "\n### Session (12:00)\n\nThe gateway has a second door.\n")
    (tree / "knowledge/qa/new.md").write_text("# New\n")
    result = engram.import_memoria(str(tree))
    assert (result.logs, result.articles, result.kept_both) == (1, 1, {})
    assert "second door" in (vault.open_vault(engram).read("daily/2026-04-01") or "")


def test_of_two_pages_of_one_name_both_are_kept_and_told(engram: Engram, tree: Path) -> None:
    home = vault.open_vault(engram)
    assert home.write("concepts/zeppelin-gateway", "Ours.\n", None)
    said(engram, "talk", "2026-04-01T10:00:00+00:00", "Please move the gateway to another port today.", "Moved it.")
    engram.flush()
    log = home.read("daily/2026-04-01")
    result = engram.import_memoria(str(tree))
    assert result.kept_both == {
        "daily/2026-04-01": "daily/2026-04-01-memoria",
        "concepts/zeppelin-gateway": "concepts/zeppelin-gateway-memoria",
    }
    assert home.read("concepts/zeppelin-gateway") == "Ours.\n"
    assert home.read("daily/2026-04-01") == log
    assert "port 8040" in (home.read("daily/2026-04-01-memoria") or "")
    assert state.load_state(home)["logs"] == {}
    again = engram.import_memoria(str(tree))
    assert (again.logs, again.articles) == (0, 0)


@pytest.mark.parametrize("place", ["", "daily", "knowledge", "scripts", ".."])
def test_the_tree_is_found_at_above_and_below_what_is_named(engram: Engram, tree: Path, place: str) -> None:
    if place == "..":
        lone = tree.parent / "lone"
        lone.mkdir()
        tree.rename(lone / "memoria")
        assert engram.import_memoria(str(lone)).logs == 2
        return
    assert engram.import_memoria(str(tree / place)).logs == 2


def test_what_is_no_tree_is_refused(engram: Engram, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    for path in ("nothing", "missing"):
        with pytest.raises(ImportRefused):
            engram.import_memoria(str(tmp_path / path))
    os.makedirs(os.path.join(vault.open_vault(engram).root, "daily"))
    with pytest.raises(ImportRefused, match="the wiki in use"):
        engram.import_memoria(vault.open_vault(engram).root)


def test_files_that_lead_out_of_the_tree_and_odd_names_are_left_or_spelt_plainly(engram: Engram, tree: Path) -> None:
    (tree.parent / "secret.md").write_text("the private zeppelin")
    os.symlink(tree.parent / "secret.md", tree / "knowledge/concepts/evil.md")
    (tree / "knowledge/concepts/a\\b.md").write_text("# Odd\n")
    (tree / "knowledge/people").mkdir()
    (tree / "knowledge/people/anna.md").write_text("# Anna\n\n[[concepts/a\\b]]\n")
    (tree / "knowledge/qa/who.md").write_text("# Who\n\n[[people/anna]] [[../../etc/passwd]]\n")
    result = engram.import_memoria(str(tree))
    home = vault.open_vault(engram)
    assert result.refused == ("concepts/evil: links out of the tree",)
    assert b"private" not in b"".join(files(home.root).values())
    assert home.read("concepts/a-b") == "# Odd\n"
    assert "[[concepts/a-b]]" in (home.read("concepts/people/anna") or "")
    assert "[[concepts/people/anna]]" in (home.read("qa/who") or "")


def test_broken_state_files_and_odd_encodings_stop_nothing(engram: Engram, tree: Path) -> None:
    (tree / "scripts/state.json").write_text("{broken")
    (tree / "scripts/last-flush.json").write_text("[1]")
    (tree / "knowledge/qa/old.md").write_bytes("# Größe\r\n\r\nNaïve café.\r\n".encode("cp1252"))
    (tree / "knowledge/qa/wide.md").write_bytes("# Breit\n".encode("utf-16"))
    result = engram.import_memoria(str(tree))
    assert (result.compiled, result.articles) == (0, 4)
    assert result.refused == ("state.json: cannot be read",)
    assert vault.open_vault(engram).read("qa/old") == "# Größe\n\nNaïve café.\n"
    assert vault.open_vault(engram).read("qa/wide") == "# Breit\n"


def test_secrets_stay_behind(engram: Engram, tree: Path) -> None:
    key = "AKIA" + "QWERTYUIOPASDFGH"
    (tree / "knowledge/qa/key.md").write_text(f"# Key\n\nIt is {key}.\n")
    result = engram.import_memoria(str(tree))
    assert sum(result.redacted.values()) == 1
    assert key not in (vault.open_vault(engram).read("qa/key") or key)


def test_a_dry_run_tells_the_same_and_writes_nothing(engram: Engram, tree: Path) -> None:
    result = engram.import_memoria(str(tree), dry_run=True)
    assert not os.path.exists(vault.open_vault(engram).root)
    assert (result.logs, result.articles, result.compiled, result.dry_run) == (2, 2, 1, True)


@given(st.binary(max_size=60))
def test_any_bytes_are_some_text(raw: bytes) -> None:
    assert "\r" not in decode_text(raw)


@given(st.text(alphabet="[]|#`ab/~\n ", max_size=60))
def test_links_that_need_nothing_stay_as_they_are(text: str) -> None:
    assert rewrite_links(text, lambda name: name) == (text, 0)


@given(
    st.lists(st.sampled_from(["### Session (10:00)", "words", "", "## Sessions", "FLUSH_OK - Nothing"]), max_size=12)
)
def test_entries_are_marked_once(lines: list[str]) -> None:
    text = "\n".join([*lines, ""])
    once = mark_entries(text, "2026-04-01")
    assert mark_entries(once, "2026-04-01") == once
    assert [line for line in once.split("\n") if not line.startswith("<!--")] == text.split("\n")
