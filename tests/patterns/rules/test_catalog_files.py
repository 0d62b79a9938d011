"""The catalog as files: reproducible, and edits in them become versions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram import Engram
from engram.clock import to_datetime
from engram.errors import ImportRefused
from engram.patterns.rules.catalog import Dossier, Pattern
from engram.patterns.rules.catalog_file import InvalidCatalogFile, parse_pattern, render_pattern
from tests.patterns.planting import pattern, session

LINE = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]), min_size=1, max_size=30)
RULE = st.lists(
    LINE.map(str.strip).filter(bool) | st.sampled_from(["## Fix", "# x", "\\#", "---"]), min_size=1, max_size=5
)


def approved(engram: Engram, name: str = "one", rule: str = "Migrate first.") -> str:
    id_ = pattern(
        engram, name, title=f"Table {name} is missing", seen=[session(engram, f"{name}-{n}") for n in range(2)]
    )
    engram.approve_pattern(id_, rule, "make migrate", author="anna", reason="often")
    return id_


def test_an_export_is_the_same_each_time_and_says_nothing_private(engram: Engram, tmp_path: Path) -> None:
    id_ = approved(engram)
    done = engram.export_catalog(str(tmp_path / "rules"))
    assert done.written == (f"{id_}-migrate-first.md",)
    text = (tmp_path / "rules" / done.written[0]).read_text()
    assert text.startswith(
        f"---\nid: {id_}\nkind: known-fix\nstate: approved\nscope: global\nversion: 1\nauthor: anna\n"
    )
    assert "one-0" not in text
    assert "Table one" not in text
    assert engram.export_catalog(str(tmp_path / "rules")).written == ()
    assert "one-0" in _again(engram, tmp_path / "rules")


def _again(engram: Engram, folder: Path) -> str:
    done = engram.export_catalog(str(folder), with_evidence=True)
    return (folder / done.written[0]).read_text()


def test_what_nobody_decided_about_is_exported_only_if_asked_for(engram: Engram, tmp_path: Path) -> None:
    id_ = pattern(engram, "one", seen=[session(engram, f"s{n}") for n in range(2)], rule="Perhaps.")
    assert engram.export_catalog(str(tmp_path)).written == ()
    assert engram.export_catalog(str(tmp_path), candidates=True).written == (f"{id_}-perhaps.md",)


def test_a_file_keeps_its_name_when_the_title_changes(engram: Engram, tmp_path: Path) -> None:
    id_ = approved(engram)
    engram.export_catalog(str(tmp_path))
    (tmp_path / f"{id_}-migrate-first.md").rename(tmp_path / f"{id_}-better.md")
    engram.edit_pattern(id_, "New words.")
    assert engram.export_catalog(str(tmp_path)).written == (f"{id_}-better.md",)


def test_a_changed_file_becomes_a_new_version(engram: Engram, tmp_path: Path) -> None:
    id_ = approved(engram)
    other = approved(engram, "two")
    engram.export_catalog(str(tmp_path))
    path = tmp_path / f"{id_}-migrate-first.md"
    path.write_text(path.read_text().replace("\nMigrate first.", "\nMigrate first, always."))
    shown = engram.import_catalog(str(tmp_path), dry_run=True)
    assert "+Migrate first, always." in shown.taken[0].diff
    assert engram.get_pattern(id_).pattern.version == 1
    done = engram.import_catalog(str(tmp_path), "ben")
    assert (done.unchanged, done.approvals, done.refused) == (1, 1, ())
    version = engram.get_pattern(id_).versions[-1]
    assert (version.version, version.rule, version.author, version.reason) == (
        2, "Migrate first, always.", "ben", "imported",
    )  # fmt: skip
    assert engram.get_pattern(other).pattern.version == 1


def test_a_catalog_arrives_whole_in_an_empty_store(engram: Engram, tmp_path: Path) -> None:
    one, two, three = approved(engram, "one"), approved(engram, "two"), pattern(engram, "three", rule="Perhaps.")
    engram.retire_pattern(two)
    engram.reject_pattern(three)
    engram.export_catalog(str(tmp_path / "files"))
    with Engram(tmp_path / "other") as other:
        done = other.import_catalog(str(tmp_path / "files"))
        assert (len(done.taken), done.refused) == (3, ())
        assert {each.id: each.state for each in other.list_patterns()} == {
            one: "approved", two: "retired", three: "rejected",
        }  # fmt: skip
        assert other.get_pattern(one).pattern.rule == "Migrate first."
        assert other.import_catalog(str(tmp_path / "files")).taken == ()


def test_what_was_decided_meanwhile_is_not_overwritten(engram: Engram, tmp_path: Path) -> None:
    id_ = approved(engram)
    engram.export_catalog(str(tmp_path))
    engram.edit_pattern(id_, "Decided here.")
    done = engram.import_catalog(str(tmp_path))
    assert "version 1" in done.refused[0]
    assert engram.get_pattern(id_).pattern.rule == "Decided here."


@pytest.mark.parametrize(
    ("said", "where"),
    [("nothing", "line 1"), ("---\nid: p1\nwhat\n---\n", "line 3"), ("---\nid: p1\n", "line 3"),
     ("---\nid: p1\nid: p2\n---\n", "line 3"),
     ("---\nid: ../x\nkind: e\nstate: approved\nscope: global\n---\n", "line 1"),
     ("---\nid: p1\nkind: e\nstate: approved\nscope: global\n---\n\n## Rule\n\nbad <!-- x\n", "line 9"),
     ("---\nid: p1\nkind: e\nstate: blessed\nscope: global\n---\n\n## Rule\n\nok\n", "line 1"),
     ("---\nid: p1\nkind: e\nstate: merged\nscope: global\n---\n\n## Rule\n\nok\n", "line 1"),
     ("---\nid: p1\nkind: e\nstate: approved\nscope: mars\n---\n\n## Rule\n\nok\n", "line 9")],
)  # fmt: skip
def test_a_broken_file_is_refused_with_its_line_and_the_rest_goes_on(
    engram: Engram, tmp_path: Path, said: str, where: str
) -> None:
    (tmp_path / "p1-broken.md").write_text(said)
    good = "---\nid: p2\nkind: error\nstate: approved\nscope: global\n---\n\n# Good\n\n## Rule\n\nDo this.\n"
    (tmp_path / "p2-good.md").write_text(good)
    done = engram.import_catalog(str(tmp_path))
    assert [each.pattern for each in done.taken] == ["p2"]
    assert f"p1-broken.md, {where}:" in done.refused[0]
    assert [each.id for each in engram.list_patterns()] == ["p2"]


def test_two_files_about_one_pattern_are_not_both_taken(engram: Engram, tmp_path: Path) -> None:
    good = "---\nid: p2\nkind: error\nstate: approved\nscope: global\n---\n\n## Rule\n\nDo this.\n"
    (tmp_path / "a.md").write_text(good)
    (tmp_path / "b.md").write_text(good.replace("this", "that"))
    assert "a.md already contains p2" in engram.import_catalog(str(tmp_path)).refused[0]


def test_a_missing_directory_is_said(engram: Engram, tmp_path: Path) -> None:
    with pytest.raises(ImportRefused):
        engram.import_catalog(str(tmp_path / "nowhere"))


@given(RULE, RULE)
def test_whatever_a_rule_says_its_file_says_it_again(rule: list[str], fix: list[str]) -> None:
    now = to_datetime(1_800_000_000_000_000)
    result = Pattern(
        id="p1", kind="error", state="approved", title="t", rule="\n".join(rule), fix="\n".join(fix), scope="global",
        version=3, sessions=0, times=0, flavors=(), projects=(), tokens=0, seconds=0, confidence=1.0, first_at=now,
        last_at=now, merged_into=None, recommended=None,
    )  # fmt: skip
    entry = parse_pattern(render_pattern(Dossier(result, (), (), (), None)))
    assert (entry.rule, entry.fix, entry.version, entry.scope) == (result.rule, result.fix, 3, "global")


@given(st.text() | st.text(alphabet="-id: p1\nkdstae#Rul").map(lambda rest: f"---\n{rest}"))
def test_any_text_is_a_pattern_or_broken_somewhere(said: str) -> None:
    try:
        line = parse_pattern(said).line
    except InvalidCatalogFile as broken:
        line = broken.line
    assert 1 <= line <= said.count("\n") + 2
