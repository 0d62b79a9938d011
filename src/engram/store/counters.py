"""Numbers that only rise."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine


_ADD = """
insert into counters (name, counter) values (:name, :count)
on conflict (name) do update set counter = counters.counter + excluded.counter returning counter
"""


def add(engine: Engine, name: str, count: int) -> int:
    """Raise a counter and return where it stands."""
    return int(engine.run(_ADD, name=name, count=count)[0]["counter"])
