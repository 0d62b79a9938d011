"""Integrity checks of the database."""

from __future__ import annotations

from collections.abc import Iterator

from engram.platform.text import format_count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine

_COUNTS = """
select (select count(*) from sessions) as sessions, (select count(*) from captures) as captures,
       (select count(*) from events) as events, (select count(*) from digests) as digests
"""

# States that no crash may leave behind.
_BROKEN = {
    ("event without a body", "events without a body"): """
      select count(*) as count from events e left join blobs b on b.num = e.blob
       where b.num is null""",
    ("session with a wrong event count", "sessions with a wrong event count"): """
      select count(*) as count from captures c
       where c.events <> (select count(*) from events e where e.capture = c.num)""",
    ("body dropped before its digest", "bodies dropped before their digest"): """
      select count(*) as count from blobs
       where evicting_at is not null and lost = 0 and (digest is null or digested_through < batch)""",
    ("session without a digest", "sessions without a digest"): """
      select count(*) as count from captures c left join digests d on d.capture = c.num
       where d.id is null and c.batches > 0""",
}


def find_structure_problems(engine: Engine) -> Iterator[str]:
    """Yield problems with tables, references and counts."""
    if engine.dialect == "sqlite":
        for row in engine.run("pragma integrity_check"):
            if row["integrity_check"] != "ok":
                yield f"database: {row['integrity_check']}"
        for row in engine.run("pragma foreign_key_check"):
            yield f"table {row['table']}: row {row['rowid']} refers to a missing row in {row['parent']}"
    for names, sql in _BROKEN.items():
        count = engine.run(sql)[0]["count"]
        if count:
            yield format_count(count, *names)


def count_rows(engine: Engine) -> dict[str, int]:
    """Return the number of rows of the main tables."""
    return engine.run(_COUNTS)[0]


def get_database_size(engine: Engine) -> int:
    """Return the size of the database in bytes."""
    if engine.dialect == "sqlite":
        pages, page_size = engine.run("pragma page_count")[0], engine.run("pragma page_size")[0]
        return int(pages["page_count"]) * int(page_size["page_size"])
    return int(engine.run("select pg_database_size(current_database()) as bytes")[0]["bytes"])


def count_index_mismatches(engine: Engine) -> int:
    """Return how many rows of the index and the events do not match."""
    table = "event_words_docsize" if engine.dialect == "sqlite" else "event_words"
    missing = f"""
      select count(*) as count from events e join blobs b on b.num = e.blob left join {table} w on w.id = e.id
       where w.id is null and b.evicting_at is null"""
    extra = f"select count(*) as count from {table} w left join events e on e.id = w.id where e.id is null"
    return int(engine.run(missing)[0]["count"]) + int(engine.run(extra)[0]["count"])


def find_session_id(engine: Engine, capture: int) -> str:
    """Return the session of a capture."""
    rows = engine.run("select session_id from captures where num = :num", num=capture)
    return str(rows[0]["session_id"]) if rows else "?"


def get_library_version(engine: Engine) -> str:
    """Return the name and version of the database program."""
    if engine.dialect == "sqlite":
        return f"SQLite {engine.run('select sqlite_version() as version')[0]['version']}"
    return f"PostgreSQL {engine.run('show server_version')[0]['server_version']}"
