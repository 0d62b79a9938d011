"""Check what a model wrote against what it was shown: names and numbers must stand there, or the sentence is dropped.

A sentence without names and numbers connects what others say and is kept. Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache

from engram.platform.sentences import split_sentences
from engram.platform.value import value

_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[\[[^\[\]\n]*\]\]|\(?https?://\S+")
_CITATION = re.compile(r"\[\d{1,3}(?:\s*,\s*\d{1,3})*\]")  # numbers of passages, which are checked elsewhere
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w])|(?<=[#v$€-])\d+(?:[.,]\d+)*")
_IDENTIFIER = re.compile(
    r"(?<![\w/])(?:[\w.-]+/)+[\w.-]+|\b\w+(?:_\w+)+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z]+[A-Z]\w*\b|\b[\w-]+\.[a-z]{1,5}\b|"
    r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b"
)
_NAME = re.compile(r"(?<=[\w,;:)] )[A-Z][a-zA-Z][\w-]*|\b[A-Z]{2,}\b")
_WORD = re.compile(r"\w+")
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
# Capitalized words that name nothing: days and months (dates are checked by their numbers), and ours.
_FREE = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december i ok ai api cli ci pr prs ui url json id ids todo the a an it this that and but
    session sessions agent agents user project engram""".split()
)


@value
class GroundedText:
    """What is left of a model's text, and how many sentences were kept and dropped."""

    text: str
    kept: int
    dropped: int


@value
class _Source:
    """What a model was shown, to look names and numbers up in."""

    text: str  # in lower case
    words: frozenset[str]
    numbers: frozenset[str]


def keep_grounded(text: str, source: str) -> GroundedText:
    """Return the sentences of a model's text whose names and numbers stand in its source; headings stay."""
    known = _read_source(source)
    kept = dropped = 0
    lines: list[str] = []
    for line in text.split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            lines.append(line)
            continue
        mark = match[0] if (match := _LIST_MARK.match(line)) else ""
        sentences = split_sentences(line[len(mark) :])
        true = [sentence for sentence in sentences if not find_unsupported(sentence, known)]
        kept, dropped = kept + len(true), dropped + len(sentences) - len(true)
        if len(true) == len(sentences):
            lines.append(line)
        elif true:
            lines.append(mark + " ".join(true))
    return GroundedText(text="\n".join(lines).strip() if dropped else text, kept=kept, dropped=dropped)


def find_unsupported(sentence: str, known: _Source) -> list[str]:
    """Return the names and numbers of a sentence that its source does not have."""
    bare = _CITATION.sub(" ", _LINK.sub(" ", sentence))
    codes = [code for code in _CODE.findall(bare) if not _has_text(known, code)]
    bare = _CODE.sub(" ", bare)
    identifiers = [name for name in _IDENTIFIER.findall(bare) if not _has_text(known, name)]
    plain = _IDENTIFIER.sub(" ", bare)
    names = [name for name in _NAME.findall(plain) if not _has_name(known, name)]
    return codes + identifiers + names + [n for n in _NUMBER.findall(plain) if _normalize(n) not in known.numbers]


@lru_cache(maxsize=8)
def _read_source(text: str) -> _Source:
    lower = text.lower().replace("\\", "/")
    return _Source(
        text=lower, words=frozenset(_WORD.findall(lower)),
        numbers=frozenset(_normalize(number) for number in re.findall(r"\d+(?:[.,]\d+)*", text))
        | frozenset(_normalize(number) for number in re.findall(r"\d+", text)),
    )  # fmt: skip


def _normalize(number: str) -> str:
    """Return a number without separators of thousands and leading zeros."""
    plain = re.sub(r",(?=\d{3}\b)", "", number)
    return plain.lstrip("0") or "0"


def _has_text(known: _Source, name: str) -> bool:
    return name.lower().replace("\\", "/").strip() in known.text


def _has_name(known: _Source, name: str) -> bool:
    lower = name.lower()
    singular = lower.removesuffix("s")
    return lower in _FREE or lower in known.words or singular in known.words or all(
        part in known.words for part in _WORD.findall(lower)
    )  # fmt: skip
