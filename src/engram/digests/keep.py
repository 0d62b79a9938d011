"""Digests in the store: loaded to go on with, saved after each batch."""

from __future__ import annotations

from typing import Any

import orjson

from engram.digests.fold import VERSION, Fold
from engram.store import digests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine, Row

_IMPORTED = 0  # the version of imported digests, before they said so themselves


def load(engine: Engine, capture: int) -> Fold:
    """Return the digest of a session to go on with."""
    row = digests.of_capture(engine, capture)
    fold = Fold(orjson.loads(row["state"]) if row and row["state"] else None)
    fold.version = row["version"] if row else VERSION  # what older rules began is theirs until it is made anew
    fold.give(given(row))
    return fold


def begin(row: Row | None) -> Fold:
    """Return a digest to make anew: of the one before, only what was imported stays."""
    fold = Fold()
    fold.give(given(row))
    return fold


def given(row: Row | None) -> dict[str, Any]:
    """Return what an imported digest says; nothing if the digest was made here."""
    if row is None:
        return {}
    if row["version"] == _IMPORTED:
        return {**orjson.loads(row["facts"]), "outcome": row["outcome"], "confidence": row["confidence"]}
    return Fold(orjson.loads(row["state"])).given if row["state"] else {}


def give(engine: Engine, capture: int, facts: dict[str, Any], now: int) -> None:
    """Keep a digest that another program made; what is captured later only adds to it."""
    fold = begin(None)
    fold.give(facts)
    save(engine, capture, fold, 0, now)


def save(engine: Engine, capture: int, fold: Fold, through: int, now: int) -> None:
    """Keep the digest of a session as it stands after a batch."""
    facts = fold.facts()
    digests.put(
        engine, capture=capture, version=fold.version, now=now, through=through, outcome=facts.pop("outcome"),
        confidence=facts.pop("confidence"), facts=orjson.dumps(facts).decode(), state=orjson.dumps(fold.state).decode(),
    )  # fmt: skip
