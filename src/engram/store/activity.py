"""The activity log: what Engram did and prevented."""

from __future__ import annotations

from engram.platform import plain_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.store.engine import Engine, Row

_INSERT = """
insert into activity (at, kind, session_id, project, subject, detail)
values (:now, :kind, :session_id, :project, :subject, :detail)
"""

_SELECT = """
select * from activity where (cast(:kind as text) is null or kind = :kind) order by id desc limit :limit
"""

_REFUSALS = """
select max(id) as id, subject from activity
 where kind = 'refused' and session_id = :session_id and at > :since group by subject order by 1
"""


def record(
    engine: Engine,
    now: int,
    kind: str,
    subject: str,
    *,
    session_id: str | None = None,
    project: str = "",
    **detail: Any,
) -> None:
    """Append an entry."""
    engine.run(
        _INSERT, now=now, kind=kind, session_id=session_id, project=project, subject=subject,
        detail=plain_json.dumps(detail),
    )  # fmt: skip


def list_newest(engine: Engine, kind: str | None, limit: int) -> list[Row]:
    """Return entries, newest first."""
    return engine.run(_SELECT, kind=kind, limit=limit)


def list_refusals(engine: Engine, session_id: str, since: int) -> list[Row]:
    """Return what a session was recently refused, without duplicates."""
    return engine.run(_REFUSALS, session_id=session_id, since=since)


def count_by_kind(engine: Engine, kind: str) -> int:
    """Count entries of a kind."""
    return int(engine.run("select count(*) as n from activity where kind = :kind", kind=kind)[0]["n"])
