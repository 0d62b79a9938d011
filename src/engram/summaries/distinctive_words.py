"""Words that only certain sessions use: a text with such words was made from those sessions."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from engram.errors import StoreBusy, StoreFull
from engram.index.doc_kinds import get_kind_number
from engram.index.maintenance import update_index
from engram.index.snapshot import hash_session_id, load_snapshot
from engram.index.tokenizer import extract_terms
from engram.platform.sentences import split_sentences
from engram.platform.value import value
from engram.store import documents, exchanges
from engram.summaries.versions import EVERY, GIST

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from engram.hub import Hub

_LAST = get_kind_number(GIST)  # doc kinds that belong to one session
_MARKER = re.compile(r"\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)?")


@value
class ScrubbedText:
    """A text after removing sentences."""

    content: str
    removed: int
    sentences: int  # sentences before


class DistinctiveWords:
    """The words of the sessions to delete."""

    def __init__(self, hub: Hub, family: Sequence[str]) -> None:
        with suppress(StoreFull, StoreBusy):  # words that are not indexed yet count as theirs alone
            update_index(hub, embed=False)
        self._snapshot = load_snapshot(hub)
        self._words = frozenset(
            word for session in family for text in _iter_texts(hub, session) for word in extract_terms(text)
        )
        self._remaining = ~np.isin(self._snapshot.session_numbers, [hash_session_id(session) for session in family])

    def find_words(
        self, text: str, other_sessions: Collection[str] | None = None, extra_words: Collection[str] = ()
    ) -> list[str]:
        """Return the words of a text that only these sessions use, or that some other sessions do not."""
        candidates = sorted({*self._words, *extra_words}.intersection(extract_terms(text)))
        postings = self._snapshot.read_postings(candidates)
        other_numbers = None if other_sessions is None else [hash_session_id(session) for session in other_sessions]
        return [word for word in candidates if not self._is_used_elsewhere(postings.get(word), other_numbers)]

    def scrub_text(
        self, content: str, other_sessions: Collection[str], extra_words: Collection[str] = ()
    ) -> ScrubbedText:
        """Return a text without the sentences that contain such words."""
        telling_words = {*self.find_words(content, other_sessions, extra_words)}
        stripped = [_strip_line(line, telling_words) for line in content.splitlines()]
        removed, total = (
            (sum(column) for column in zip(*(counts for _, counts in stripped), strict=True)) if stripped else (0, 0)
        )
        kept_lines = _drop_bare_headings([line for line, _ in stripped if line is not None])
        return ScrubbedText(
            content="\n".join(kept_lines).strip() if removed else content, removed=removed, sentences=total
        )

    def _is_used_elsewhere(self, postings: tuple[Any, Any] | None, other_numbers: list[int] | None) -> bool:
        """Check whether a remaining session, or its summary, uses a word."""
        if postings is None:
            return False
        docs, snapshot = postings[0], self._snapshot
        session_indexes = snapshot.session_of[docs[snapshot.kinds[docs] <= _LAST]]
        numbers = snapshot.session_numbers[session_indexes[self._remaining[session_indexes]]]
        return len(numbers) > 0 if other_numbers is None else bool(np.isin(numbers, other_numbers).any())


def _iter_texts(hub: Hub, session_id: str) -> Iterator[str]:
    """Yield the messages of a session and the texts of its summaries."""
    yield from (row["content"] for row in exchanges.list_by_session(hub.engine, session_id))
    yield from (row["content"] for row in documents.list_versions(hub.engine, GIST, session_id, EVERY))


def _strip_line(line: str, telling_words: set[str]) -> tuple[str | None, tuple[int, int]]:
    """Remove the sentences of a line that contain some words; return how many were removed, and the total."""
    marker = _MARKER.match(line)
    head = marker[0] if marker else ""
    sentences = split_sentences(line[len(head) :])
    remaining = [sentence for sentence in sentences if telling_words.isdisjoint(extract_terms(sentence))]
    counts = (len(sentences) - len(remaining), len(sentences))
    if not counts[0]:
        return line, counts
    return (head + " ".join(remaining) if remaining else None), counts


def _drop_bare_headings(lines: list[str]) -> Iterator[str]:
    """Drop headings with nothing below them."""
    for index, line in enumerate(lines):
        below = lines[index + 1 : index + 2]
        if not line.endswith(":") or (below and not below[0].endswith(":")):
            yield line
