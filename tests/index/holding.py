"""Read what the index holds from its tables."""

from __future__ import annotations

import numpy as np

from engram import Engram
from engram.index.doc_kinds import EXCHANGES


def living(engram: Engram) -> list[int]:
    """Return the exchanges the index finds, with repetitions."""
    found: list[int] = []
    for row in engram.engine.run("select * from segments order by first"):
        sources, kinds = np.frombuffer(row["sources"], "<i8"), np.frombuffer(row["kinds"], "u1")
        alive = np.frombuffer(row["dead"], "u1") == 0
        found += [int(item) for item in sources[alive & (kinds < EXCHANGES)]]
    return sorted(found)


def embedded(engram: Engram, model: str | None = None) -> list[int]:
    """Return the exchanges that have vectors, with repetitions."""
    found: list[int] = []
    for row in engram.engine.run(
        "select v.docs, v.codes, s.sources, s.count, p.dim, p.model from vectors v"
        " join segments s on s.id = v.segment join spaces p on p.id = v.space"
    ):
        if model in (None, row["model"]):
            docs = np.frombuffer(row["docs"], "<u4")
            assert len(row["codes"]) == len(docs) * row["dim"]
            found += [int(number) for number in np.frombuffer(row["sources"], "<i8")[docs]]
    return sorted(found)


def exchanges(engram: Engram) -> list[int]:
    """Return all exchanges."""
    return [row["id"] for row in engram.engine.run("select id from exchanges order by id")]


def terms(engram: Engram) -> set[str]:
    """Return the words in the index."""
    return {row["term"] for row in engram.engine.run("select term from postings")}


def segments(engram: Engram) -> int:
    """Count the segments."""
    return int(engram.engine.run("select count(*) as n from segments")[0]["n"])
