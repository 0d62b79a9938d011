"""Digests in the store: loaded to continue, saved after each batch."""

from __future__ import annotations

from typing import Any

import orjson

from engram.capture.digests.episodes import save_episodes
from engram.capture.digests.fold import VERSION, Fold
from engram.store import digests, task_runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine, Row

_IMPORTED = 0  # version of digests imported before imports marked themselves


def load_fold(engine: Engine, capture: int) -> Fold:
    """Load the digest of a session to continue it."""
    row = digests.find_by_capture(engine, capture)
    fold = Fold(orjson.loads(row["state"]) if row and row["state"] else None)
    fold.version = row["version"] if row else VERSION  # older rules keep their version until rebuilt
    fold.set_imported_facts(get_imported_facts(row))
    return fold


def create_fold(row: Row | None) -> Fold:
    """Return an empty digest that keeps only the imported facts of the old one."""
    fold = Fold()
    fold.set_imported_facts(get_imported_facts(row))
    return fold


def get_imported_facts(row: Row | None) -> dict[str, Any]:
    """Return the facts of an imported digest, or nothing if the digest was made here."""
    if row is None:
        return {}
    if row["version"] == _IMPORTED:
        return {**orjson.loads(row["facts"]), "outcome": row["outcome"], "confidence": row["confidence"]}
    return Fold(orjson.loads(row["state"])).imported_facts if row["state"] else {}


def save_imported_facts(engine: Engine, capture: int, facts: dict[str, Any], now: int) -> None:
    """Save a digest made by another program; facts captured later only add to it."""
    fold = create_fold(None)
    fold.set_imported_facts(facts)
    save_fold(engine, capture, fold, 0, now)


def save_fold(engine: Engine, capture: int, fold: Fold, through: int, now: int) -> None:
    """Save the digest of a session after a batch."""
    facts = fold.build_facts()
    digests.save(
        engine, capture=capture, version=fold.version, now=now, through=through, outcome=facts.pop("outcome"),
        confidence=facts.pop("confidence"), facts=orjson.dumps(facts).decode(), state=orjson.dumps(fold.state).decode(),
    )  # fmt: skip
    task_runs.save(engine, capture, [_build_task_row(key, counts) for key, counts in fold.state["tasks"].items()])
    save_episodes(engine, capture, fold, now)


def _build_task_row(key: str, counts: dict[str, int]) -> Row:
    purpose, directory, is_whole, command = key.split("\t", 3)
    return {"purpose": purpose, "directory": directory, "is_whole": int(is_whole), "command": command, **counts}
