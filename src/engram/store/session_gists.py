"""Sessions that have a gist, by their time."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.store.engine import Engine, Row

_PUT = """
insert into gisted (session_id, version, project, trust, first_at, last_at)
values (:session_id, :version, :project, :trust, :first_at, :last_at)
on conflict (session_id) do update set
  version = excluded.version, project = excluded.project, trust = excluded.trust, first_at = excluded.first_at,
  last_at = excluded.last_at
"""


def save(engine: Engine, **facts: Any) -> None:
    """Save the version of a session's gist and what it covers."""
    engine.run(_PUT, **facts)


def delete(engine: Engine, session_id: str) -> None:
    """Record that a session has no gist."""
    engine.run("delete from gisted where session_id = :session_id", session_id=session_id)


def list_all(engine: Engine) -> list[Row]:
    """Return every session with a gist, earliest first."""
    return engine.run("select * from gisted order by coalesce(first_at, 0), session_id")


def count(engine: Engine) -> int:
    """Count the sessions with a gist."""
    return int(engine.run("select count(*) as n from gisted")[0]["n"])
