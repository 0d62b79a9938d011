"""Write the text of pages: frontmatter, sections, and quotes that cannot break out of a page. Pure."""

from __future__ import annotations

import re

from engram.platform.text import neutralize_markup, to_one_line
from engram.wiki.vault.article import Article, Section, to_markdown
from engram.wiki.vault.links import escape_links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

Front = tuple[tuple[str, "str | tuple[str, ...]"], ...]
_CODE = re.compile(r"(`[^`\n]+`)")
_LINK = re.compile(r"!?\[([^\]\n]+)\]\([^)\n]*\)")


def render_page(front: Front, top: str, sections: Iterable[tuple[str, list[str]]]) -> str:
    """Render a page: frontmatter, summary and the sections that have lines."""
    parts = [Section(heading=heading, body="\n" + "\n".join(lines) + "\n\n") for heading, lines in sections if lines]
    head = Section(heading="", body=f"\n{top}\n\n")
    return to_markdown(Article(front=front, sections=(head, *parts))).rstrip("\n") + "\n"


def escape_line(text: str, length: int) -> str:
    """Return one line of text without links, headings or markup; code in backticks stays readable."""
    line = to_one_line(_LINK.sub(r"\1", text).replace("**", ""), length)
    return "".join(_escape_code(part) if _CODE.fullmatch(part) else _escape_prose(part) for part in _CODE.split(line))


def quote_line(text: str, length: int) -> str:
    """Return what somebody said, in quotation marks."""
    return f"“{escape_line(text, length)}”"


def _escape_prose(text: str) -> str:
    """Return prose without markup; the spaces around it separate it from code."""
    bare = text.strip(" ")
    before, after = text[: len(text) - len(text.lstrip(" "))], text[len(text.rstrip(" ")) :]
    plain = neutralize_markup(bare).replace("`", "'").replace("<", "‹")
    return f"{before}{escape_links(plain)}{after}" if bare else text


def _escape_code(code: str) -> str:
    return escape_links(neutralize_markup(code))
