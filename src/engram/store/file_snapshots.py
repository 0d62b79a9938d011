"""Snapshots of files as sessions saw them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.store.engine import Engine, Row

READ = "read"  # the session read or wrote it
HELD = "held"  # another session had it locked when a command of this session started

_PUT = """
insert into sightings (session_id, kind, path, size, changed_at, hash, at)
values (:session_id, :kind, :path, :size, :changed_at, :hash, :now)
on conflict (session_id, kind, path) do update set
  size = excluded.size, changed_at = excluded.changed_at, hash = excluded.hash, at = excluded.at
"""


def save(engine: Engine, **facts: Any) -> None:
    """Save a snapshot of a file."""
    engine.run(_PUT, **facts)


def get(engine: Engine, session_id: str, path: str) -> Row | None:
    """Return the snapshot of a file from when a session last read it."""
    sql = "select * from sightings where session_id = :session_id and kind = 'read' and path = :path"
    rows = engine.run(sql, session_id=session_id, path=path)
    return rows[0] if rows else None


def pop_held(engine: Engine, session_id: str) -> list[Row]:
    """Return and delete the snapshots taken before a session's command."""
    sql = "delete from sightings where session_id = :session_id and kind = 'held' returning *"
    return engine.run(sql, session_id=session_id)


def delete_by_session(engine: Engine, session_id: str) -> None:
    """Delete all snapshots of a session."""
    engine.run("delete from sightings where session_id = :session_id", session_id=session_id)


def delete_before(engine: Engine, before: int) -> None:
    """Delete old snapshots."""
    engine.run("delete from sightings where at < :before", before=before)
