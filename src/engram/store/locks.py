"""Locks, and the sessions that wait for them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.store.engine import Engine, Row
    from engram.types import Resource

_HOLDER = ("flavor", "session_type", "summary", "host", "pid", "pid_start", "cwd")

_INSERT = """
insert into locks (token, session_id, kind, name, base, pattern, mode, project, note, locked_at, lasts, expires_at,
  by_edit)
values (:token, :session_id, :kind, :name, :base, :pattern, :mode, :project, :note, :now, :lasts, :expires_at,
  :by_edit)
"""

_RENEW = """
update locks set note = coalesce(cast(:note as text), note), lasts = :lasts, expires_at = :expires_at,
  by_edit = case when by_edit = 1 then :by_edit else 0 end
 where token = :token returning token, locked_at, note
"""

# A long lock is not extended by less than the slack, so that most heartbeats write nothing.
_RENEW_ALL = """
update locks set expires_at = :steady + lasts
 where session_id = :session_id
   and expires_at < :steady + lasts - case when lasts > 120 * :slack then :slack else 0 end
"""

_WAIT = """
insert into waiters (session_id, base, kind, pattern, since, expires_at)
values (:session_id, :base, :kind, :pattern, :now, :expires_at)
on conflict (session_id, kind, pattern) do update set expires_at = excluded.expires_at
"""


def lock_table(engine: Engine) -> None:
    """Allow one writer at a time to check overlaps; SQLite has one writer anyway."""
    engine.run("/*pg: lock table locks in exclusive mode */")


def find_nearby(engine: Engine, resource: Resource, table: str = "locks") -> list[Row]:
    """Return every lock or waiter that may overlap a resource: above it, on it, or below it."""
    ancestors = _list_ancestors(resource.base)
    keys = {f"k{n}": key for n, key in enumerate(ancestors)}
    where = f"base in ({', '.join(':' + name for name in keys)})"
    if resource.kind in ("directory", "glob"):
        prefix = resource.base.rstrip("/")
        where += " or (base >= :first and base < :last)"
        keys |= {"first": prefix + "/", "last": prefix + "0"}  # "0" follows "/"
    rows = engine.run(f"select * from {table} where {where}", **keys)
    return _add_holders(engine, rows) if table == "locks" else rows


def list_unlapsed(engine: Engine, project: str | None, steady: int, limit: int) -> list[Row]:
    """Return locks not expired at a given time, of one project or all, newest first."""
    where = "where (cast(:project as text) is null or project = :project) and expires_at > :steady"
    order = "order by token desc limit :limit"
    rows = engine.run(f"select * from locks {where} {order}", project=project, steady=steady, limit=limit)
    return _add_holders(engine, rows)


def list_by_session(engine: Engine, session_id: str) -> list[Row]:
    """Return the locks a session holds."""
    rows = engine.run("select * from locks where session_id = :session_id", session_id=session_id)
    return _add_holders(engine, rows)


def is_holder(engine: Engine, session_id: str | None, token: int) -> bool:
    """Return whether a token belongs to a lock the session holds."""
    rows = engine.run("select session_id from locks where token = :token", token=token)
    return bool(rows) and rows[0]["session_id"] == session_id


def insert(engine: Engine, resource: Resource, **facts: Any) -> None:
    """Insert a lock."""
    engine.run(_INSERT, kind=resource.kind, name=resource.name, base=resource.base, pattern=resource.pattern, **facts)


def renew(engine: Engine, token: int, **facts: Any) -> Row:
    """Renew one lock; a lock that was asked for does not turn into one that ends with the turn."""
    return engine.run(_RENEW, token=token, **facts)[0]


def renew_all(engine: Engine, session_id: str, steady: int, slack: int) -> None:
    """Extend all locks of a session."""
    engine.run(_RENEW_ALL, session_id=session_id, steady=steady, slack=slack)


def delete(engine: Engine, token: int) -> None:
    """Delete one lock."""
    engine.run("delete from locks where token = :token", token=token)


def delete_all(engine: Engine, session_id: str) -> None:
    """Delete everything a session holds or waits for."""
    engine.run("delete from locks where session_id = :session_id", session_id=session_id)
    engine.run("delete from waiters where session_id = :session_id", session_id=session_id)


def delete_edits(engine: Engine, session_id: str) -> None:
    """Delete the locks a session holds only because it edited files."""
    engine.run("delete from locks where session_id = :session_id and by_edit = 1", session_id=session_id)


def delete_lapsed(engine: Engine, steady: int) -> None:
    """Delete locks that expired before a time and were not taken over."""
    engine.run("delete from locks where expires_at < :steady", steady=steady)
    engine.run("delete from waiters where expires_at < :steady", steady=steady)


def add_waiter(engine: Engine, resource: Resource, session_id: str, now: int, expires_at: int) -> None:
    """Record that a session waits for a resource."""
    engine.run(
        _WAIT, session_id=session_id, base=resource.base, kind=resource.kind, pattern=resource.pattern,
        now=now, expires_at=expires_at,
    )  # fmt: skip


def delete_waiters(engine: Engine, session_id: str) -> None:
    """Delete what a session waits for."""
    engine.run("delete from waiters where session_id = :session_id", session_id=session_id)


def _add_holders(engine: Engine, rows: list[Row]) -> list[Row]:
    """Add the holder's columns to each lock; usually there are none, and a join would slow down every request."""
    holders: dict[str, Row] = {}
    for row in rows:
        if row["session_id"] not in holders:
            session = engine.run("select * from sessions where id = :id", id=row["session_id"])[0]
            holders[row["session_id"]] = {name: session[name] for name in _HOLDER}
        row |= holders[row["session_id"]]
    return rows


def _list_ancestors(base: str) -> list[str]:
    if not base.startswith("/"):
        return [base]
    parts = base.strip("/").split("/")
    return ["/", *("/" + "/".join(parts[: n + 1]) for n in range(len(parts)) if parts[0])]
