"""Lint: problems are found, correct pages are left alone, and fixes last."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram import Engram
from engram.wiki.checks import ERROR, SUGGESTION, LintFinding, LogFacts, PageFacts, VaultView, run_checks
from engram.wiki.contradictions import findings_from_reply
from engram.wiki.lint_fixes import append_related_links
from engram.wiki.lint_view import parse_page
from engram.wiki.vault import article, due_logs, state, vault
from tests.models.conftest import Opened
from tests.models.speaking import chat, speaking
from tests.summaries.talking import said

LONG = "word " * 220


def wiki(hub: Engram, target: str, text: str) -> None:
    assert vault.open_vault(hub).write(target, text, vault.open_vault(hub).read(target))


def kinds(findings: tuple[LintFinding, ...] | list[LintFinding], target: str | None = None) -> list[str]:
    return [finding.check for finding in findings if target is None or finding.page == target]


def seen(*pages: PageFacts, logs: tuple[LogFacts, ...] = (), rows: tuple[str, ...] | None = None) -> list[LintFinding]:
    listed = tuple(page.target for page in pages) if rows is None else rows
    return run_checks(VaultView(pages=pages, logs=logs, rows=listed))


def test_a_sound_wiki_has_no_findings(engram: Engram) -> None:
    wiki(engram, "concepts/a", f"# A\n\n{LONG}\n\nSee [[concepts/b]].\n")
    wiki(engram, "concepts/b", f"# B\n\n{LONG}\n\nSee [[a]].\n")
    wiki(engram, "index", "| Article | Summary |\n| --- | --- |\n| [[concepts/a]] | a |\n| [[concepts/b]] | b |\n")
    report = engram.lint()
    assert (report.findings, report.pages, report.errors) == ((), 2, ())


def test_every_link_is_followed_by_path_name_title_and_alias() -> None:
    one = parse_page(
        "concepts/a",
        f"# A\n\n[[concepts/b]] [[b]] [[B.md|shown]] [[Big Bee]] [[bee#head]] [[knowledge/concepts/b]] {LONG}",
    )
    two = parse_page("concepts/b", f"---\ntitle: Big Bee\naliases: [bee]\n---\n\n[[concepts/a]] {LONG}")
    assert seen(one, two) == []


def test_code_headings_attachments_and_embeds_are_no_broken_links() -> None:
    text = f"# A\n\n`[[no]]` [[#here]] ![[picture.png]] [[paper.pdf]]\n\n```sh\nif [[ -f x ]]; then\n```\n{LONG}"
    assert kinds(seen(parse_page("concepts/a", text))) == ["orphan-page"]


def test_a_broken_link_is_an_error_and_told_once_a_page() -> None:
    result = seen(parse_page("concepts/a", f"[[gone]] [[gone|again]] {LONG}"))
    assert [(each.check, each.severity, each.others) for each in result if each.severity == ERROR] == [
        ("broken-link", ERROR, ("gone",))
    ]


def test_frontmatter_ends_at_a_line_of_its_own_and_does_not_count_as_words() -> None:
    inside = parse_page("concepts/a", '---\ntitle: a --- b\nnote: "x\\n---y"\n---\n\nfour words are here\n')
    assert (inside.title, inside.words, inside.closed) == ("a --- b", 4, True)
    assert kinds(seen(parse_page("concepts/a", f"---\ntitle: never ends\n\n{LONG}"))) == ["frontmatter", "orphan-page"]
    assert parse_page("concepts/a", "---\n\nA line, then text.").closed
    assert parse_page("concepts/a", "---\n---\ntext").closed


def test_logs_never_compiled_and_articles_older_than_their_logs_are_told() -> None:
    logs = (
        LogFacts(target="daily/2026-11-01", hash="a", compiled="a"),
        LogFacts(target="daily/2026-11-02", hash="b", compiled="x"),
        LogFacts(target="daily/2026-11-03", hash="c", compiled=None),
    )
    one = parse_page(
        "concepts/a", f"---\nsources: [daily/2026-11-01.md, daily/2026-11-02.md]\n---\n{LONG} [[concepts/a]]"
    )
    result = seen(one, logs=logs)
    assert kinds(result) == ["orphan-page", "orphan-source", "stale-article"]
    assert [each.page for each in result[1:]] == ["daily/2026-11-03", "concepts/a"]
    assert result[2].others == ("daily/2026-11-02",)


def test_missing_backlinks_sparse_oversize_and_duplicate_titles_are_told() -> None:
    one = parse_page("concepts/a", f"# Same\n\n[[concepts/b]] {LONG}")
    two = parse_page("concepts/b", f"# same\n\nshort [[daily/2026-11-01]] {'x' * 120_000}")
    result = seen(one, two, logs=(LogFacts(target="daily/2026-11-01", hash="a", compiled="a"),))
    assert kinds(result) == ["duplicate-title", "orphan-page", "oversize", "missing-backlink", "sparse"]
    assert [each.severity for each in result][-2:] == [SUGGESTION, SUGGESTION]


def test_sources_that_are_gone_are_told(engram: Engram) -> None:
    said(engram, "talk", "2026-11-10T10:00:00+00:00", "hello")
    wiki(engram, "qa/x", f"---\nconsulted: [concepts/gone, talk, nobody]\n---\n\n{LONG}")
    entry = '### S\n<!-- engram entry="e" session="nobody" flavor="claude" project="" -->\n\nx\n'
    wiki(engram, "daily/2026-11-10", f"# Daily Log: 2026-11-10\n\n{entry}")
    dead = [finding for finding in engram.lint().findings if finding.check == "dead-source"]
    assert [(each.page, each.others) for each in dead] == [
        ("daily/2026-11-10", ("nobody",)), ("qa/x", ("concepts/gone", "nobody")),
    ]  # fmt: skip


def test_lint_writes_a_report_and_when_it_ran_and_leaves_the_rest_of_the_state(engram: Engram) -> None:
    wiki(engram, "concepts/a", f"[[gone]] {LONG}")
    home = vault.open_vault(engram)
    state.write_file(home, state.STATE, {**state.load_state(home), "theirs": 1})
    report = engram.lint()
    assert kinds(report.errors) == ["broken-link"]
    assert os.path.basename(report.report).startswith("lint-20")
    assert "- broken-link: [[concepts/a]]: links to [[gone]]" in Path(report.report).read_text()
    assert state.load_state(home)["theirs"] == 1
    assert state.load_state(home)["last_lint"][:10] == os.path.basename(report.report)[5:15]


def test_a_wiki_that_is_not_there_is_sound_and_not_made(engram: Engram) -> None:
    report = engram.lint(fix=True)
    assert (report.findings, report.report) == ((), "")
    assert not os.path.exists(vault.open_vault(engram).root)


def test_a_link_out_of_the_vault_is_told_and_not_followed(engram: Engram, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("private")
    wiki(engram, "concepts/a", f"[[concepts/b]] {LONG}")
    os.symlink(tmp_path / "secret.md", os.path.join(vault.open_vault(engram).root, "concepts", "b.md"))
    report = engram.lint()
    assert kinds(report.errors, "concepts/b") == ["unreadable"]
    assert "private" not in Path(report.report).read_text()


def test_fix_adds_backlinks_and_index_rows_and_then_has_nothing_left_to_do(engram: Engram) -> None:
    wiki(engram, "concepts/a", f"# A\n\n{LONG} [[concepts/b]]\n")
    wiki(engram, "concepts/b", f"# B\n\n{LONG}\n\n## Related Concepts\n\n- [[concepts/c]]\n\n## Sources\n\nNone.\n")
    wiki(engram, "concepts/c", f"# C\n\n{LONG} [[concepts/b]]")
    wiki(
        engram,
        "index",
        "Mine.\n\n| Article | Summary |\n| --- | --- |\n| [[concepts/gone]] | x |\n| [[concepts/a]] | a |\n",
    )
    report = engram.lint(fix=True)
    assert report.fixed
    assert kinds(report.findings) == ["orphan-page"] or kinds(report.findings) == []
    home = vault.open_vault(engram)
    two = article.parse_article(home.read("concepts/b") or "")
    assert two.get_section("Related Concepts").splitlines() == ["- [[concepts/c]]", "- [[concepts/a|A]]"]
    assert two.get_section("Sources") == "None."
    listed = home.read("index") or ""
    assert listed.startswith("Mine.\n")
    assert "gone" not in listed
    assert listed.count("[[concepts/a]]") == listed.count("[[concepts/b]]") == 1
    assert engram.lint(fix=True).fixed == ()


def test_a_page_of_ours_stays_ours_when_lint_adds_a_backlink(engram: Engram) -> None:
    from engram.wiki.vault import write_batch

    home = vault.open_vault(engram)
    first = f"---\ntitle: B\n---\n\n# B\n\n{LONG}\n\n## Related Concepts\n\n- [[concepts/b]]\n"
    write_batch.commit_writes(
        engram,
        home,
        [write_batch.PageWrite(target="concepts/b", text=first, made_by="rules/1")],
        what="compile",
        subject="x",
        at="2026-11-10T10:00:00",
    )
    wiki(engram, "concepts/a", f"# A\n\n{LONG} [[concepts/b]]\n")
    engram.lint(fix=True)
    assert "[[concepts/a|A]]" in (home.read("concepts/b") or "")
    again = first.replace("- [[concepts/b]]", "- [[concepts/b]] newer")
    applied = write_batch.commit_writes(
        engram,
        home,
        [write_batch.PageWrite(target="concepts/b", text=again, made_by="rules/1")],
        what="compile",
        subject="y",
        at="2026-11-10T11:00:00",
    )
    assert applied.kept == {}


@given(
    st.text(alphabet=st.sampled_from("#-=ab \n`[]"), max_size=80),
    st.sampled_from(["", "\n## Related Concepts\n", "\n## Related Concepts\n\n- [[x]]\n", "\n## Related Concepts"]),
    st.sampled_from(["", "\n## Sources\n\nHere.\n", "\n## Related\n\nOther."]),
)
def test_adding_a_backlink_keeps_every_line_that_was_there(top: str, middle: str, bottom: str) -> None:
    text = f"{top.replace('`', '')}{middle}{bottom}"
    after = append_related_links(text, [("concepts/z", "Z")])
    assert [line for line in text.split("\n") if line.strip()] == [
        line for line in after.split("\n") if line.strip() and "concepts/z" not in line and (
            line.strip() != "## Related Concepts" or middle)
    ]  # fmt: skip
    assert "[[concepts/z|Z]]" in article.parse_article(after).get_section("Related Concepts")


def test_twice_as_many_pages_take_twice_the_steps() -> None:
    def steps(count: int) -> int:
        pages = [
            parse_page(f"concepts/p{n}", f"# P{n}\n\n[[p{(n + 1) % count}]] [[concepts/p0]] [[nothing{n}]] text")
            for n in range(count)
        ]
        taken = 0

        def step(*_: object) -> None:
            nonlocal taken
            taken += 1

        sys.setprofile(step)
        try:
            found = seen(*pages)
        finally:
            sys.setprofile(None)
        assert kinds(found).count("broken-link") == count
        return taken

    assert steps(1_000) < 2.5 * steps(500)


def test_contradictions_are_asked_for_only_where_a_model_is_and_may_be_left_out(opened: Opened) -> None:
    answer = json.dumps({"contradictions": [{"pages": [1, 2], "about": "port 80 and port 81"}]})
    with speaking(chat(answer)) as api:
        hub = opened(model="openai", model_url=api.url, model_name="gpt-4o-mini")
        wiki(hub, "concepts/a", f"# A\n\nThe port is 80. [[concepts/b]] {LONG}")
        wiki(hub, "concepts/b", f"# B\n\nThe port is 81. [[concepts/a]] {LONG}")
        assert "contradiction" not in kinds(hub.lint(structural_only=True).findings)
        assert api.asked == []
        (found,) = [finding for finding in hub.lint().findings if finding.check == "contradiction"]
        assert "| The port is 80." in api.asked[0]["body"]["messages"][-1]["content"]
        assert hub.stats().rot.contradicted == 1
    assert (found.page, found.others) == ("concepts/a", ("concepts/b",))


@pytest.mark.parametrize("pages", [[1], [1, 1], [1, 9], [0, 1], [-1, 2], [1, 2, 3]])
def test_a_contradiction_of_pages_nobody_showed_is_none(pages: list[int]) -> None:
    assert (
        findings_from_reply(
            {"contradictions": [{"pages": pages, "about": "x"}]}, ["concepts/a", "concepts/b", "concepts/c"]
        )
        == []
    )


def test_a_log_that_was_compiled_and_then_edited_makes_its_articles_stale(engram: Engram) -> None:
    home = vault.open_vault(engram)
    wiki(engram, "daily/2026-11-10", "# Daily Log: 2026-11-10\n")
    state.write_file(
        home,
        state.STATE,
        {
            **state.load_state(home),
            "logs": {"2026-11-10": {"hash": due_logs.hash_text(home.read("daily/2026-11-10") or "")}},
        },
    )
    wiki(engram, "concepts/a", f"---\nsources: [daily/2026-11-10]\n---\n\n{LONG} [[daily/2026-11-10]]")
    assert "stale-article" not in kinds(engram.lint().findings)
    wiki(engram, "daily/2026-11-10", "# Daily Log: 2026-11-10\n\nMore.\n")
    assert "stale-article" in kinds(engram.lint().findings, "concepts/a")
