"""Recalled: which exchanges and passages were found and shown, how often, and when last."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from engram.store.engine import Engine

_SHOWN = """
insert into recalled (kind, key, times, last_at) values (:kind, :key, 1, :now)
on conflict (kind, key) do update set times = recalled.times + 1, last_at = excluded.last_at
"""


def shown(engine: Engine, found: Iterable[tuple[str, str]], now: int) -> None:
    """Note what was shown, if that is possible at once: no question waits for it or fails by it."""
    rows = [{"kind": kind, "key": key, "now": now} for kind, key in sorted(set(found))]
    if not rows:
        return
    try:
        with engine.transaction(wait=False):
            engine.run_many(_SHOWN, rows)
    except Exception:  # noqa: S110  busy, full, read-only: one showing less is counted
        pass


def times(engine: Engine, kind: str, key: str) -> int:
    """Return how often something was shown."""
    rows = engine.run("select times from recalled where kind = :kind and key = :key", kind=kind, key=key)
    return int(rows[0]["times"]) if rows else 0


def drop(engine: Engine, kind: str, keys: Iterable[str]) -> None:
    """Forget that some were shown that are gone."""
    sql = "delete from recalled where kind = :kind and key = :key"
    engine.run_many(sql, [{"kind": kind, "key": each} for each in keys])
