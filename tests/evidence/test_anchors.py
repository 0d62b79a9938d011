"""Files and symbols that a text is about, and whether their code is as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.evidence import anchors


def test_paths_and_symbols_are_found_in_prose() -> None:
    text = (
        "See `billing/export.py`, C:\\work\\app\\main.ts and README.md, not v1.2.3 or https://a.b/c.py: round_total()"
    )
    assert anchors.find_paths(text) == ["billing/export.py", "C:/work/app/main.ts", "README.md"]
    assert anchors.find_symbols(text + " `Retrier` mergeRecords GitHub") == ["round_total", "Retrier", "mergeRecords"]


@pytest.mark.parametrize(
    ("code", "symbol"),
    [
        ("import os\n\ndef total(rows):\n    return sum(rows)\n\nx = 1\n", "total"),
        ("class Shop:\n    async def total(self):\n        return 1\n", "total"),
        ("func (s *Server) Total(n int) int {\n\treturn n\n}\n", "Total"),
        ("export const total = (rows) => {\n  return 1;\n};\n", "total"),
        ("pub fn total(rows: &[i64]) -> i64 {\n    1\n}\n", "total"),
        ("    public static int total(int[] rows) {\n        return 1;\n    }\n", "total"),
        ("MAX_TRIES = 7\n", "MAX_TRIES"),
    ],
)
def test_a_definition_is_recognized_until_it_changes(code: str, symbol: str) -> None:
    span = anchors.hash_symbol(code, symbol)
    assert span is not None
    assert anchors.judge_freshness("\n\n" + code, symbol, span) == anchors.FRESH
    changed = code.replace("return 1", "return 2").replace("sum", "max").replace("return n", "return 0")
    changed = changed.replace("    1\n", "    2\n").replace("= 7", "= 8")
    assert anchors.judge_freshness(changed, symbol, span) == anchors.DRIFTED
    assert anchors.judge_freshness("", symbol, span) == anchors.GONE
    assert anchors.judge_freshness(None, symbol, span) == anchors.GONE


def test_white_space_is_no_change() -> None:
    span = anchors.hash_symbol("def total(a):\n    return a\n", "total")
    assert anchors.hash_symbol("def total(a):\n\n        return a\n\n\nx = 1\n", "total") == span


@given(st.text(max_size=400), st.text(max_size=40))
def test_any_text_is_read_without_an_error(text: str, symbol: str) -> None:
    assert all(path in text.replace("\\", "/") for path in anchors.find_paths(text))
    assert all(name in text for name in anchors.find_symbols(text))
    anchors.hash_symbol(text, symbol)
