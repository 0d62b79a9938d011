"""Sentences of what was said: prose only, each a quote of its source. Pure."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 320  # characters of a quote; what is longer is cut at a word
_MOST = 400  # sentences of one text; beyond them, its beginning and its end count
_READ = 200_000  # characters of one text

_FENCE = ("```", "~~~")
_MARKER = re.compile(r"\s*(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+|#{1,6}\s+)")
_CODE = re.compile(
    r"\s*(?:\$ |>>> |>|\||<[/!a-zA-Z]|diff |@@ |\+\+\+ |--- |at \S+\(|File \"|Traceback |import |from \S+ import )"
)
_CODE_END = re.compile(r"(?:[{};]|\\|=>|\($)\s*$")
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]*_`]*+(?=\s)|[。！？]++[」』”’)]*+")
_SHORT = frozenset("e.g i.e etc vs mr mrs ms dr prof st no nr cf al approx fig inc ltd jr sr dept est".split())
_LETTERS = 0.6  # of a line of prose are letters and blanks


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, without code, tables and quoted lines."""
    found: list[str] = []
    for paragraph in _paragraphs(text[:_READ]):
        found += filter(_says_something, map(_cut, _split(paragraph)))
    return found if len(found) <= _MOST else found[: _MOST // 2] + found[-_MOST // 2 :]


def split_sentences(line: str) -> list[str]:
    """Return the sentences of a line, whatever they say."""
    return [each for each in _split(line) if each]


def _paragraphs(text: str) -> Iterator[str]:
    """Yield runs of prose, their lines joined; each item of a list is one."""
    run: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = line.lstrip()[:3]
        if fence or mark in _FENCE:
            fence = ("" if mark == fence else fence) if fence else mark
            line = ""
        prose = _prose(line)
        if run and (not prose or _MARKER.match(line)):
            yield " ".join(run)
            run = []
        if prose:
            run.append(prose)
    if run:
        yield " ".join(run)


def _prose(line: str) -> str:
    """Return what a line says in words, without the sign of a list; nothing for code and tables."""
    if _CODE.match(line) or _CODE_END.search(line[-20:]):
        return ""
    marker = _MARKER.match(line)
    words = " ".join(line[marker.end() if marker else 0 :].split())
    plain = sum(c.isalpha() or c == " " for c in words)
    return words if plain >= _LETTERS * len(words) else ""


def _split(paragraph: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(paragraph):
        if not _ends(paragraph, start, end):
            continue
        yield paragraph[start : end.end()].strip()
        start = end.end()
    yield paragraph[start:].strip()


def _ends(paragraph: str, start: int, end: re.Match[str]) -> bool:
    """Tell a full stop from the one of an abbreviation, an initial or a name in small letters."""
    if end[0][0] != ".":
        return True
    before = paragraph[start : end.start()][-20:].rpartition(" ")[2].lstrip("([\"'").lower()
    after = paragraph[end.end() : end.end() + 2].strip()
    return before not in _SHORT and not (len(before) == 1 and before.isalpha()) and not after[:1].islower()


def _cut(sentence: str) -> str:
    if len(sentence) <= LONGEST:
        return sentence
    head = sentence[:LONGEST]
    return (head.rpartition(" ")[0] or head) + "…"


def _says_something(sentence: str) -> bool:
    wide = sum(ord(c) > 0x2E80 for c in sentence[:20])
    return wide >= 4 or (len(sentence) >= 8 and sentence.count(" ") >= 2)
