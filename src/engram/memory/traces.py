"""What sessions said that no other session says: by these words a text shows that it was made of them."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from engram.errors import StoreBusy, StoreFull
from engram.index.index import bring_up_to_date
from engram.index.kinds import kind_of
from engram.index.shelf import session_number, shelf
from engram.index.words import words
from engram.memory.sentences import split_sentences
from engram.memory.versions import GIST
from engram.store import documents, exchanges
from engram.value import value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from engram.hub import Hub

_LAST = kind_of(GIST)  # of the kinds of docs that are a session's own
_EVERY = 1_000_000  # versions
_MARKER = re.compile(r"\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)?")


@value
class Scrubbed:
    """A text without the sentences that were taken out of it."""

    content: str
    removed: int
    sentences: int  # before


class Traces:
    """The words of sessions that are to be deleted."""

    def __init__(self, hub: Hub, family: Sequence[str]) -> None:
        with suppress(StoreFull, StoreBusy):  # words that no index holds yet count as theirs alone
            bring_up_to_date(hub, embed=False)
        self._held = shelf(hub)
        self._said = frozenset(word for each in family for text in _texts(hub, each) for word in words(text))
        self._stays = ~np.isin(self._held.session_numbers, [session_number(each) for each in family])

    def words_in(self, text: str, others: Collection[str] | None = None, more: Collection[str] = ()) -> list[str]:
        """Return the words of a text that these sessions said and no other did, or none of some others."""
        asked = sorted({*self._said, *more}.intersection(words(text)))
        found = self._held.postings(asked)
        known = None if others is None else [session_number(each) for each in others]
        return [word for word in asked if not self._is_said(found.get(word), known)]

    def taken_out_of(self, content: str, others: Collection[str], more: Collection[str] = ()) -> Scrubbed:
        """Return a text without the sentences that hold such words."""
        telling = {*self.words_in(content, others, more)}
        found = [_line_without(line, telling) for line in content.splitlines()]
        removed, total = (sum(each) for each in zip(*(counts for _, counts in found), strict=True)) if found else (0, 0)
        left = _without_bare_headings([line for line, _ in found if line is not None])
        return Scrubbed(content="\n".join(left).strip() if removed else content, removed=removed, sentences=total)

    def _is_said(self, postings: tuple[Any, Any] | None, known: list[int] | None) -> bool:
        """Tell whether a session that stays said a word, or its gist does."""
        if postings is None:
            return False
        docs, held = postings[0], self._held
        places = held.session_of[docs[held.kinds[docs] <= _LAST]]
        numbers = held.session_numbers[places[self._stays[places]]]
        return len(numbers) > 0 if known is None else bool(np.isin(numbers, known).any())


def _texts(hub: Hub, session_id: str) -> Iterator[str]:
    """Yield what was said in a session, and what its gists said."""
    yield from (row["content"] for row in exchanges.of_session(hub.engine, session_id))
    yield from (row["content"] for row in documents.history(hub.engine, GIST, session_id, _EVERY))


def _line_without(line: str, telling: set[str]) -> tuple[str | None, tuple[int, int]]:
    """Return a line without the sentences that hold some words, how many those are, and of how many."""
    marker = _MARKER.match(line)
    head = marker[0] if marker else ""
    said = split_sentences(line[len(head) :])
    kept = [each for each in said if telling.isdisjoint(words(each))]
    counts = (len(said) - len(kept), len(said))
    if not counts[0]:
        return line, counts
    return (head + " ".join(kept) if kept else None), counts


def _without_bare_headings(lines: list[str]) -> Iterator[str]:
    """Yield lines but for headings that have nothing below them any more."""
    for place, line in enumerate(lines):
        below = lines[place + 1 : place + 2]
        if not line.endswith(":") or (below and not below[0].endswith(":")):
            yield line
