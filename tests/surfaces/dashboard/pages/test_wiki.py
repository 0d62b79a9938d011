"""The wiki pages and the editor."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from engram import Engram
from engram.wiki.vault.vault import open_vault
from tests.surfaces.dashboard.looking import Looker
from tests.wiki.logs import entry, log, page
from tests.wiki.shop import work_a_week

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'


@pytest.fixture
def filled(hub: Engram, tmp_path: Path) -> Engram:
    """A wiki with two logs, their articles, and a hand-written page."""
    log(hub, "2026-11-09", entry(1, goal="mend the till"))
    log(hub, "2026-11-10", entry(2, goal="mend the door", hour="11:30"))
    work_a_week(hub, tmp_path)
    hub.compile()
    hub.edit_page("concepts/note", "# Note\n\nSee [[shop|the shop]] and [[concepts/gone]].\n")
    return hub


def hidden(text: str, name: str) -> str:
    match = re.search(rf'name="{name}"[^>]* value="([^"]*)"', text)
    assert match is not None
    return html.unescape(match[1])


def test_articles_and_logs_are_listed_and_filtered(filled: Engram, looker: Looker) -> None:
    whole = looker.page("/wiki")
    assert 'href="/wiki/concepts/note"' in whole
    assert "daily/2026-11-10" not in whole
    part = looker.page("/wiki?words=shop", part=True)
    assert 'href="/wiki/concepts/shop"' in part
    assert "concepts/note" not in part
    assert "<html" not in part
    assert 'href="/wiki/daily/2026-11-10"' in looker.page("/wiki/daily")
    assert "No matching pages" in looker.page("/wiki?words=nothing-such", part=True)
    assert looker.get("/wiki?folder=elsewhere").status_code == 400


def test_a_list_that_is_cut_says_so_and_shows_more(filled: Engram, looker: Looker) -> None:
    filled.edit_page("concepts/other-note", "# Other note\n\nSee nothing.\n")
    text = looker.page("/wiki?limit=1&words=note&order=name")
    more = re.search(r'href="(/wiki\?[^"]*)">Show more: 1 of 2<', text)
    assert more is not None
    assert len(re.findall("<tr data-item>", looker.page(html.unescape(more[1])))) == 2


def test_an_empty_wiki_says_what_to_do(hub: Engram, looker: Looker) -> None:
    assert "engram compile" in looker.page("/wiki")
    assert "engram flush" in looker.page("/wiki/daily")
    assert "No links between articles yet" in looker.page("/wiki/graph")


def test_an_article_shows_its_links_its_sources_and_who_links_to_it(filled: Engram, looker: Looker) -> None:
    note = looker.page("/wiki/concepts/note")
    assert 'href="/wiki/concepts/shop" class="wikilink"' in note
    assert 'href="/wiki/concepts/gone" class="wikilink missing"' in note
    assert len(re.findall("<h1", note)) == 1
    shop = looker.page("/wiki/concepts/shop")
    assert 'href="/wiki/daily/2026-11-04#' in shop
    assert 'href="/sessions/' in shop
    assert 'href="/wiki/concepts/note"' in shop
    assert "<svg" in shop
    assert "written by rules" in shop


def test_a_page_is_found_by_its_title_and_one_that_is_missing_can_be_written(filled: Engram, looker: Looker) -> None:
    assert looker.get("/wiki/SHOP").headers["location"] == "/wiki/concepts/shop"
    missing = looker.get("/wiki/concepts/gone")
    assert missing.status_code == 404
    assert 'href="/wiki/edit/concepts/gone"' in missing.text
    assert looker.get("/wiki/concepts/..%2F..%2Fx").status_code in (400, 404)
    assert looker.get("/wiki/concepts/.x").status_code == 400


def test_entries_of_a_log_have_anchors_and_lead_to_their_sessions(filled: Engram, looker: Looker) -> None:
    text = looker.page("/wiki/daily/2026-11-10")
    assert 'id="e2"' in text
    assert 'href="/sessions/s2"' in text
    assert "mend the door" in text
    assert 'href="/wiki/concepts/shop"' in looker.page("/wiki/daily/2026-11-04")


def test_nothing_in_a_page_acts(hub: Engram, looker: Looker) -> None:
    hub.edit_page(
        "concepts/evil",
        f"---\ntitle: '{HOSTILE}'\ntags: ['{HOSTILE}']\n---\n\n# X\n\n{HOSTILE}\n\n[a](javascript:alert(1)) "
        f"[[concepts/{HOSTILE}]] [[concepts/other]]\n",
    )
    hub.edit_page("concepts/other", f"# {HOSTILE}\n\n[[concepts/evil]]\n")
    flavor = HOSTILE.replace('"', "")
    facts = f'entry="a b\' onclick=x" session="../../x" flavor="{flavor}" project=""'
    head = f"### {HOSTILE}\n<!-- engram {facts} -->"
    log(hub, "2026-11-10", f"{head}\n\n{HOSTILE}")
    paths = ("/wiki", "/wiki/concepts/evil", "/wiki/daily/2026-11-10", "/wiki/graph", "/wiki/edit/concepts/evil")
    for path in (*paths, "/wiki/lint/found", "/wiki?words=%3Cscript%3E"):
        text = looker.page(path)
        assert "<script>alert" not in text, path
        assert "<img" not in text, path
        assert 'href="javascript:' not in text, path
        assert not re.search(r"<[^>]* onclick=", text), path
        assert 'style="' not in text, path


def test_a_page_is_edited_and_its_history_shown(filled: Engram, looker: Looker) -> None:
    form = looker.page("/wiki/edit/concepts/note")
    assert "See [[shop|the shop]]" in form
    done = looker.post(
        "/wiki/edit/concepts/note", content="# Note\r\n\r\nChanged.\r\n", expected=hidden(form, "expected")
    )
    assert (done.status_code, done.headers["location"]) == (303, "/wiki/concepts/note")
    assert page(filled, "concepts/note") == "# Note\n\nChanged.\n"
    (older,) = filled.get_page("concepts/note").versions
    old = looker.page(f"/wiki/concepts/note?version={older.version.replace('+', '%2B')}")
    assert "This is an older version" in old
    assert "the shop" in old
    changes = looker.page(f"/wiki/diff/concepts/note?since={older.version.replace('+', '%2B')}", part=True)
    assert '<div class="add"><span class="hidden">added: </span>+Changed.</div>' in changes
    back = looker.post(
        "/wiki/restore/concepts/note", part=True, version=hidden(old, "version"), expected=hidden(old, "expected")
    )
    assert back.headers["hx-redirect"] == "/wiki/concepts/note"
    assert "the shop" in page(filled, "concepts/note")


@pytest.mark.parametrize("part", [True, False])
def test_a_conflict_loses_nothing_of_either(filled: Engram, looker: Looker, part: bool) -> None:
    form = looker.page("/wiki/edit/concepts/note")
    Path(open_vault(filled).root, "concepts", "note.md").write_text("# Note\n\nTheirs.\n")
    answer = looker.post(
        "/wiki/edit/concepts/note", part, content="# Note\n\nMine.\n", expected=hidden(form, "expected")
    )
    assert answer.status_code == 409
    assert "The page changed while you were editing" in answer.text
    assert "-Theirs." in answer.text
    assert "+Mine." in answer.text
    assert page(filled, "concepts/note") == "# Note\n\nTheirs.\n"
    assert ("<textarea" in answer.text) is not part  # an open editor is not updated
    again = looker.post(
        "/wiki/edit/concepts/note", content="# Note\n\nBoth.\n", expected=hidden(answer.text, "expected")
    )
    assert again.status_code == 303
    assert page(filled, "concepts/note") == "# Note\n\nBoth.\n"


def test_what_cannot_be_saved_stays_in_the_box(hub: Engram, looker: Looker) -> None:
    big = "x" * (1024 * 1024 + 1)
    refused = looker.post("/wiki/edit/concepts/big", content=big, expected="")
    assert refused.status_code == 413
    assert big in refused.text
    assert looker.post("/wiki/edit/elsewhere/x", content="mine", expected="").status_code == 400


def test_a_form_that_is_not_ours_changes_nothing(filled: Engram, looker: Looker) -> None:
    version = filled.get_page("concepts/note").version
    answer = looker.post("/wiki/edit/concepts/note", form="forged", content="# Evil\n", expected=version)
    assert answer.status_code == 403
    assert "Evil" not in page(filled, "concepts/note")


def test_a_new_page_begins_with_its_title(hub: Engram, looker: Looker) -> None:
    assert "<form" in looker.page("/wiki/new")
    place = looker.get("/wiki/new?title=Green%20Tea%20%26%20Co&folder=concepts").headers["location"]
    form = looker.page(place)
    assert "# Green Tea &amp; Co" in form
    assert hidden(form, "expected") == ""
    assert looker.get("/wiki/new?title=!!!").status_code == 400


def test_a_new_page_does_not_open_an_old_one(hub: Engram, looker: Looker) -> None:
    hub.edit_page("concepts/tea", "# Tea\n\nHot.\n")
    answer = looker.get("/wiki/new?title=Tea&folder=concepts")
    assert answer.status_code == 400
    assert "already" in answer.text


def test_a_page_too_large_for_the_editor_is_not_opened_in_it(hub: Engram, looker: Looker) -> None:
    hub.edit_page("concepts/tea", "# Tea\n\nHot.\n")
    (Path(open_vault(hub).root) / "concepts" / "tea.md").write_bytes(b"# Caf\xe9\n")
    answer = looker.get("/wiki/edit/concepts/tea")
    assert answer.status_code == 409
    assert "Edit the file instead" in answer.text


def test_an_entry_cannot_take_the_place_of_a_part_of_the_page(hub: Engram, looker: Looker) -> None:
    entry = '<!-- engram entry="keys" -->'
    hub.edit_page("daily/2026-11-10", f"# Daily Log: 2026-11-10\n\n## Sessions\n\n### One\n{entry}\n\nWords.\n")
    assert looker.page("/wiki/daily/2026-11-10").count('id="keys"') == 1


def test_a_preview_is_drawn_and_not_saved(hub: Engram, looker: Looker) -> None:
    text = looker.post("/wiki/preview", part=True, content=f"---\ntitle: x\n---\n\n## Hot\n\n{HOSTILE}").text
    assert "<h2>Hot</h2>" in text
    assert "<script>" not in text
    assert "title: x" not in text
    assert hub.list_pages().found == 0


def test_the_graph_is_a_picture_and_a_list(filled: Engram, looker: Looker) -> None:
    text = looker.page("/wiki/graph")
    assert text.count("<circle") == 5
    assert text.count('<tr data-item><td class="title">') == len(filled.link_graph().nodes)


def test_lint_loads_after_the_page_and_applies_safe_fixes(filled: Engram, looker: Looker) -> None:
    assert 'hx-get="/wiki/lint/found"' in looker.page("/wiki/lint")
    result = looker.page("/wiki/lint/found", part=True)
    assert "broken-link" in result
    assert "missing-backlink" in result
    mended = looker.post("/wiki/lint", part=True)
    assert "concepts/shop: added links back to concepts/note" in mended.text
    assert "[[concepts/note|Note]]" in page(filled, "concepts/shop")
