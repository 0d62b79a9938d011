"""Wikilinks: `[[target]]`, `[[target|shown]]`, `[[target#heading]]`; found, made, followed. Pure."""

from __future__ import annotations

import re

from engram.text import slug
from engram.value import value

__all__ = ["Link", "link", "links", "plain", "slug", "unlinked"]

_LINK = re.compile(r"(!?)\[\[([^\[\]\n|#]*)(?:#([^\[\]\n|]*))?(?:\|([^\[\]\n]*))?\]\]")
_CODE = re.compile(r"(?ms)^(```|~~~).*?^\1[^\n]*$|`[^`\n]*`")


@value
class Link:
    """One wikilink as it stands in a page."""

    target: str  # without .md and without what is shown instead
    heading: str = ""
    shown: str = ""
    embedded: bool = False


def unlinked(said: str) -> str:
    """Return words that are only said: they link nowhere and hide nothing."""
    return said.replace("[[", "⟦").replace("]]", "⟧").replace("<!--", "‹!--")


def links(markdown: str) -> list[Link]:
    """Return the wikilinks of a text in order, those in code left out."""
    prose = _CODE.sub(lambda found: " " * len(found[0]), markdown)
    return [
        Link(target=_target(found[2]), heading=(found[3] or "").strip(), shown=(found[4] or "").strip(),
             embedded=bool(found[1]))
        for found in _LINK.finditer(prose)
        if found[2].strip() or found[3]
    ]  # fmt: skip


def link(target: str, shown: str = "") -> str:
    """Return a wikilink; what would break out of it is left out."""
    clean = re.sub(r"[\[\]|#\n]", " ", shown).strip()
    return f"[[{target}|{clean}]]" if clean and clean != target else f"[[{target}]]"


def plain(markdown: str) -> str:
    """Return a line of text with the words of its links instead of the links."""
    return _LINK.sub(lambda found: found[4] or found[2] or found[3] or "", markdown)


def _target(words: str) -> str:
    return words.strip().removesuffix(".md").strip("/")
