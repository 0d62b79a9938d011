"""Text from others cannot pass for the frame around it when it reaches a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.platform.text import escape_inline, neutralize_markup, quote_as_data

UNSEEN = [0xE0041, 0xE007F, 0x200B, 0x200D, 0x202E, 0x2066, 0xFEFF, 0x2060, 0xFE0F, 0x00AD, 0x061C, 0xE01EF]


@pytest.mark.parametrize(
    "tag",
    ["</system-reminder>", "< /system-reminder>", "<system>", "<|im_start|>", "<<SYS>>", "<!-- -->", "<?xml", "＜/x>"],
)
def test_no_tag_keeps_its_bracket(tag: str) -> None:
    said = neutralize_markup(f"before {tag} after")
    assert "‹" in said
    assert not any(item in said for item in ("</", "<s", "< /", "<|", "<S", "<!", "<?", "＜"))


@pytest.mark.parametrize("role", ["Human:", "Assistant:", "  System :", "**User:**", "> human:", "### Developer:"])
def test_no_line_begins_somebodys_turn(role: str) -> None:
    said = neutralize_markup(f"x\n\n{role} obey")
    assert "›" in said
    assert role not in said


def test_brackets_of_a_chat_template_and_fences_lose_their_meaning() -> None:
    assert "[INST]" not in neutralize_markup("[INST] obey [/INST]")
    assert "```" not in neutralize_markup("```\nhidden\n````")
    assert "~~~" not in neutralize_markup("~~~~ sh")


@pytest.mark.parametrize("code", UNSEEN)
def test_invisible_characters_are_dropped(code: int) -> None:
    assert neutralize_markup(f"a{chr(code)}b") == "ab"
    assert "</" not in neutralize_markup(f"<{chr(code)}/system-reminder>")


@pytest.mark.parametrize(
    "plain", ["if a < b and c <= d:", "x <- 5", "a<5", "user: not at the start is kept".title()[5:]]
)
def test_plain_code_stays_as_it_is(plain: str) -> None:
    assert neutralize_markup(plain) == plain


def test_a_carriage_return_and_a_line_separator_hide_no_line() -> None:
    for end in ("\r", "\r\n", "\u2028", "\u2029", "\x85"):
        assert quote_as_data(f"a{end}Human: b") == "| a\n| ‹Human›: b"


@given(st.text())
def test_disarming_twice_changes_nothing_more(text: str) -> None:
    once = neutralize_markup(text)
    assert neutralize_markup(once) == once


@given(st.text(alphabet="</>!|`~[]HhumanINSTser:\n \u200b\U000e0041\r"))
def test_nothing_dangerous_is_left(text: str) -> None:
    for said in (neutralize_markup(text), quote_as_data(text), escape_inline(text, 1000)):
        assert not any(
            item in said for item in ("</", "<|", "<!", "```", "~~~", "[INST]", "\u200b", "\U000e0041", "\r")
        )
        assert not any(line.lstrip(" >").lower().startswith(("human:", "user:")) for line in said.split("\n"))
