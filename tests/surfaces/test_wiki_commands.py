"""The wiki from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.surfaces.conftest import Run


def test_a_question_is_asked_in_plain_words_and_answered_with_sources(run: Run) -> None:
    run("remember", "We drop redis because it evicts sessions at night.", "-s", "talk")
    assert "session `talk`" in run("ask", "why", "do", "we", "drop", "redis").stdout
    found = json.loads(run("ask", "why do we drop redis", "--file-back", "--json").stdout)
    assert (found["known"], found["filed"]) == (True, "qa/why-do-we-drop-redis")
    assert "evicts sessions" in run("get", "qa/why-do-we-drop-redis").stdout
    assert run("ask", "who is the emperor of Mars").stdout == "Nothing is known of that.\n"


def test_lint_ends_with_status_1_on_errors_only(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "home" / "wiki" / "concepts" / "a.md"
    page.parent.mkdir(parents=True)
    page.write_text("# A\n\nShort.\n")
    assert "1 suggestion" in run("lint", "--fix").stdout
    page.write_text("# A\n\n[[gone]]\n")
    assert "broken-link" in run("lint", "--fix", "--structural-only", status=1).stdout


def test_a_page_written_by_hand_is_found_after_indexing(run: Run, tmp_path: Path) -> None:
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
    assert "Took over 1 logs and 0 articles" in run("import", "memoria", str(tmp_path / "memoria")).stdout
    assert "Session (10:00)" in run("get", "daily/2026-04-01").stdout
