"""Tables for people: aligned, cut to the terminal, plain when piped."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Sequence

import click

_GAP = "  "


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under headings; on a terminal the last column gives way."""
    widths = [max(width(row[n]) for row in (headings, *rows)) for n in range(len(headings))]
    if sys.stdout.isatty():
        spare = shutil.get_terminal_size().columns - sum(widths[:-1]) - len(_GAP) * (len(widths) - 1)
        widths[-1] = max(20, min(widths[-1], spare))
    lines = [click.style(_line(headings, widths), dim=True), *(_line(row, widths) for row in rows)]
    return "\n".join(lines)


def width(cell: str) -> int:
    """Return how many columns a text takes on a terminal, colours not counted."""
    return sum(_columns(character) for character in click.unstyle(cell))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    *head, last = (_cut(cell, size) for cell, size in zip(cells, widths, strict=True))
    padded = [cell + " " * (size - width(cell)) for cell, size in zip(head, widths, strict=False)]
    return _GAP.join([*padded, last]).rstrip()


def _cut(cell: str, size: int) -> str:
    if width(cell) <= size:
        return cell
    kept, room = "", size - 1
    for character in click.unstyle(cell):
        room -= _columns(character)
        if room < 0:
            break
        kept += character
    return kept + "…"
