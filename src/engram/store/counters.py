"""Running numbers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine


_ADD = """
insert into counters (name, counter) values (:name, :count)
on conflict (name) do update set counter = counters.counter + excluded.counter returning counter
"""


def get(engine: Engine, name: str) -> int:
    """Return where a counter stands."""
    rows = engine.run("select counter from counters where name = :name", name=name)
    return int(rows[0]["counter"]) if rows else 0


def add(engine: Engine, name: str, count: int) -> int:
    """Move a counter and return where it stands."""
    return int(engine.run(_ADD, name=name, count=count)[0]["counter"])
