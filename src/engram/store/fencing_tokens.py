"""Fencing tokens: an increasing number per grant."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine

_BLOCK = 4096  # tokens granted between two durable commits

_NEXT = """
update tokens set counter = counter + :count
 where name = 'locks' and boot = :boot and counter + :count <= ceiling
returning counter
"""

_RAISE = """
insert into tokens (name, boot, counter, ceiling) values ('locks', :boot, 0, :block)
on conflict (name) do update
   set counter = case when tokens.boot = excluded.boot then tokens.counter else tokens.ceiling end,
       ceiling = tokens.ceiling + :block,
       boot = excluded.boot
"""


def take_tokens(engine: Engine, boot: str, count: int) -> int | None:
    """Take `count` new tokens and return the last, or None if the durable ceiling must be raised first."""
    rows = engine.run(_NEXT, boot=boot, count=count)
    return int(rows[0]["counter"]) if rows else None


def raise_ceiling(engine: Engine, boot: str, count: int) -> None:
    """Raise the ceiling; only in a durable transaction."""
    engine.run(_RAISE, boot=boot, block=_BLOCK + count)
