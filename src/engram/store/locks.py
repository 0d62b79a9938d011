"""Locks and those who wait for them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.model import Resource
    from engram.store.engine import Engine, Row

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

# A long lock is not prolonged by a few seconds: most signs of life then write nothing.
_RENEW_ALL = """
update locks set expires_at = :steady + lasts
 where session_id = :session_id
   and expires_at < :steady + lasts - case when lasts > 600000000 then 5000000 else 0 end
"""

_WAIT = """
insert into waiters (session_id, base, kind, pattern, since, expires_at)
values (:session_id, :base, :kind, :pattern, :now, :expires_at)
on conflict (session_id, kind, pattern) do update set expires_at = excluded.expires_at
"""


def serialize(engine: Engine) -> None:
    """Let only one writer at a time judge overlaps; SQLite has one writer anyway."""
    engine.run("/*pg: lock table locks in exclusive mode */")


def near(engine: Engine, resource: Resource, table: str = "locks") -> list[Row]:
    """Return every lock or waiter that might overlap a resource: above it, on it, or below it."""
    above = _ancestors(resource.base)
    keys = {f"k{n}": key for n, key in enumerate(above)}
    where = f"base in ({', '.join(':' + name for name in keys)})"
    if resource.kind in ("directory", "glob"):
        below = resource.base.rstrip("/")
        where += " or (base >= :first and base < :last)"
        keys |= {"first": below + "/", "last": below + "0"}  # "0" follows "/"
    rows = engine.run(f"select * from {table} where {where}", **keys)
    return _with_holders(engine, rows) if table == "locks" else rows


def every(engine: Engine, project: str | None, steady: int, limit: int) -> list[Row]:
    """Return the locks of a project, or of all, that had not lapsed at some time, newest first."""
    where = "where (cast(:project as text) is null or project = :project) and expires_at > :steady"
    order = "order by token desc limit :limit"
    rows = engine.run(f"select * from locks {where} {order}", project=project, steady=steady, limit=limit)
    return _with_holders(engine, rows)


def of_session(engine: Engine, session_id: str) -> list[Row]:
    """Return the locks a session holds."""
    rows = engine.run("select * from locks where session_id = :session_id", session_id=session_id)
    return _with_holders(engine, rows)


def holds(engine: Engine, session_id: str | None, token: int) -> bool:
    """Tell whether a token is that of a lock the session holds."""
    rows = engine.run("select session_id from locks where token = :token", token=token)
    return bool(rows) and rows[0]["session_id"] == session_id


def insert(engine: Engine, resource: Resource, **facts: Any) -> None:
    """Grant a lock."""
    engine.run(_INSERT, kind=resource.kind, name=resource.name, base=resource.base, pattern=resource.pattern, **facts)


def renew(engine: Engine, token: int, **facts: Any) -> Row:
    """Renew one lock; what was asked for by name does not become one that ends with the turn."""
    return engine.run(_RENEW, token=token, **facts)[0]


def renew_all(engine: Engine, session_id: str, steady: int) -> None:
    """Move the end of everything a session holds."""
    engine.run(_RENEW_ALL, session_id=session_id, steady=steady)


def delete(engine: Engine, token: int) -> None:
    """Drop one lock."""
    engine.run("delete from locks where token = :token", token=token)


def delete_all(engine: Engine, session_id: str) -> None:
    """Drop everything a session holds or waits for."""
    engine.run("delete from locks where session_id = :session_id", session_id=session_id)
    engine.run("delete from waiters where session_id = :session_id", session_id=session_id)


def delete_edits(engine: Engine, session_id: str) -> None:
    """Drop what a session holds only because it edited it."""
    engine.run("delete from locks where session_id = :session_id and by_edit = 1", session_id=session_id)


def sweep(engine: Engine, steady: int) -> None:
    """Drop what lapsed before this moment and nobody ever asked for."""
    engine.run("delete from locks where expires_at < :steady", steady=steady)
    engine.run("delete from waiters where expires_at < :steady", steady=steady)


def wait(engine: Engine, resource: Resource, session_id: str, now: int, expires_at: int) -> None:
    """Show that a session waits for a resource."""
    engine.run(
        _WAIT, session_id=session_id, base=resource.base, kind=resource.kind, pattern=resource.pattern,
        now=now, expires_at=expires_at,
    )  # fmt: skip


def stop_waiting(engine: Engine, session_id: str) -> None:
    """Forget what a session waited for."""
    engine.run("delete from waiters where session_id = :session_id", session_id=session_id)


def _with_holders(engine: Engine, rows: list[Row]) -> list[Row]:
    """Add who holds each lock. Mostly there is none, and a join would cost every claim its preparation."""
    known: dict[str, Row] = {}
    for row in rows:
        if row["session_id"] not in known:
            found = engine.run("select * from sessions where id = :id", id=row["session_id"])[0]
            known[row["session_id"]] = {name: found[name] for name in _HOLDER}
        row |= known[row["session_id"]]
    return rows


def _ancestors(base: str) -> list[str]:
    if not base.startswith("/"):
        return [base]
    parts = base.strip("/").split("/")
    return ["/", *("/" + "/".join(parts[: n + 1]) for n in range(len(parts)) if parts[0])]
