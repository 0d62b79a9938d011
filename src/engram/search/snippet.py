"""Extract the part of a text that answers a question best. Pure."""

from __future__ import annotations

import re

from engram.index.tokenizer import extract_terms
from engram.platform.sentences import split_sentences
from engram.platform.text import to_one_line

LENGTH = 320  # characters of a snippet
_STEP = 80
_READ, _SENTENCES = 20_000, 200  # of a text that whole sentences are chosen from
_CHUNK = re.compile(r"\S+")


def extract_snippet(text: str, terms: frozenset[str], length: int = LENGTH) -> str:
    """Return the part of a text that contains most of the searched words."""
    if len(text) <= length:
        return to_one_line(text, length)
    start = _find_best_start(text, terms, length)
    piece = to_one_line(text[start : start + length], length)
    return f"{'…' if start else ''}{piece}{'…' if start + length < len(text) else ''}"


def extract_passage(text: str, terms: frozenset[str], length: int = LENGTH) -> str:
    """Return the whole sentences in a row that contain most of the searched words; on a tie, the first."""
    plain = to_one_line(text, _READ)
    if len(plain) <= length:
        return plain
    sentences = split_sentences(plain)[:_SENTENCES]
    found = [
        {term for chunk in _CHUNK.finditer(sentence) for term in _match_terms(chunk, terms)} for sentence in sentences
    ]
    best, start = -1, 0
    for place in range(len(sentences)):
        words = set[str]().union(*found[place : _find_end(sentences, place, length)])
        if len(words) > best:
            best, start = len(words), place
    piece = to_one_line(" ".join(sentences[start : _find_end(sentences, start, length)]), length)
    return f"{'…' if start else ''}{piece}"


def _find_end(sentences: list[str], start: int, length: int) -> int:
    """Return the end of the sentences that fit, at least one."""
    end, room = start + 1, length - len(sentences[start])
    while end < len(sentences) and room > len(sentences[end]):
        room -= len(sentences[end]) + 1
        end += 1
    return end


def _find_best_start(text: str, query_terms: frozenset[str], length: int) -> int:
    """Return the start of the part with the most different words; on a tie, the first."""
    matches = [
        (chunk.start(), terms)
        for chunk in _CHUNK.finditer(text[:200_000])
        if (terms := _match_terms(chunk, query_terms))
    ]
    best, start = 0, 0
    for number, (position, _) in enumerate(matches):
        held_terms: set[str] = set()
        for later, terms in matches[number : number + 60]:
            if later >= position + length - _STEP:
                break
            held_terms |= terms
        if len(held_terms) > best:
            best, start = len(held_terms), position
    return _find_word_start(text, max(0, start - _STEP)) if best else 0


def _match_terms(chunk: re.Match[str], terms: frozenset[str]) -> frozenset[str]:
    return terms.intersection(extract_terms(chunk.group()[:200]))


def _find_word_start(text: str, position: int) -> int:
    """Return the start of the word at a position."""
    gap = max(text.rfind(" ", 0, position), text.rfind("\n", 0, position))
    return gap + 1 if gap >= 0 and position - gap < 40 else position
