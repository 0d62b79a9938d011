"""Likenesses: hashes of gists, articles and daily entries, by which those that say the same, or nearly, are found."""

from __future__ import annotations

from engram.store import news, recalled, rot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Engine, Row

KINDS = ("gist", "article", "daily")

_PUT = """
insert into likenesses (kind, key, exact, at) values (:kind, :key, :exact, :now)
on conflict (kind, key) do update set exact = excluded.exact
"""

# The one that says the same, or the one which that repeats: of many that say the same, all name one.
_SAME = """
select coalesce(r.other, l.key) as key from likenesses l
  left join rot r on r.what = 'duplicate' and r.kind = l.kind and r.key = l.key
 where l.exact = :exact and l.kind = :kind and l.key <> :key limit 1
"""

_MET = "select key from likeness_bands where band = :band and kind = :kind and key <> :key order by key limit 50"
_BAND = "insert into likeness_bands (band, kind, key) values (:band, :kind, :key)"


def note(engine: Engine, kind: str, key: str, now: int) -> None:
    """Say that what a document says is new; in the transaction that writes it."""
    if kind in KINDS:
        news.note(engine, news.ROT, [f"{kind}\t{key}"], now)


def get(engine: Engine, kind: str, key: str) -> Row | None:
    """Return what is known of a document."""
    rows = engine.run("select * from likenesses where kind = :kind and key = :key", kind=kind, key=key)
    return rows[0] if rows else None


def put(engine: Engine, kind: str, key: str, exact: str, bands: Sequence[str], now: int) -> None:
    """Keep the hashes of a document in place of those before, and forget what was found of it."""
    _unfind(engine, kind, key, now)
    engine.run(_PUT, kind=kind, key=key, exact=exact, now=now)
    engine.run_many(_BAND, [{"band": band, "kind": kind, "key": key} for band in bands])


def drop(engine: Engine, kind: str, key: str, now: int) -> None:
    """Forget a document that is gone, at once, and all that was found of it."""
    if kind not in KINDS:
        return
    _unfind(engine, kind, key, now)
    rot.drop(engine, kind, key)
    engine.run("delete from likenesses where kind = :kind and key = :key", kind=kind, key=key)
    recalled.drop(engine, kind, [key])
    engine.run("delete from news where step = 'rot' and key = :key", key=f"{kind}\t{key}")


def same(engine: Engine, kind: str, key: str, exact: str) -> str | None:
    """Return the document that another one repeats word for word."""
    rows = engine.run(_SAME, kind=kind, key=key, exact=exact)
    return str(rows[0]["key"]) if rows else None


def near(engine: Engine, kind: str, key: str, bands: Sequence[str], limit: int) -> list[str]:
    """Return the documents that may nearly say the same, those most alike first; of a crowd in one band, a few."""
    shared: dict[str, int] = {}
    for band in bands:
        for row in engine.run(_MET, band=band, kind=kind, key=key):
            shared[row["key"]] = shared.get(row["key"], 0) + 1
    return sorted(shared, key=lambda each: (-shared[each], each))[:limit]


def _unfind(engine: Engine, kind: str, key: str, now: int) -> None:
    """Forget what was found of a document; those that repeat it are compared again, for one of them comes first now."""
    blank = "update likenesses set exact = '' where kind = :kind and key = :key"
    for other in rot.repeating(engine, kind, key):
        engine.run(blank, kind=kind, key=other)
        note(engine, kind, other, now)
    rot.clear(engine, kind, key)
    engine.run("delete from likeness_bands where kind = :kind and key = :key", kind=kind, key=key)
