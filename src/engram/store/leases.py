"""Leases: work only one may do at a time, on whatever machine."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.store.engine import Engine, Row

# Taken where nobody has it, where it lapsed, or from the very holder that was seen to be dead.
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


def take(engine: Engine, **facts: Any) -> bool:
    """Take a lease; False when somebody has it."""
    return bool(engine.run(_TAKE, **facts))


def renew(engine: Engine, name: str, holder: str, until: int) -> bool:
    """Hold a lease for longer; False when it was lost."""
    return bool(engine.run(_RENEW, name=name, holder=holder, until=until))


def release(engine: Engine, name: str, holder: str) -> None:
    """Let go of a lease."""
    engine.run("delete from leases where name = :name and holder = :holder", name=name, holder=holder)


def get(engine: Engine, name: str) -> Row | None:
    """Return who has a lease."""
    rows = engine.run("select * from leases where name = :name", name=name)
    return rows[0] if rows else None
