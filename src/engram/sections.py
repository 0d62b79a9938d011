"""Markdown cut into the pieces it is searched by: one a heading, long ones cut at empty lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

_LONGEST = 2_000  # characters of one piece
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)


def split_sections(markdown: str) -> list[str]:
    """Return the sections of a document, each short enough to be found by what it says."""
    code = [found.span() for found in _FENCE.finditer(markdown)]
    starts = [each.start() for each in _HEADING.finditer(markdown) if not any(a <= each.start() < b for a, b in code)]
    edges = sorted({0, *starts, len(markdown)})
    sections = (markdown[start:end].strip() for start, end in pairwise(edges))
    return [part for section in _titled(section for section in sections if section) for part in _cut(section)]


def _titled(sections: Iterable[str]) -> Iterator[str]:
    """Yield sections, a heading that has nothing under it with the one below."""
    held = ""
    for section in sections:
        held = f"{held}\n{section}" if held else section
        if "\n" in section or not _HEADING.match(section):
            yield held
            held = ""
    if held:
        yield held


def _cut(section: str) -> Iterator[str]:
    """Yield a section in pieces of a passage's length."""
    held = ""
    for block in re.split(r"\n\s*\n", section):
        if held and len(held) + len(block) > _LONGEST:
            yield held
            held = ""
        held = f"{held}\n\n{block}" if held else block
        while len(held) > 2 * _LONGEST:
            yield held[:_LONGEST]
            held = held[_LONGEST:]
    if held:
        yield held
