"""What the database says of itself when it is asked whether all is well."""

from __future__ import annotations

from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine

_COUNTS = """
select (select count(*) from sessions) as sessions, (select count(*) from captures) as captures,
       (select count(*) from events) as events, (select count(*) from digests) as digests
"""

# What no crash may leave behind.
_BROKEN = {
    "events without a body": """
      select count(*) as count from events e left join blobs b on b.num = e.blob
       where b.num is null""",
    "sessions counted wrong": """
      select count(*) as count from captures c
       where c.events <> (select count(*) from events e where e.capture = c.num)""",
    "bodies dropped before their digest": """
      select count(*) as count from blobs
       where evicting_at is not null and lost = 0 and (digest is null or digested_through < batch)""",
    "sessions without a digest": """
      select count(*) as count from captures c left join digests d on d.capture = c.num
       where d.id is null and c.batches > 0""",
}


def structure(engine: Engine) -> Iterator[str]:
    """Yield what is wrong with tables, references and counts."""
    if engine.dialect == "sqlite":
        for row in engine.run("pragma integrity_check"):
            if row["integrity_check"] != "ok":
                yield f"database: {row['integrity_check']}"
        for row in engine.run("pragma foreign_key_check"):
            yield f"table {row['table']}: row {row['rowid']} points to nothing in {row['parent']}"
    for what, sql in _BROKEN.items():
        count = engine.run(sql)[0]["count"]
        if count:
            yield f"{count} {what}"


def counts(engine: Engine) -> dict[str, int]:
    """Return how much there is."""
    return engine.run(_COUNTS)[0]


def size(engine: Engine) -> int:
    """Return how many bytes the database takes."""
    if engine.dialect == "sqlite":
        pages, each = engine.run("pragma page_count")[0], engine.run("pragma page_size")[0]
        return int(pages["page_count"]) * int(each["page_size"])
    return int(engine.run("select pg_database_size(current_database()) as bytes")[0]["bytes"])


def index_astray(engine: Engine) -> int:
    """Return by how many the index and the events differ."""
    table = "event_words_docsize" if engine.dialect == "sqlite" else "event_words"
    missing = f"""
      select count(*) as count from events e join blobs b on b.num = e.blob left join {table} w on w.id = e.id
       where w.id is null and b.evicting_at is null"""
    extra = f"select count(*) as count from {table} w left join events e on e.id = w.id where e.id is null"
    return int(engine.run(missing)[0]["count"]) + int(engine.run(extra)[0]["count"])


def session_of(engine: Engine, capture: int) -> str:
    """Return the session of a capture."""
    rows = engine.run("select session_id from captures where num = :num", num=capture)
    return str(rows[0]["session_id"]) if rows else "?"


def library(engine: Engine) -> str:
    """Return which database program this is."""
    if engine.dialect == "sqlite":
        return f"SQLite {engine.run('select sqlite_version() as version')[0]['version']}"
    return f"PostgreSQL {engine.run('show server_version')[0]['server_version']}"
