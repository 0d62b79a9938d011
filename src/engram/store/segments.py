"""The index of exchanges and passages: segments of docs, their postings, their vectors, and what waits for them."""

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

# How far each segment has vectors in a space.
_COVERAGE = """
select s.id, s.count, coalesce((select max(v.through) from vectors v where v.space = :space and v.segment = s.id), 0)
       as through from segments s order by s.first
"""


def hold(engine: Engine) -> None:
    """Let nobody else change the index until the end of this transaction."""
    engine.run("/*pg: select pg_advisory_xact_lock(7405292) */")


def waiting(engine: Engine, limit: int, newest: bool = False) -> list[Row]:
    """Return what the index does not know yet, oldest or newest first."""
    way = "desc" if newest else "asc"
    return engine.run(f"select id, kind, source from unindexed order by id {way} limit :limit", limit=limit)


def still_waits(engine: Engine, rows: Sequence[Row]) -> bool:
    """Tell whether nobody has indexed any of these rows of the queue meanwhile."""
    ids = {row["id"] for row in rows}
    sql = "select id from unindexed where id >= :first and id <= :last"
    return ids <= {row["id"] for row in engine.run(sql, first=min(ids), last=max(ids))}


def findable(engine: Engine, kind: str) -> list[int]:
    """Return the ids of all exchanges or passages that do not wait for the index."""
    table = {"exchange": "exchanges", "passage": "passages"}[kind]
    rows = engine.run(
        f"select t.id from {table} t where not exists"
        " (select 1 from unindexed u where u.kind = :kind and u.source = t.id)", kind=kind
    )  # fmt: skip
    return [row["id"] for row in rows]


def backlog(engine: Engine) -> int:
    """Count what the index does not know yet."""
    return int(engine.run("select count(*) as n from unindexed")[0]["n"])


def done(engine: Engine, rows: Sequence[Row]) -> None:
    """Take what is indexed now off the queue; others with ids between them may have become visible meanwhile."""
    engine.run_many("delete from unindexed where id = :id", [{"id": row["id"]} for row in rows])


def queue_all(engine: Engine) -> None:
    """Queue everything."""
    engine.run("delete from unindexed")
    engine.run("insert into unindexed (kind, source) select 'exchange', id from exchanges order by id")
    engine.run("insert into unindexed (kind, source) select 'passage', id from passages order by id")


def clear(engine: Engine) -> None:
    """Empty the index."""
    for table in ("vectors", "spaces", "postings", "segments"):
        engine.run(f"delete from {table}")


def overview(engine: Engine) -> list[Row]:
    """Return the segments in the order of their docs, without their columns."""
    return engine.run("select id, first, count, changed from segments order by first")


def columns(engine: Engine, segment: int) -> Row | None:
    """Return a segment with its columns; None when another process has merged it away."""
    return next(iter(engine.run("select * from segments where id = :id", id=segment)), None)


def add(engine: Engine, first: int, count: int, found: Row, terms: Sequence[tuple[str, bytes, bytes]]) -> int:
    """Write a segment with its postings and return its id."""
    segment = int(engine.run(_ADD, first=first, count=count, **found)[0]["id"])
    rows = [{"segment": segment, "term": term, "docs": docs, "counts": counts} for term, docs, counts in terms]
    engine.run_many(_ADD_TERM, rows)
    return segment


def drop(engine: Engine, segment: int) -> None:
    """Remove a segment with its postings and vectors."""
    for sql in ("delete from vectors where segment = :id", "delete from postings where segment = :id"):
        engine.run(sql, id=segment)
    engine.run("delete from segments where id = :id", id=segment)


def bury(engine: Engine, segment: int, dead: bytes) -> None:
    """Mark docs of a segment as dead."""
    engine.run("update segments set dead = :dead, changed = changed + 1 where id = :id", id=segment, dead=dead)


def postings(engine: Engine, segment: int, terms: Sequence[str]) -> list[Row]:
    """Return the postings of some terms in a segment."""
    names = {f"t{n}": each for n, each in enumerate(terms)}
    slots = ", ".join(f":{name}" for name in names)
    sql = f"select term, docs, counts from postings where segment = :segment and term in ({slots})"
    return engine.run(sql, segment=segment, **names)


def frequencies(engine: Engine, segment: int, terms: Sequence[str]) -> dict[str, int]:
    """Return in how many docs of a segment each term is, without reading which."""
    names = {f"t{n}": each for n, each in enumerate(terms)}
    slots = ", ".join(f":{name}" for name in names)
    sql = f"select term, length(counts) as n from postings where segment = :segment and term in ({slots})"
    return {row["term"]: row["n"] for row in engine.run(sql, segment=segment, **names)}


def all_postings(engine: Engine, segment: int) -> list[Row]:
    """Return all postings of a segment in the order of their terms."""
    return engine.run("select term, docs, counts from postings where segment = :segment order by term", segment=segment)


def beginning(engine: Engine, segment: int, start: str, limit: int) -> list[str]:
    """Return the terms of a segment that begin in some way."""
    sql = "select term from postings where segment = :segment and term >= :start order by term limit :n"
    rows = engine.run(sql, segment=segment, start=start, n=limit)
    return [row["term"] for row in rows if row["term"].startswith(start)]


def repost(engine: Engine, segment: int, term: str, docs: bytes, counts: bytes) -> None:
    """Replace the postings of one term; none at all remove the term."""
    engine.run("delete from postings where segment = :segment and term = :term", segment=segment, term=term)
    if docs:
        engine.run(_ADD_TERM, segment=segment, term=term, docs=docs, counts=counts)


def space(engine: Engine, model: str, dim: int, now: int) -> Row:
    """Return the space a model's vectors lie in, made if it is new."""
    return engine.run(_SPACE, model=model, dim=dim, now=now)[0]


def spaces(engine: Engine) -> list[Row]:
    """Return every space vectors lie in."""
    return engine.run("select * from spaces order by id")


def drop_space(engine: Engine, space: int) -> None:
    """Remove a space with its vectors."""
    engine.run("delete from vectors where space = :space", space=space)
    engine.run("delete from spaces where id = :space", space=space)


def coverage(engine: Engine, space: int) -> list[Row]:
    """Return for each segment how many docs it has, and up to which one they have vectors in a space."""
    return engine.run(_COVERAGE, space=space)


def vectors(engine: Engine, space: int, segment: int) -> list[Row]:
    """Return the vectors of a segment, in the order of their docs."""
    sql = "select through, docs, codes from vectors where space = :space and segment = :segment order by through"
    return engine.run(sql, space=space, segment=segment)


def add_vectors(engine: Engine, space: int, segment: int, through: int, docs: bytes, codes: bytes) -> None:
    """Write vectors of a segment's docs up to one."""
    sql = (
        "insert into vectors (space, segment, through, docs, codes) values (:space, :segment, :through, :docs, :codes)"
    )
    engine.run(sql, space=space, segment=segment, through=through, docs=docs, codes=codes)


def drop_vectors(engine: Engine, segment: int, kept: int) -> None:
    """Remove the vectors of a segment in all spaces but one."""
    engine.run("delete from vectors where segment = :segment and space <> :kept", segment=segment, kept=kept)
