"""Rot: what was found to repeat, to come back, or no longer to hold."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from engram.store.engine import Engine

DUPLICATE, NEAR, LOOP = "duplicate", "near-duplicate", "loop"
CONTRADICTION, STALE, REPLACED = "contradiction", "stale", "replaced"

_PUT = """
insert into rot (what, kind, key, other, at) values (:what, :kind, :key, :other, :now) on conflict do nothing
"""

# A document may repeat several; it counts once.
_COUNTS = "select what, count(*) as n from (select distinct what, kind, key from rot) as found group by what"

_NEVER = """
select (select count(*) from likenesses where kind in ('gist', 'article') and at < :before)
     - (select count(*) from recalled r join likenesses l on l.kind = r.kind and l.key = r.key
         where r.kind in ('gist', 'article') and l.at < :before) as n
"""


def put(engine: Engine, what: str, kind: str, key: str, other: str, now: int) -> None:
    """Note a finding."""
    engine.run(_PUT, what=what, kind=kind, key=key, other=other, now=now)


def keep(engine: Engine, what: str, found: Iterable[tuple[str, str, str]], now: int) -> None:
    """Let some findings (kind, key, other) be all there are of what they tell."""
    engine.run("delete from rot where what = :what", what=what)
    rows = [{"what": what, "kind": kind, "key": key, "other": other, "now": now} for kind, key, other in found]
    engine.run_many(_PUT, rows)


def repeating(engine: Engine, kind: str, key: str) -> list[str]:
    """Return the documents that repeat another word for word."""
    sql = "select key from rot where kind = :kind and other = :key and what = 'duplicate'"
    return [str(row["key"]) for row in engine.run(sql, kind=kind, key=key)]


def clear(engine: Engine, kind: str, key: str) -> None:
    """Forget what a document repeats and what repeats it."""
    alike = "what in ('duplicate', 'near-duplicate')"
    engine.run(f"delete from rot where {alike} and kind = :kind and key = :key", kind=kind, key=key)
    engine.run(f"delete from rot where kind = :kind and other = :key and {alike}", kind=kind, key=key)


def outdate(engine: Engine, kind: str, key: str, at: int) -> None:
    """Forget contradictions that were found in a document before it was changed."""
    old = "what = 'contradiction' and kind = :kind and at < :at"
    engine.run(f"delete from rot where {old} and key = :key", kind=kind, key=key, at=at)
    engine.run(f"delete from rot where {old} and other = :key", kind=kind, key=key, at=at)


def drop(engine: Engine, kind: str, key: str) -> None:
    """Forget all that was found of something that is gone."""
    engine.run("delete from rot where kind = :kind and other = :key", kind=kind, key=key)
    for what in (DUPLICATE, NEAR, LOOP, CONTRADICTION, STALE, REPLACED):
        engine.run("delete from rot where what = :what and kind = :kind and key = :key", what=what, kind=kind, key=key)


def drop_loops(engine: Engine, ids: Iterable[int]) -> None:
    """Forget that exchanges are our own words, which say something else now, or nothing."""
    sql = "delete from rot where what = 'loop' and kind = 'exchange' and key = :key"
    engine.run_many(sql, [{"key": str(each)} for each in ids])


def figures(engine: Engine, before: int) -> dict[str, int]:
    """Count what was found, what is known, and what no recall showed since it is known: since before a time."""
    found = {row["what"]: int(row["n"]) for row in engine.run(_COUNTS)}
    return {
        "documents": int(engine.run("select count(*) as n from likenesses")[0]["n"]),
        "duplicates": found.get(DUPLICATE, 0),
        "near_duplicates": found.get(NEAR, 0),
        "loops": found.get(LOOP, 0),
        "never_recalled": int(engine.run(_NEVER, before=before)[0]["n"]),
        "stale": found.get(STALE, 0),
        "contradicted": found.get(CONTRADICTION, 0) + found.get(REPLACED, 0),
    }
