"""Parse and format wikilinks: `[[target]]`, `[[target|shown]]`, `[[target#heading]]`. Pure."""

from __future__ import annotations

import re

from engram.platform.value import value

_LINK = re.compile(r"(!?)\[\[([^\[\]\n|#]*)(?:#([^\[\]\n|]*))?(?:\|([^\[\]\n]*))?\]\]")
_CODE = re.compile(r"(?ms)^(```|~~~).*?^\1[^\n]*$|`[^`\n]*`")


@value
class Link:
    """One wikilink of a page."""

    target: str  # without .md and label
    heading: str = ""
    shown: str = ""
    embedded: bool = False


def escape_links(text: str) -> str:
    """Escape a text so that it contains no links or comments."""
    return text.replace("[[", "⟦").replace("]]", "⟧").replace("<!--", "‹!--")


def find_links(markdown: str) -> list[Link]:
    """Return the wikilinks of a text in order, except in code."""
    prose = _CODE.sub(lambda match: " " * len(match[0]), markdown)
    return [
        Link(target=_clean_target(match[2]), heading=(match[3] or "").strip(), shown=(match[4] or "").strip(),
             embedded=bool(match[1]))
        for match in _LINK.finditer(prose)
        if match[2].strip() or match[3]
    ]  # fmt: skip


def format_link(target: str, label: str = "") -> str:
    """Format a wikilink; characters that would end it are dropped."""
    clean = re.sub(r"[\[\]|#\n]", " ", label).strip()
    return f"[[{target}|{clean}]]" if clean and clean != target else f"[[{target}]]"


def strip_links(markdown: str) -> str:
    """Replace the links of a line by their labels."""
    return _LINK.sub(lambda match: match[4] or match[2] or match[3] or "", markdown)


def _clean_target(words: str) -> str:
    return words.strip().removesuffix(".md").strip("/")
