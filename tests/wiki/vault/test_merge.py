"""Merge: our text is replaced, all other text is kept byte for byte."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from engram.wiki.vault import article
from engram.wiki.vault.merge import LastWrite, merge

OURS = "---\ntitle: Tea\ntags:\n  - drink\nsources:\n  - daily/2026-11-01\nupdated: 2026-11-01\n---\n\n# Tea\n\nHot.\n\n## Facts\n\n- one\n\n## Sources\n\n- x\n"  # noqa: E501
NEWER = (
    OURS.replace("- one", "- two").replace("11-01", "11-02").replace("## Sources", "## Uses\n\n- cups\n\n## Sources")
)

lines = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\r\x85\u2028\u2029"), max_size=20)
keys = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
values = st.one_of(lines, st.just("[a,  'b']"), st.just("\n  - x\n  -   y"), st.just("\n  deep: 1"), st.just("# hm"))
heads = st.sampled_from(["## A", "##  B  ", "## C", "### D", "# E", "```", "~~~", "text", "", "---", "##", "## A"])
front = st.lists(st.tuples(keys, values).map(lambda pair: f"{pair[0]}: {pair[1]}"), max_size=5)
bodies = st.lists(st.one_of(heads, lines), max_size=12).map("\n".join)


@st.composite
def pages(draw: st.DrawFn) -> str:
    top = draw(front)
    head = "---\n" + "\n".join(top) + "\n---\n" if top else ""
    return head + draw(bodies)


@given(pages())
@example("---\n---")  # two rules, no frontmatter
@example("---\n## A\n---")
def test_a_page_that_is_read_and_written_is_the_same(page: str) -> None:
    assert article.to_markdown(article.parse_article(page)) == page


@given(pages(), st.sampled_from([OURS, NEWER]))
def test_every_line_of_a_page_that_is_not_ours_survives(page: str, ours: str) -> None:
    merged = merge(ours, page, LastWrite.empty()).text
    left = iter(merged.split("\n"))
    kept = [line for line in page.split("\n") if line and not line.startswith("updated:")]
    assert all(any(line == other for other in left) for line in kept)


@given(pages(), st.sampled_from([OURS, NEWER]))
def test_merging_twice_is_merging_once(page: str, ours: str) -> None:
    once = merge(ours, page, LastWrite.empty())
    assert merge(ours, once.text, once.known).text == once.text
    assert merge(ours, once.text, LastWrite.empty()).text == once.text


def test_what_is_ours_is_replaced_added_and_dropped() -> None:
    first = merge(OURS, None, LastWrite.empty())
    second = merge(NEWER, first.text, first.known)
    assert second.text == NEWER
    third = merge(OURS, second.text, second.known)
    assert third.text == OURS
    assert merge(NEWER, third.text, third.known).text == NEWER


def test_what_a_person_changed_stays_and_is_named() -> None:
    known = merge(OURS, None, LastWrite.empty()).known
    disk = OURS.replace("- one", "- one, and only one")
    merged = merge(NEWER, disk, known)
    assert merged.kept == ("Facts",)
    assert "- one, and only one" in merged.text
    assert "- two" not in merged.text
    assert "- cups" in merged.text
    assert merge(NEWER.replace("- two", "- three"), merged.text, merged.known).kept == ("Facts",)


def test_a_change_taken_back_makes_the_section_ours_again() -> None:
    known = merge(OURS, None, LastWrite.empty()).known
    edited = merge(OURS, OURS.replace("- one", "- mine"), known)
    assert merge(NEWER, OURS, edited.known).text == NEWER


def test_a_section_a_person_took_out_is_not_put_back() -> None:
    known = merge(OURS, None, LastWrite.empty()).known
    merged = merge(NEWER, OURS.replace("## Facts\n\n- one\n\n", ""), known)
    assert "## Facts" not in merged.text
    assert "## Uses" in merged.text


def test_new_sections_come_where_we_would_have_them() -> None:
    known = merge(OURS, None, LastWrite.empty()).known
    disk = OURS.replace("## Sources", "## Mine\n\nx\n\n## Sources")
    order = [section.heading for section in article.parse_article(merge(NEWER, disk, known).text).sections]
    assert order == ["", "Facts", "Uses", "Mine", "Sources"]


def test_lists_of_people_get_what_is_new_and_keep_what_was_taken_out() -> None:
    known = merge(OURS, None, LastWrite.empty()).known
    disk = OURS.replace("  - daily/2026-11-01\n", "  - a/letter\n").replace("tags:", "Tags: [x]\ntags:")
    merged = article.parse_article(merge(NEWER, disk, known).text)
    assert merged.get_list("sources") == ("a/letter", "daily/2026-11-02")
    assert merged.get("Tags") == "x"
    assert merged.get("updated") == "2026-11-02"


def test_a_scalar_a_person_changed_stays() -> None:
    known = merge(OURS, None, LastWrite.empty()).known
    merged = merge(NEWER, OURS.replace("title: Tea", 'title: "Tea!"  # better'), known)
    assert 'title: "Tea!"  # better\n' in merged.text


def test_line_ends_of_a_page_stay_as_they_are() -> None:
    known = merge(OURS, None, LastWrite.empty()).known
    merged = merge(NEWER, "\ufeff" + OURS.replace("\n", "\r\n"), known).text
    assert merged == "\ufeff" + NEWER.replace("\n", "\r\n")


def test_a_heading_inside_a_fence_is_no_section() -> None:
    page = article.parse_article("# T\n\n```\n## no\n~~~\n## nor this\n```\n## Yes\n\nx\n")
    assert [section.heading for section in page.sections] == ["", "Yes"]
