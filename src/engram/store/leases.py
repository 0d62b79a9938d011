"""Leases: work that only one process may do at a time, on any machine."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.store.engine import Engine, Row

# Granted if it is free or expired, or taken from a holder known to be dead.
_TAKE = """
insert into leases (name, holder, host, pid, started, taken_at, until)
values (:name, :holder, :host, :pid, :started, :now, :until)
on conflict (name) do update set
  holder = excluded.holder, host = excluded.host, pid = excluded.pid, started = excluded.started,
  taken_at = excluded.taken_at, until = excluded.until
 where leases.until <= :steady or leases.holder = :dead
returning holder
"""

_RENEW = "update leases set until = :until where name = :name and holder = :holder returning name"


def acquire(engine: Engine, **facts: Any) -> bool:
    """Take a lease; return False if another holder has it."""
    return bool(engine.run(_TAKE, **facts))


def renew(engine: Engine, name: str, holder: str, until: int) -> bool:
    """Extend a lease; return False if it was lost."""
    return bool(engine.run(_RENEW, name=name, holder=holder, until=until))


def release(engine: Engine, name: str, holder: str) -> None:
    """Release a lease."""
    engine.run("delete from leases where name = :name and holder = :holder", name=name, holder=holder)


def get(engine: Engine, name: str) -> Row | None:
    """Return the holder of a lease."""
    rows = engine.run("select * from leases where name = :name", name=name)
    return rows[0] if rows else None
