"""Digests in the store: loaded to go on with, saved after each batch."""

from __future__ import annotations

import orjson

from engram.digests.fold import VERSION, Fold
from engram.store import digests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine


def load(engine: Engine, capture: int) -> Fold:
    """Return the digest of a session to go on with."""
    row = digests.of_capture(engine, capture)
    fold = Fold(orjson.loads(row["state"]) if row and row["state"] else None)
    fold.version = row["version"] if row else VERSION  # what older rules began is theirs until it is made anew
    return fold


def save(engine: Engine, capture: int, fold: Fold, through: int, now: int) -> None:
    """Keep the digest of a session as it stands after a batch."""
    facts = fold.facts()
    digests.put(
        engine, capture=capture, version=fold.version, now=now, through=through, outcome=facts.pop("outcome"),
        confidence=facts.pop("confidence"), facts=orjson.dumps(facts).decode(), state=orjson.dumps(fold.state).decode(),
    )  # fmt: skip
