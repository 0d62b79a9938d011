"""Tables and prose fit the terminal, whatever their content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.surfaces.cli.render.layout import (
    Column,
    format_facts,
    format_money,
    format_table,
    format_tokens,
    measure_width,
    number_column,
    wrap_text,
)

CELLS = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=60)
COLUMNS = (
    Column("state"), Column("project", min_width=8, drop=2), Column("path", keep_end=True, min_width=6, drop=3),
    number_column("cost", drop=1), Column("title"),
)  # fmt: skip
TITLE = "Fix the flaky race test that fails under load on slow machines"


@given(st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS, CELLS), min_size=1, max_size=5), st.integers(20, 200))
def test_no_row_is_wider_than_the_terminal(rows: list[tuple[str, ...]], width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        lines = format_table(COLUMNS, rows).split("\n")
    assert len(lines) == len(rows) + 1
    assert max(map(measure_width, lines)) <= width


@pytest.mark.parametrize("width", [40, 80, 100, 160])
def test_the_title_gets_two_fifths_of_the_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    rows = [("running", "a-project-with-a-long-name", "/home/me/work/a-project/src/main.py", "$44.39", TITLE * 3)]
    row = format_table(COLUMNS, rows).splitlines()[1]
    assert len(row[row.index("Fix") :]) >= 0.4 * width


def test_what_is_piped_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert TITLE * 5 in format_table(("state", "title"), [("done", TITLE * 5)])


def test_numbers_are_aligned_and_columns_without_news_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "35")
    columns = (Column("agent", drop=1), number_column("cost", drop=2), Column("title"))
    rows = [("claude", "$4.00", "one of two long titles"), ("claude", "$44.39", "two of two long titles")]
    assert format_table(columns, rows).splitlines()[1:] == [
        " $4.00  one of two long titles",
        "$44.39  two of two long titles",
    ]


def test_a_path_keeps_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    table = format_table((Column("mode"), Column("path", keep_end=True)), [("write", "/home/me/very/deep/src/main.py")])
    assert table.splitlines()[1].endswith("/src/main.py")


@given(st.text(st.sampled_from("ab \x1b"), max_size=300), st.integers(30, 120))
def test_prose_keeps_its_words_and_fits(words: str, width: int) -> None:
    sentence = " ".join(words.replace("\x1b", "").split())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        wrapped = wrap_text(sentence, "  ", "    ")
    assert wrapped.split() == sentence.split()
    assert all(measure_width(line) <= width or " " not in line.strip() for line in wrapped.splitlines())


def test_facts_hang_under_their_first_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    first, second = format_facts([("asked", "a question that is longer than forty columns")]).splitlines()
    assert second.startswith("       ")
    assert max(measure_width(first), measure_width(second)) <= 40


def test_money_and_tokens_are_written_for_people() -> None:
    assert [format_money(dollars) for dollars in (44.386882, 0, 0.001, 1234.5)] == [
        "$44.39",
        "$0.00",
        "<$0.01",
        "$1,234.50",
    ]
    assert [format_tokens(count) for count in (950, 12_400, 3_140_000, 250_000_000)] == ["950", "12.4k", "3.1M", "250M"]
