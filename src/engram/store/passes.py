"""Passes of the dream: when, why, what they sensed and did, and what they changed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.store.engine import Engine, Row

_BEGIN = """
insert into passes (began_at, host, pid, why, drives) values (:now, :host, :pid, :why, :drives) returning id
"""

_CHANGE = """
insert into pass_changes (pass, kind, key, version, before) values (:pass, :kind, :key, :version, :before)
"""

_COUNTS = "select kind, count(*) as n from pass_changes where pass = :pass group by kind"


def begin(engine: Engine, **facts: Any) -> int:
    """Note that a pass begins, and return its number."""
    return int(engine.run(_BEGIN, **facts)[0]["id"])


def end(engine: Engine, pass_id: int, now: int, readout: str) -> None:
    """Note how a pass ended."""
    sql = "update passes set ended_at = :now, readout = :readout where id = :id"
    engine.run(sql, id=pass_id, now=now, readout=readout)


def get(engine: Engine, pass_id: int) -> Row | None:
    """Return one pass."""
    rows = engine.run("select * from passes where id = :id", id=pass_id)
    return rows[0] if rows else None


def newest(engine: Engine, limit: int) -> list[Row]:
    """Return passes, newest first."""
    return engine.run("select * from passes order by id desc limit :limit", limit=limit)


def note_change(engine: Engine, pass_id: int, kind: str, key: str, version: int, before: int) -> None:
    """Note what a pass wrote; in the transaction that writes it."""
    # A parameter cannot be called `pass` in Python.
    engine.run(_CHANGE, **{"pass": pass_id, "kind": kind, "key": key, "version": version, "before": before})


def changes(engine: Engine, pass_id: int) -> list[Row]:
    """Return what a pass wrote, the last first."""
    return engine.run("select * from pass_changes where pass = :pass order by id desc", **{"pass": pass_id})


def counts(engine: Engine, pass_id: int) -> dict[str, int]:
    """Return how much a pass wrote of each kind."""
    return {row["kind"]: int(row["n"]) for row in engine.run(_COUNTS, **{"pass": pass_id})}


def drop(engine: Engine, pass_id: int) -> None:
    """Forget a pass."""
    engine.run("delete from passes where id = :id", id=pass_id)


def mark_undone(engine: Engine, pass_id: int, now: int) -> None:
    """Note that a pass was undone."""
    engine.run("update passes set undone_at = :now where id = :id", id=pass_id, now=now)
