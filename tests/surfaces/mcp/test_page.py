"""Paging of long texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.platform.text import count_tokens
from engram.surfaces.mcp import paging


@given(st.text(alphabet=st.sampled_from("ab \n\r\u2028é"), max_size=400), st.integers(1, 40))
def test_the_parts_of_a_text_are_the_text(whole: str, budget: int) -> None:
    parts: list[str] = []
    cursor: str | None = None
    for _ in range(len(whole) + 2):
        part, cursor = paging.read_part(whole, cursor, budget)
        assert count_tokens(part) <= budget
        parts.append(part)
        if cursor is None:
            break
    assert cursor is None
    assert "".join("".join(parts).split()) == "".join(whole.split())
