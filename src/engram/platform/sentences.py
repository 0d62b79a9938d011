"""Split messages into sentences: prose only, each an exact quote. Pure."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 320  # characters of a quote; a longer one is cut at a word
_MOST = 400  # sentences of a text; of a longer one, its beginning and its end count
_READ = 200_000  # characters of a text

_FENCE = ("```", "~~~")
_MARKER = re.compile(r"\s*(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+|#{1,6}\s+)")
_CODE = re.compile(
    r"\s*(?:\$ |>>> |>|\||<[/!a-zA-Z]|diff |@@ |\+\+\+ |--- |at \S+\(|File \"|Traceback |import |from \S+ import )"
)
_CODE_END = re.compile(r"(?:[{};]|\\|=>|\($)\s*$")
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]*_`]*+(?=\s)|[。！？]++[」』”’)]*+")
_SHORT = frozenset("e.g i.e etc vs mr mrs ms dr prof st no nr cf al approx fig inc ltd jr sr dept est".split())
_LETTERS = 0.6  # minimum share of letters and blanks in a line of prose


def extract_sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, without code, tables and quoted lines."""
    result: list[str] = []
    for paragraph in _iter_paragraphs(text[:_READ]):
        result += filter(_has_content, map(_shorten_sentence, _iter_sentences(paragraph)))
    return result if len(result) <= _MOST else result[: _MOST // 2] + result[-_MOST // 2 :]


def split_sentences(line: str) -> list[str]:
    """Return all sentences of a line."""
    return [sentence for sentence in _iter_sentences(line) if sentence]


def _iter_paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs of prose with their lines joined; each list item is one."""
    run: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = line.lstrip()[:3]
        if fence or mark in _FENCE:
            fence = ("" if mark == fence else fence) if fence else mark
            line = ""
        prose = _extract_prose(line)
        if run and (not prose or _MARKER.match(line)):
            yield " ".join(run)
            run = []
        if prose:
            run.append(prose)
    if run:
        yield " ".join(run)


def _extract_prose(line: str) -> str:
    """Return the prose of a line without its list marker; empty for code and tables."""
    if _CODE.match(line) or _CODE_END.search(line[-20:]):
        return ""
    marker = _MARKER.match(line)
    words = " ".join(line[marker.end() if marker else 0 :].split())
    plain = sum(map(str.isalpha, words)) + words.count(" ")
    return words if plain >= _LETTERS * len(words) else ""


def _iter_sentences(paragraph: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(paragraph):
        if not _is_sentence_end(paragraph, start, end):
            continue
        yield paragraph[start : end.end()].strip()
        start = end.end()
    yield paragraph[start:].strip()


def _is_sentence_end(paragraph: str, start: int, end: re.Match[str]) -> bool:
    """Tell a full stop from the dot of an abbreviation, an initial or a lower-case name."""
    if end[0][0] != ".":
        return True
    before = paragraph[start : end.start()][-20:].rpartition(" ")[2].lstrip("([\"'").lower()
    after = paragraph[end.end() : end.end() + 2].strip()
    return before not in _SHORT and not (len(before) == 1 and before.isalpha()) and not after[:1].islower()


def _shorten_sentence(sentence: str) -> str:
    if len(sentence) <= LONGEST:
        return sentence
    head = sentence[:LONGEST]
    return (head.rpartition(" ")[0] or head) + "…"


def _has_content(sentence: str) -> bool:
    wide = sum(ord(c) > 0x2E80 for c in sentence[:20])
    return wide >= 4 or (len(sentence) >= 8 and sentence.count(" ") >= 2)
