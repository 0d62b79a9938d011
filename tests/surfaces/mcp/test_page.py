"""Long texts in parts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.surfaces.mcp import page
from engram.text import tokens


@given(st.text(alphabet=st.sampled_from("ab \n\r\u2028é"), max_size=400), st.integers(1, 40))
def test_the_parts_of_a_text_are_the_text(whole: str, budget: int) -> None:
    parts: list[str] = []
    cursor: str | None = None
    for _ in range(len(whole) + 2):
        part, cursor = page.part(whole, cursor, budget)
        assert tokens(part) <= budget
        parts.append(part)
        if cursor is None:
            break
    assert cursor is None
    assert "".join("".join(parts).split()) == "".join(whole.split())
