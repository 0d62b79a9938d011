"""Hashes of gists, articles and daily entries, used to find duplicates and near duplicates."""

from __future__ import annotations

from engram.store import dream_inbox, recall_log, rot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Engine, Row

KINDS = ("gist", "article", "daily")

_PUT = """
insert into likenesses (kind, key, exact, at) values (:kind, :key, :exact, :now)
on conflict (kind, key) do update set exact = excluded.exact
"""

# The duplicate, or the document it duplicates in turn: all copies refer to one.
_SAME = """
select coalesce(r.other, l.key) as key from likenesses l
  left join rot r on r.what = 'duplicate' and r.kind = l.kind and r.key = l.key
 where l.exact = :exact and l.kind = :kind and l.key <> :key limit 1
"""

_MET = "select key from likeness_bands where band = :band and kind = :kind and key <> :key order by key limit 50"
_BAND = "insert into likeness_bands (band, kind, key) values (:band, :kind, :key)"


def queue_comparison(engine: Engine, kind: str, key: str, now: int) -> None:
    """Queue a document for comparison; call in the transaction that writes it."""
    if kind in KINDS:
        dream_inbox.mark_new(engine, dream_inbox.ROT, [f"{kind}\t{key}"], now)


def get(engine: Engine, kind: str, key: str) -> Row | None:
    """Return the hashes of a document."""
    rows = engine.run("select * from likenesses where kind = :kind and key = :key", kind=kind, key=key)
    return rows[0] if rows else None


def save(engine: Engine, kind: str, key: str, exact: str, bands: Sequence[str], now: int) -> None:
    """Save the hashes of a document and delete its old findings."""
    _clear_findings(engine, kind, key, now)
    engine.run(_PUT, kind=kind, key=key, exact=exact, now=now)
    engine.run_many(_BAND, [{"band": band, "kind": kind, "key": key} for band in bands])


def delete(engine: Engine, kind: str, key: str, now: int) -> None:
    """Delete a document's hashes and all findings about it."""
    if kind not in KINDS:
        return
    _clear_findings(engine, kind, key, now)
    rot.delete_findings(engine, kind, key)
    engine.run("delete from likenesses where kind = :kind and key = :key", kind=kind, key=key)
    recall_log.delete(engine, kind, [key])
    engine.run("delete from news where step = 'rot' and key = :key", key=f"{kind}\t{key}")


def find_duplicate(engine: Engine, kind: str, key: str, exact: str) -> str | None:
    """Return the document that has exactly the same text."""
    rows = engine.run(_SAME, kind=kind, key=key, exact=exact)
    return str(rows[0]["key"]) if rows else None


def find_near_duplicates(engine: Engine, kind: str, key: str, bands: Sequence[str], limit: int) -> list[str]:
    """Return documents that may be near duplicates, most similar first; only a few from a crowded band."""
    shared: dict[str, int] = {}
    for band in bands:
        for row in engine.run(_MET, band=band, kind=kind, key=key):
            shared[row["key"]] = shared.get(row["key"], 0) + 1
    return sorted(shared, key=lambda other_key: (-shared[other_key], other_key))[:limit]


def _clear_findings(engine: Engine, kind: str, key: str, now: int) -> None:
    """Delete the findings about a document, and queue its duplicates to be compared again."""
    blank = "update likenesses set exact = '' where kind = :kind and key = :key"
    for duplicate in rot.list_duplicates_of(engine, kind, key):
        engine.run(blank, kind=kind, key=duplicate)
        queue_comparison(engine, kind, duplicate, now)
    rot.clear_duplicates(engine, kind, key)
    engine.run("delete from likeness_bands where kind = :kind and key = :key", kind=kind, key=key)
