"""The index of exchanges and passages: segments of docs with postings and vectors, and the queue."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Engine, Row

COLUMNS = ("sources", "kinds", "sessions", "turns", "times", "lengths", "dead")

_ADD = f"""
insert into segments (first, count, {", ".join(COLUMNS)})
values (:first, :count, {", ".join(":" + name for name in COLUMNS)}) returning id
"""

_ADD_TERM = "insert into postings (segment, term, docs, counts) values (:segment, :term, :docs, :counts)"

_SPACE = """
insert into spaces (model, dim, made_at) values (:model, :dim, :now)
on conflict (model) do update set model = excluded.model returning *
"""

# How many docs of each segment have vectors in a space.
_COVERAGE = """
select s.id, s.count, coalesce((select max(v.through) from vectors v where v.space = :space and v.segment = s.id), 0)
       as through from segments s order by s.first
"""


def lock_index(engine: Engine) -> None:
    """Lock the index until the end of this transaction."""
    engine.run("/*pg: select pg_advisory_xact_lock(7405292) */")


def list_queued(engine: Engine, limit: int, newest: bool = False) -> list[Row]:
    """Return queued rows, oldest or newest first."""
    order = "desc" if newest else "asc"
    return engine.run(f"select id, kind, source from unindexed order by id {order} limit :limit", limit=limit)


def is_still_queued(engine: Engine, rows: Sequence[Row]) -> bool:
    """Return whether all these rows are still queued."""
    ids = {row["id"] for row in rows}
    sql = "select id from unindexed where id >= :first and id <= :last"
    return ids <= {row["id"] for row in engine.run(sql, first=min(ids), last=max(ids))}


def list_indexed_ids(engine: Engine, kind: str) -> list[int]:
    """Return the ids of all exchanges or passages that are not queued."""
    table = {"exchange": "exchanges", "passage": "passages"}[kind]
    rows = engine.run(
        f"select t.id from {table} t where not exists"
        " (select 1 from unindexed u where u.kind = :kind and u.source = t.id)", kind=kind
    )  # fmt: skip
    return [row["id"] for row in rows]


def count_queued(engine: Engine) -> int:
    """Count the queued rows."""
    return int(engine.run("select count(*) as n from unindexed")[0]["n"])


def remove_from_queue(engine: Engine, rows: Sequence[Row]) -> None:
    """Remove indexed rows from the queue, by id: others with ids in between may have appeared meanwhile."""
    engine.run_many("delete from unindexed where id = :id", [{"id": row["id"]} for row in rows])


def queue_all(engine: Engine) -> None:
    """Queue everything."""
    engine.run("delete from unindexed")
    engine.run("insert into unindexed (kind, source) select 'exchange', id from exchanges order by id")
    engine.run("insert into unindexed (kind, source) select 'passage', id from passages order by id")


def clear_index(engine: Engine) -> None:
    """Empty the index."""
    for table in ("vectors", "spaces", "postings", "segments"):
        engine.run(f"delete from {table}")


def list_segments(engine: Engine) -> list[Row]:
    """Return the segments in the order of their docs, without their columns."""
    return engine.run("select id, first, count, changed from segments order by first")


def read_segment(engine: Engine, segment: int) -> Row | None:
    """Return a segment with its columns, or None if another process merged it away."""
    return next(iter(engine.run("select * from segments where id = :id", id=segment)), None)


def add_segment(engine: Engine, first: int, count: int, columns: Row, terms: Sequence[tuple[str, bytes, bytes]]) -> int:
    """Insert a segment with its postings and return its id."""
    segment = int(engine.run(_ADD, first=first, count=count, **columns)[0]["id"])
    rows = [{"segment": segment, "term": term, "docs": docs, "counts": counts} for term, docs, counts in terms]
    engine.run_many(_ADD_TERM, rows)
    return segment


def delete_segment(engine: Engine, segment: int) -> None:
    """Delete a segment with its postings and vectors."""
    for sql in ("delete from vectors where segment = :id", "delete from postings where segment = :id"):
        engine.run(sql, id=segment)
    engine.run("delete from segments where id = :id", id=segment)


def save_dead_docs(engine: Engine, segment: int, dead: bytes) -> None:
    """Mark docs of a segment as deleted."""
    engine.run("update segments set dead = :dead, changed = changed + 1 where id = :id", id=segment, dead=dead)


def read_postings(engine: Engine, segment: int, terms: Sequence[str]) -> list[Row]:
    """Return the postings of terms in a segment."""
    names = {f"t{n}": term for n, term in enumerate(terms)}
    slots = ", ".join(f":{name}" for name in names)
    sql = f"select term, docs, counts from postings where segment = :segment and term in ({slots})"
    return engine.run(sql, segment=segment, **names)


def read_frequencies(engine: Engine, segment: int, terms: Sequence[str]) -> dict[str, int]:
    """Return the number of docs per term in a segment, without reading the postings."""
    names = {f"t{n}": term for n, term in enumerate(terms)}
    slots = ", ".join(f":{name}" for name in names)
    sql = f"select term, length(counts) as n from postings where segment = :segment and term in ({slots})"
    return {row["term"]: row["n"] for row in engine.run(sql, segment=segment, **names)}


def read_all_postings(engine: Engine, segment: int) -> list[Row]:
    """Return all postings of a segment, sorted by term."""
    return engine.run("select term, docs, counts from postings where segment = :segment order by term", segment=segment)


def find_terms(engine: Engine, segment: int, start: str, limit: int) -> list[str]:
    """Return the terms of a segment with a prefix."""
    sql = "select term from postings where segment = :segment and term >= :start order by term limit :n"
    rows = engine.run(sql, segment=segment, start=start, n=limit)
    return [row["term"] for row in rows if row["term"].startswith(start)]


def get_or_add_space(engine: Engine, model: str, dim: int, now: int) -> Row:
    """Return the vector space of a model, created if new."""
    return engine.run(_SPACE, model=model, dim=dim, now=now)[0]


def list_spaces(engine: Engine) -> list[Row]:
    """Return every vector space."""
    return engine.run("select * from spaces order by id")


def delete_space(engine: Engine, space: int) -> None:
    """Delete a space with its vectors."""
    engine.run("delete from vectors where space = :space", space=space)
    engine.run("delete from spaces where id = :space", space=space)


def list_coverage(engine: Engine, space: int) -> list[Row]:
    """Return for each segment its number of docs, and how many have vectors in a space."""
    return engine.run(_COVERAGE, space=space)


def read_vectors(engine: Engine, space: int, segment: int) -> list[Row]:
    """Return the vectors of a segment, in the order of its docs."""
    sql = "select through, docs, codes from vectors where space = :space and segment = :segment order by through"
    return engine.run(sql, space=space, segment=segment)


def add_vectors(engine: Engine, space: int, segment: int, through: int, docs: bytes, codes: bytes) -> None:
    """Insert vectors of a segment's docs, up to one of them."""
    sql = (
        "insert into vectors (space, segment, through, docs, codes) values (:space, :segment, :through, :docs, :codes)"
    )
    engine.run(sql, space=space, segment=segment, through=through, docs=docs, codes=codes)


def delete_other_vectors(engine: Engine, segment: int, kept_space: int) -> None:
    """Delete the vectors of a segment in all spaces but one."""
    engine.run("delete from vectors where segment = :segment and space <> :kept", segment=segment, kept=kept_space)
