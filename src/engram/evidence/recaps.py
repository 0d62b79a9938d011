"""Find where an agent restates what a person decided. Pure."""

from __future__ import annotations

import re

from engram.evidence import lasting, replies
from engram.evidence.content_words import extract_content_words
from engram.evidence.reports import delivers_code, iter_statements
from engram.platform.text import to_one_line

RECAP_LENGTH = 950
_RESTATED = 2  # words of the decisions that a restatement has
_TERSE = 4  # words of decisions too short to compare
_RECAP_START = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|right|good|perfect|great|makes sense|yes)[,.!:\u2014 -]+)*(?:recap|summary|settled|"
    r"understood|got it|agreed|confirmed|amended?|noted|locked in|so (?:the|that|we|it)\b|so[,:])",
    re.IGNORECASE,
)
_RECAP_LABEL = re.compile(
    r"\b(?:recap(?: of)?\b|to be explicit|the requirement is clear|settled:|(?:final|"
    r"amended) (?:\w+ ){0,2}(?:policy|rule|recap|summary|behavior)\b|amended rule|to summari[sz]e)",
    re.IGNORECASE,
)
_INTENTION = re.compile(
    r"^(?:i(?:'ll| will|'m going| am going)|let me|i understand that you|to address this|here'?s\b|"
    r"implementing|checking|starting|now|running|next,? i|i(?:'ve| have) (?:updated|made|run|added)|"
    r"(?:this|these) (?:changes?|modifications?|updates?|edits?|tests?|additions?|fix(?:es)?)\b|here (?:is|are)\b|"
    r"(?:it|we) (?:now|will|calls?|adds?|modif\w+|replac\w+)\b|let'?s (?:modify|update|add|change|fix|create)\b|"
    r"instead of .{1,80}\bwe now\b|"
    r"tests?\b|all tests|"
    r"thanks|excellent|perfect|great|you're (?:absolutely )?right|to verify)\b",
    re.IGNORECASE,
)
_STRICT = re.compile(
    r"\b(?:must(?:n'?t)?|never|always|exactly|deliberately|should(?: not|n'?t)|at (?:most|least)|only (?:if|when))\b",
    re.IGNORECASE,
)


def find_recap(message: str, decided: list[str], *, needs_label: bool = False) -> str:
    """Return the sentences in which an agent restates what a person decided, or "" if it does not.

    Questions and announcements of what it does next are left out, and beside code that it writes, what only describes
    the code. Between calls of tools only what says that it is a restatement counts (`needs_label`).
    """
    sentences = [
        sentence
        for _, sentence in iter_statements(message, 4_000)
        if not sentence.rstrip().endswith("?") and not _INTENTION.match(sentence)
    ]
    if not sentences or not decided:
        return ""
    start = next((number for number, sentence in enumerate(sentences) if _RECAP_LABEL.search(sentence)), -1)
    marked = start >= 0 or bool(_RECAP_START.search(message[:100]))
    if needs_label and not marked:
        return ""
    if not marked and delivers_code(message):
        sentences = [sentence for sentence in sentences if _STRICT.search(sentence)]
    needed = extract_content_words(" ".join(decided))
    chosen = sentences[max(start, 0) :] if marked else _list_restated(sentences, needed)
    shared = needed & extract_content_words(message[:4_000])
    is_restatement = chosen and len(shared) >= min(3, max(1, len(needed) // 3))
    text = to_one_line(" ".join(chosen), RECAP_LENGTH) if is_restatement else ""
    return text if lasting.names_something(text) and not lasting.is_code(text) else ""


def _list_restated(sentences: list[str], decided: frozenset[str]) -> list[str]:
    """Return the rules among an agent's sentences that take up what was decided, if most of them do."""
    stated = [sentence for sentence in sentences if replies.is_rule(sentence)]
    restated = [sentence for sentence in stated if len(extract_content_words(sentence) & decided) >= _RESTATED]
    return stated if 2 * len(restated) >= len(stated) or len(decided) <= _TERSE else []


def lets_stand(message: str, recap: str) -> bool:
    """Return whether a reply lets a restatement stand: it approves, or the restatement says that it is one."""
    return replies.is_approval(message) or bool(_RECAP_START.match(recap) or _RECAP_LABEL.search(recap[:200]))
