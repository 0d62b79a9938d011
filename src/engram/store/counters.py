"""Named counters."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine


_ADD = """
insert into counters (name, counter) values (:name, :count)
on conflict (name) do update set counter = counters.counter + excluded.counter returning counter
"""


def get(engine: Engine, name: str) -> int:
    """Return the value of a counter."""
    rows = engine.run("select counter from counters where name = :name", name=name)
    return int(rows[0]["counter"]) if rows else 0


def add(engine: Engine, name: str, count: int) -> int:
    """Add to a counter and return its new value."""
    return int(engine.run(_ADD, name=name, count=count)[0]["counter"])
