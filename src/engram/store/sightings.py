"""Files as sessions saw them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.store.engine import Engine, Row

READ = "read"  # the session read or wrote it
HELD = "held"  # another held it when a command of the session began

_PUT = """
insert into sightings (session_id, kind, path, size, changed_at, hash, at)
values (:session_id, :kind, :path, :size, :changed_at, :hash, :now)
on conflict (session_id, kind, path) do update set
  size = excluded.size, changed_at = excluded.changed_at, hash = excluded.hash, at = excluded.at
"""


def put(engine: Engine, **facts: Any) -> None:
    """Remember a file as it is now."""
    engine.run(_PUT, **facts)


def get(engine: Engine, session_id: str, path: str) -> Row | None:
    """Return a file as a session last read it."""
    sql = "select * from sightings where session_id = :session_id and kind = 'read' and path = :path"
    rows = engine.run(sql, session_id=session_id, path=path)
    return rows[0] if rows else None


def take_held(engine: Engine, session_id: str) -> list[Row]:
    """Hand over what a session's command found held when it began."""
    sql = "delete from sightings where session_id = :session_id and kind = 'held' returning *"
    return engine.run(sql, session_id=session_id)


def forget(engine: Engine, session_id: str) -> None:
    """Drop all that a session saw."""
    engine.run("delete from sightings where session_id = :session_id", session_id=session_id)


def forget_old(engine: Engine, before: int) -> None:
    """Drop what was seen too long ago to matter."""
    engine.run("delete from sightings where at < :before", before=before)
