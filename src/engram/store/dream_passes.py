"""Dream passes: when and why they ran, what they measured and did, and what they changed."""

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


def begin_pass(engine: Engine, **facts: Any) -> int:
    """Record the start of a pass and return its number."""
    return int(engine.run(_BEGIN, **facts)[0]["id"])


def end_pass(engine: Engine, pass_id: int, now: int, readout: str) -> None:
    """Record how a pass ended."""
    sql = "update passes set ended_at = :now, readout = :readout where id = :id"
    engine.run(sql, id=pass_id, now=now, readout=readout)


def get(engine: Engine, pass_id: int) -> Row | None:
    """Return one pass."""
    rows = engine.run("select * from passes where id = :id", id=pass_id)
    return rows[0] if rows else None


def list_newest(engine: Engine, limit: int) -> list[Row]:
    """Return passes, newest first."""
    return engine.run("select * from passes order by id desc limit :limit", limit=limit)


def record_change(engine: Engine, pass_id: int, kind: str, key: str, version: int, before: int) -> None:
    """Record what a pass wrote; call in the transaction that writes it."""
    # `pass` is a keyword in Python, so it cannot be a parameter name.
    engine.run(_CHANGE, **{"pass": pass_id, "kind": kind, "key": key, "version": version, "before": before})


def list_changes(engine: Engine, pass_id: int) -> list[Row]:
    """Return what a pass wrote, latest first."""
    return engine.run("select * from pass_changes where pass = :pass order by id desc", **{"pass": pass_id})


def count_changes(engine: Engine, pass_id: int) -> dict[str, int]:
    """Return how many changes of each kind a pass made."""
    return {row["kind"]: int(row["n"]) for row in engine.run(_COUNTS, **{"pass": pass_id})}


def delete(engine: Engine, pass_id: int) -> None:
    """Delete a pass."""
    engine.run("delete from passes where id = :id", id=pass_id)


def mark_undone(engine: Engine, pass_id: int, now: int) -> None:
    """Record that a pass was undone."""
    engine.run("update passes set undone_at = :now where id = :id", id=pass_id, now=now)
