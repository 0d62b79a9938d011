"""Rot: findings about documents that are duplicated, repeated by us, or outdated."""

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

# A document may duplicate several others; it counts once.
_COUNTS = "select what, count(*) as n from (select distinct what, kind, key from rot) as found group by what"

_NEVER = """
select (select count(*) from likenesses where kind in ('gist', 'article') and at < :before)
     - (select count(*) from recalled r join likenesses l on l.kind = r.kind and l.key = r.key
         where r.kind in ('gist', 'article') and l.at < :before) as n
"""


def add_finding(engine: Engine, what: str, kind: str, key: str, other: str, now: int) -> None:
    """Add a finding."""
    engine.run(_PUT, what=what, kind=kind, key=key, other=other, now=now)


def replace_findings(engine: Engine, what: str, findings: Iterable[tuple[str, str, str]], now: int) -> None:
    """Replace all findings of one type with these (kind, key, other)."""
    engine.run("delete from rot where what = :what", what=what)
    rows = [{"what": what, "kind": kind, "key": key, "other": other, "now": now} for kind, key, other in findings]
    engine.run_many(_PUT, rows)


def list_duplicates_of(engine: Engine, kind: str, key: str) -> list[str]:
    """Return the documents that are exact duplicates of another."""
    sql = "select key from rot where kind = :kind and other = :key and what = 'duplicate'"
    return [str(row["key"]) for row in engine.run(sql, kind=kind, key=key)]


def clear_duplicates(engine: Engine, kind: str, key: str) -> None:
    """Delete the duplicate findings of a document, in both directions."""
    alike = "what in ('duplicate', 'near-duplicate')"
    engine.run(f"delete from rot where {alike} and kind = :kind and key = :key", kind=kind, key=key)
    engine.run(f"delete from rot where kind = :kind and other = :key and {alike}", kind=kind, key=key)


def clear_old_contradictions(engine: Engine, kind: str, key: str, at: int) -> None:
    """Delete contradictions found in a document before it last changed."""
    old = "what = 'contradiction' and kind = :kind and at < :at"
    engine.run(f"delete from rot where {old} and key = :key", kind=kind, key=key, at=at)
    engine.run(f"delete from rot where {old} and other = :key", kind=kind, key=key, at=at)


def delete_findings(engine: Engine, kind: str, key: str) -> None:
    """Delete all findings about a deleted document."""
    engine.run("delete from rot where kind = :kind and other = :key", kind=kind, key=key)
    for what in (DUPLICATE, NEAR, LOOP, CONTRADICTION, STALE, REPLACED):
        engine.run("delete from rot where what = :what and kind = :kind and key = :key", what=what, kind=kind, key=key)


def delete_loops(engine: Engine, ids: Iterable[int]) -> None:
    """Delete the loop findings of exchanges that changed or were deleted."""
    sql = "delete from rot where what = 'loop' and kind = 'exchange' and key = :key"
    engine.run_many(sql, [{"key": str(exchange_id)} for exchange_id in ids])


def count_findings(engine: Engine, before: int) -> dict[str, int]:
    """Count findings, documents, and documents first seen before a time that recall never showed."""
    counts = {row["what"]: int(row["n"]) for row in engine.run(_COUNTS)}
    return {
        "documents": int(engine.run("select count(*) as n from likenesses")[0]["n"]),
        "duplicates": counts.get(DUPLICATE, 0),
        "near_duplicates": counts.get(NEAR, 0),
        "loops": counts.get(LOOP, 0),
        "never_recalled": int(engine.run(_NEVER, before=before)[0]["n"]),
        "stale": counts.get(STALE, 0),
        "contradicted": counts.get(CONTRADICTION, 0) + counts.get(REPLACED, 0),
    }
