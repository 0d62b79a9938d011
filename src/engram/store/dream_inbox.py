"""The inbox of dream steps: what each has not processed yet, queued in the transaction that writes it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from engram.store.engine import Engine, Row

FIND, FLUSH, INTEGRATE, DETECT = "find", "flush", "integrate", "detect"
COMPILE = "compile"  # projects whose evidence changed
REWRITE = "rewrite"  # sessions whose summary a model failed to write, with the number of tries
REFLECT, LINT, ROT, SCRUB = "reflect", "lint", "rot", "scrub"

_NOTE = """
insert into news (step, key, at) values (:step, :key, :now)
on conflict (step, key) do update set changes = news.changes + 1
"""

# `changes` is the count the step saw; a row that changed since then stays.
_SETTLE = "delete from news where step = :step and key = :key and changes = :changes"


def mark_new(engine: Engine, step: str, keys: Iterable[str], now: int) -> None:
    """Queue keys for a step; call in the transaction that writes them."""
    engine.run_many(_NOTE, [{"step": step, "key": key, "now": now} for key in sorted(set(keys))])


def list_waiting(engine: Engine, step: str, limit: int = -1) -> list[Row]:
    """Return what a step has not processed, oldest first."""
    sql = "select key, changes, at from news where step = :step order by at, key"
    return engine.run(sql if limit < 0 else f"{sql} limit :limit", step=step, limit=limit)


def count_waiting(engine: Engine, step: str) -> int:
    """Count what a step has not processed."""
    return int(engine.run("select count(*) as n from news where step = :step", step=step)[0]["n"])


def mark_done(engine: Engine, step: str, row: Row) -> None:
    """Remove a row that a step processed, unless it changed since it was read."""
    engine.run(_SETTLE, step=step, key=row["key"], changes=row["changes"])


def delete_key(engine: Engine, key: str) -> None:
    """Delete a key from all queues."""
    engine.run("delete from news where key = :key", key=key)
