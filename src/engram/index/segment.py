"""Build a segment of the index, from texts or from smaller segments. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from engram.index.snapshot import DEAD, DOC, DTYPES, SCRUBBED
from engram.index.tokenizer import extract_terms
from engram.platform.value import value

Array = np.ndarray[Any, Any]
Terms = list[tuple[str, bytes, bytes]]

_MOST = 255  # maximum count of a word in one doc
_LONGEST = 200_000  # characters indexed per text; longer texts are not messages


@value
class IndexDoc:
    """A doc to index, and its text."""

    source: int
    kind: int
    session: int
    turn: int
    at: int
    text: str


def build_segment(docs: Sequence[IndexDoc]) -> tuple[dict[str, bytes], Terms]:
    """Return the columns and postings of a new segment."""
    postings: dict[str, tuple[list[int], list[int]]] = {}
    lengths = []
    for number, doc in enumerate(docs):
        doc_terms = extract_terms(doc.text[:_LONGEST])
        lengths.append(len(doc_terms))
        for term, count in Counter(doc_terms).items():
            positions, counts = postings.setdefault(term, ([], []))
            positions.append(number)
            counts.append(min(count, _MOST))
    columns = {
        "sources": [doc.source for doc in docs], "kinds": [doc.kind for doc in docs],
        "sessions": [doc.session for doc in docs], "turns": [doc.turn for doc in docs],
        "times": [doc.at for doc in docs], "lengths": lengths, "dead": [0] * len(docs),
    }  # fmt: skip
    terms = [
        (term, np.array(positions, DOC).tobytes(), bytes(counts))
        for term, (positions, counts) in sorted(postings.items())
    ]
    return {name: np.array(column, DTYPES[name]).tobytes() for name, column in columns.items()}, terms


def join_segments(parts: Sequence[tuple[dict[str, Array], Iterable[dict[str, Any]]]]) -> tuple[dict[str, bytes], Terms]:
    """Return the columns and postings of neighboring segments merged; deleted docs lose their words."""
    columns = {
        name: np.concatenate([segment_columns[name] for segment_columns, _ in parts]).astype(dtype).tobytes()
        for name, dtype in DTYPES.items()
    }
    columns["dead"] = columns["dead"].replace(bytes([DEAD]), bytes([SCRUBBED]))
    postings: dict[str, tuple[list[bytes], list[bytes]]] = {}
    offset = 0
    for segment_columns, rows in parts:
        for term, docs, counts in drop_dead_postings(segment_columns["dead"], rows):
            positions, tallies = postings.setdefault(term, ([], []))
            positions.append((np.frombuffer(docs, DOC) + np.uint32(offset)).tobytes())
            tallies.append(counts)
        offset += len(segment_columns["dead"])
    return columns, [(term, b"".join(docs), b"".join(counts)) for term, (docs, counts) in sorted(postings.items())]


def drop_dead_postings(dead: Array, rows: Iterable[dict[str, Any]]) -> Iterable[tuple[str, bytes, bytes]]:
    """Yield the postings of a segment without deleted docs."""
    if not dead.any():
        yield from ((row["term"], bytes(row["docs"]), bytes(row["counts"])) for row in rows)
        return
    for row in rows:
        docs, counts = np.frombuffer(row["docs"], DOC), np.frombuffer(row["counts"], "u1")
        is_alive = dead[docs] == 0
        if is_alive.any():
            yield row["term"], docs[is_alive].tobytes(), counts[is_alive].tobytes()
