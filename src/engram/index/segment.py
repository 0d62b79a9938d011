"""One segment of the index as it is made: from texts, or from smaller segments. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from engram.index.shelf import DEAD, DOC, DTYPES, SCRUBBED
from engram.index.words import words
from engram.value import value

Array = np.ndarray[Any, Any]
Terms = list[tuple[str, bytes, bytes]]

_MOST = 255  # times a word counts in one doc
_LONGEST = 200_000  # characters of a text that are indexed: what is longer is no message


@value
class Doc:
    """What is to be found, and the text it is found by."""

    source: int
    kind: int
    session: int
    turn: int
    at: int
    text: str


def made(docs: Sequence[Doc]) -> tuple[dict[str, bytes], Terms]:
    """Return the columns and postings of a new segment."""
    held: dict[str, tuple[list[int], list[int]]] = {}
    lengths = []
    for number, doc in enumerate(docs):
        found = words(doc.text[:_LONGEST])
        lengths.append(len(found))
        for term, count in Counter(found).items():
            places, counts = held.setdefault(term, ([], []))
            places.append(number)
            counts.append(min(count, _MOST))
    columns = {
        "sources": [doc.source for doc in docs], "kinds": [doc.kind for doc in docs],
        "sessions": [doc.session for doc in docs], "turns": [doc.turn for doc in docs],
        "times": [doc.at for doc in docs], "lengths": lengths, "dead": [0] * len(docs),
    }  # fmt: skip
    terms = [
        (term, np.array(places, DOC).tobytes(), bytes(counts)) for term, (places, counts) in sorted(held.items())
    ]  # fmt: skip
    return {name: np.array(column, DTYPES[name]).tobytes() for name, column in columns.items()}, terms


def joined(parts: Sequence[tuple[dict[str, Array], Iterable[dict[str, Any]]]]) -> tuple[dict[str, bytes], Terms]:
    """Return the columns and postings of neighbouring segments as one; dead docs lose their words."""
    columns = {
        name: np.concatenate([found[name] for found, _ in parts]).astype(dtype).tobytes()
        for name, dtype in DTYPES.items()
    }
    columns["dead"] = columns["dead"].replace(bytes([DEAD]), bytes([SCRUBBED]))
    held: dict[str, tuple[list[bytes], list[bytes]]] = {}
    offset = 0
    for found, rows in parts:
        for term, docs, counts in living(found["dead"], rows):
            places, tallies = held.setdefault(term, ([], []))
            places.append((np.frombuffer(docs, DOC) + np.uint32(offset)).tobytes())
            tallies.append(counts)
        offset += len(found["dead"])
    return columns, [(term, b"".join(docs), b"".join(counts)) for term, (docs, counts) in sorted(held.items())]


def living(dead: Array, rows: Iterable[dict[str, Any]]) -> Iterable[tuple[str, bytes, bytes]]:
    """Yield the postings of a segment without those of dead docs."""
    if not dead.any():
        yield from ((row["term"], bytes(row["docs"]), bytes(row["counts"])) for row in rows)
        return
    for row in rows:
        docs, counts = np.frombuffer(row["docs"], DOC), np.frombuffer(row["counts"], "u1")
        kept = dead[docs] == 0
        if kept.any():
            yield row["term"], docs[kept].tobytes(), counts[kept].tobytes()
