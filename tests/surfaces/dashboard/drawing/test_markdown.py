"""Untrusted markdown as HTML: readable and inert."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.surfaces.dashboard.drawing.highlight import highlighted
from engram.surfaces.dashboard.drawing.markdown import render_markdown
from tests.surfaces.dashboard.payloads import payloads

ALLOWED = set(
    "a blockquote br code del em h3 h4 h5 h6 hr li ol p pre s strong table tbody td th thead tr ul".split()
)  # fmt: skip


class _Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, said or "") for name, said in attrs]


def seen(page: str) -> _Seen:
    result = _Seen()
    result.feed(page)
    return result


def test_what_people_write_is_drawn() -> None:
    drawn = render_markdown(
        "# Title\n\nSome *words* and `code`.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1\n```"
    )
    assert {"h3", "em", "code", "ul", "li", "table", "td", "pre"} <= set(seen(drawn).tags)


def test_a_link_leads_out_without_telling_from_where() -> None:
    drawn = render_markdown("[here](https://example.org/x)")
    assert ("rel", "noreferrer noopener") in seen(drawn).attributes
    assert ("href", "https://example.org/x") in seen(drawn).attributes


def test_a_wikilink_leads_to_its_page() -> None:
    drawn = render_markdown("See [[concepts/a b|the page]] and [[daily/2026-11-16#Session (10:00) x]].")
    hrefs = [said for name, said in seen(drawn).attributes if name == "href"]
    assert hrefs == ["/wiki/concepts/a%20b", "/wiki/daily/2026-11-16#Session%20%2810%3A00%29%20x"]


def test_an_image_is_shown_as_text_only() -> None:
    drawn = render_markdown("![a gull](http://example.org/gull.png)")
    assert "a gull" in drawn
    assert "img" not in seen(drawn).tags


def test_no_payload_leaves_anything_that_acts() -> None:
    for payload in payloads():
        result = seen(render_markdown(payload))
        assert set(result.tags) <= ALLOWED, payload
        assert {name for name, _ in result.attributes} <= {"href", "class", "rel", "start"}, payload
        assert all(said.startswith(("/", "http", "#")) for name, said in result.attributes if name == "href"), payload


@given(st.text(alphabet=st.sampled_from(list("<>&\"'`*_[]()!#|- \n\tax:/=.;")), max_size=200))
def test_no_text_leaves_anything_that_acts(text: str) -> None:
    result = seen(render_markdown(text))
    assert set(result.tags) <= ALLOWED
    assert {name for name, _ in result.attributes} <= {"href", "class", "rel", "start"}


def test_words_of_a_question_are_marked_in_any_of_their_endings() -> None:
    drawn = highlighted("Refunds were refunded; the <b>refund</b> fee.", "How is a refund done?")
    assert str(drawn) == (
        "<mark>Refunds</mark> were <mark>refunded</mark>; the &lt;b&gt;<mark>refund</mark>&lt;/b&gt; fee."
    )


def test_a_question_of_small_words_marks_them() -> None:
    assert str(highlighted("to be or not", "to be")) == "<mark>to</mark> <mark>be</mark> or not"


@given(st.text(max_size=80), st.text(max_size=20))
def test_a_marked_text_says_what_it_said(text: str, query: str) -> None:
    assert highlighted(text, query).striptags() == highlighted(text, "").striptags()


@pytest.mark.parametrize("hostile", ["![" * 100_000, "[a](" * 50_000, "word [ " * 28_000])
def test_brackets_without_end_are_shown_as_they_are(hostile: str) -> None:
    assert render_markdown(hostile).startswith("<pre>")


def test_many_words_that_are_looked_for_take_no_longer_than_a_few() -> None:
    words = " ".join(f"word{n}" for n in range(20_000))
    assert highlighted(words, words).count("<mark>") >= 50
