"""The wiki from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.surfaces.conftest import Run


def test_a_question_is_asked_in_plain_words_and_answered_with_sources(run: Run) -> None:
    run("remember", "We drop redis because it evicts sessions at night.", "-s", "talk")
    assert "session `talk`" in run("ask", "why", "do", "we", "drop", "redis").stdout
    data = json.loads(run("ask", "why do we drop redis", "--file-back", "--json").stdout)
    assert (data["known"], data["filed"]) == (True, "qa/why-do-we-drop-redis")
    assert "evicts sessions" in run("get", "qa/why-do-we-drop-redis").stdout
    assert run("ask", "who is the emperor of Mars").stdout == "No answer found in memory.\n"


def test_the_pages_that_mention_a_session_are_a_table(run: Run) -> None:
    run("remember", "We drop redis because it evicts sessions at night.", "-s", "talk")
    run("flush")
    header, row = run("wiki", "mentions", "talk").stdout.splitlines()
    assert header.split() == ["page", "title"]
    assert row.startswith("daily/")


def test_lint_ends_with_status_1_on_errors_only(run: Run, tmp_path: Path) -> None:
    run("stats")  # creates the store
    page = tmp_path / "home" / "wiki" / "concepts" / "a.md"
    page.parent.mkdir(parents=True)
    page.write_text("# A\n\nShort.\n")
    assert "1 suggestion" in run("lint", "--fix").stdout
    page.write_text("# A\n\n[[gone]]\n")
    assert "broken-link" in run("lint", "--fix", "--structural-only", status=1).stdout


def test_a_page_written_by_hand_is_found_after_indexing(run: Run, tmp_path: Path) -> None:
    run("stats")  # creates the store
    page = tmp_path / "home" / "wiki" / "concepts" / "a.md"
    page.parent.mkdir(parents=True)
    page.write_text("# Zeppelin\n\nIt lands on the lighthouse at noon.\n")
    run("index", "--no-embed")
    assert "concepts/a" in run("recall", "--in", "article", "zeppelin lighthouse").stdout


def test_a_wiki_of_memoria_is_taken_over(run: Run, tmp_path: Path) -> None:
    (tmp_path / "memoria" / "daily").mkdir(parents=True)
    (tmp_path / "memoria" / "daily" / "2026-04-01.md").write_text(
        "# Daily Log: 2026-04-01\n\n### Session (10:00)\n\nx\n"
    )
    assert "Imported 1 log and 0 articles" in run("import", "memoria", str(tmp_path / "memoria")).stdout
    assert "Session (10:00)" in run("get", "daily/2026-04-01").stdout


def test_pages_are_listed_shown_edited_and_compared(run: Run, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "# Tea\\n\\n%s, see [[concepts/cup]].\\n" "$SAID" > "$1"\n')
    editor.chmod(0o755)
    environment = {"EDITOR": str(editor), "VISUAL": ""}
    assert run("wiki", "edit", "concepts/tea", SAID="Hot", **environment).stdout == "Created concepts/tea.\n"
    assert run("wiki", "edit", "tea", SAID="Hot", **environment).stdout == "Nothing was changed.\n"
    assert run("wiki", "edit", "tea", SAID="Iced", **environment).stdout == "Changed concepts/tea.\n"
    assert "Iced, see concepts/cup." in run("wiki", "list").stdout
    shown = run("wiki", "show", "concepts/tea").stdout
    assert "Iced, see [[concepts/cup]]." in shown
    assert "broken links: concepts/cup" in shown
    (older,) = json.loads(run("wiki", "history", "tea", "--json").stdout)
    assert older["version"] in run("wiki", "history", "tea").stdout
    assert "-Hot, see" in run("wiki", "diff", "tea", older["version"]).stdout
    assert json.loads(run("wiki", "graph", "--json").stdout)["nodes"][0]["target"] == "concepts/tea"
    assert "1 article without links" in run("wiki", "graph").stdout
    assert "No page 'concepts/none'" in run("wiki", "show", "concepts/none", status=1).stderr


def test_what_was_typed_is_kept_if_somebody_saved_meanwhile(run: Run, tmp_path: Path) -> None:
    run("stats")  # creates the store
    page = tmp_path / "home" / "wiki" / "concepts" / "tea.md"
    page.parent.mkdir(parents=True)
    page.write_text("# Tea\n")
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\necho theirs >> {page}\necho mine >> "$1"\n')
    editor.chmod(0o755)
    refused = run("wiki", "edit", "concepts/tea", EDITOR=str(editor), VISUAL="", status=3)
    result = Path(refused.stderr.partition("Your text is kept in ")[2].partition(".md")[0] + ".md")
    assert "mine" in result.read_text()
    assert page.read_text() == "# Tea\ntheirs\n"
    result.unlink()
