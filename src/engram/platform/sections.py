"""Split markdown into passages: one per heading, long ones split at empty lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

_LONGEST = 2_000  # characters per passage
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)


def split_sections(markdown: str) -> list[str]:
    """Split a document into sections that are short enough to search."""
    code = [fence.span() for fence in _FENCE.finditer(markdown)]
    starts = [
        heading.start() for heading in _HEADING.finditer(markdown) if not any(a <= heading.start() < b for a, b in code)
    ]
    edges = sorted({0, *starts, len(markdown)})
    sections = (markdown[start:end].strip() for start, end in pairwise(edges))
    return [
        part
        for section in _join_bare_headings(section for section in sections if section)
        for part in _split_long_section(section)
    ]


def _join_bare_headings(sections: Iterable[str]) -> Iterator[str]:
    """Yield sections, joining a heading without text to the next one."""
    joined = ""
    for section in sections:
        joined = f"{joined}\n{section}" if joined else section
        if "\n" in section or not _HEADING.match(section):
            yield joined
            joined = ""
    if joined:
        yield joined


def _split_long_section(section: str) -> Iterator[str]:
    """Yield a section in pieces no longer than a passage."""
    piece = ""
    for block in re.split(r"\n\s*\n", section):
        if piece and len(piece) + len(block) > _LONGEST:
            yield piece
            piece = ""
        piece = f"{piece}\n\n{block}" if piece else block
        while len(piece) > 2 * _LONGEST:
            yield piece[:_LONGEST]
            piece = piece[_LONGEST:]
    if piece:
        yield piece
