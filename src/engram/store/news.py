"""News: what a step of the dream has not seen yet. It is noted where a thing is written, in the same transaction."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from engram.store.engine import Engine, Row

FIND, FLUSH, INTEGRATE, DETECT = "find", "flush", "integrate", "detect"
REFLECT, LINT, ROT, SCRUB = "reflect", "lint", "rot", "scrub"

_NOTE = """
insert into news (step, key, at) values (:step, :key, :now)
on conflict (step, key) do update set changes = news.changes + 1
"""

# Whoever dealt with it saw so many changes; where more came meanwhile, it stays.
_SETTLE = "delete from news where step = :step and key = :key and changes = :changes"


def note(engine: Engine, step: str, keys: Iterable[str], now: int) -> None:
    """Say that something is new to a step; in the transaction that writes it."""
    engine.run_many(_NOTE, [{"step": step, "key": each, "now": now} for each in sorted(set(keys))])


def waiting(engine: Engine, step: str, limit: int = -1) -> list[Row]:
    """Return what a step has not seen, what waits longest first."""
    sql = "select key, changes, at from news where step = :step order by at, key"
    return engine.run(sql if limit < 0 else f"{sql} limit :limit", step=step, limit=limit)


def count(engine: Engine, step: str) -> int:
    """Count what a step has not seen."""
    return int(engine.run("select count(*) as n from news where step = :step", step=step)[0]["n"])


def settle(engine: Engine, step: str, row: Row) -> None:
    """Say that a step dealt with something as it was when it was read."""
    engine.run(_SETTLE, step=step, key=row["key"], changes=row["changes"])


def drop(engine: Engine, key: str) -> None:
    """Forget what is gone."""
    engine.run("delete from news where key = :key", key=key)
