"""Which exchanges and passages recall showed, how often, and when last."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from engram.store.engine import Engine

_SHOWN = """
insert into recalled (kind, key, times, last_at) values (:kind, :key, 1, :now)
on conflict (kind, key) do update set times = recalled.times + 1, last_at = excluded.last_at
"""

_BY_SESSION = """
select session_id, sum(times) as times, max(last_at) as last_at from (
  select key as session_id, times, last_at from recalled where kind = 'gist'
  union all
  select e.session_id, r.times, r.last_at from recalled r
    join exchanges e on e.id = case when r.kind = 'exchange' then cast(r.key as bigint) end
   where r.kind = 'exchange') as shown
 group by session_id
"""


def record_shown(engine: Engine, keys: Iterable[tuple[str, str]], now: int) -> None:
    """Record what was shown, if the store is free; a recall never waits or fails because of it."""
    rows = [{"kind": kind, "key": key, "now": now} for kind, key in sorted(set(keys))]
    if not rows:
        return
    try:
        with engine.transaction(wait=False):
            engine.run_many(_SHOWN, rows)
    except Exception:  # noqa: S110  busy, full, read-only: one showing less is counted
        pass


def count_by_session(engine: Engine) -> dict[str, tuple[int, int]]:
    """Return of each session how often its summary or messages were shown, and when last."""
    return {row["session_id"]: (int(row["times"]), int(row["last_at"])) for row in engine.run(_BY_SESSION)}


def count_shown(engine: Engine, kind: str, key: str) -> int:
    """Return how often something was shown."""
    rows = engine.run("select times from recalled where kind = :kind and key = :key", kind=kind, key=key)
    return int(rows[0]["times"]) if rows else 0


def delete(engine: Engine, kind: str, keys: Iterable[str]) -> None:
    """Delete the records of items that are gone."""
    sql = "delete from recalled where kind = :kind and key = :key"
    engine.run_many(sql, [{"kind": kind, "key": key} for key in keys])
