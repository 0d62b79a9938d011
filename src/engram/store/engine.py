"""The interface of the two database engines.

One SQL text serves both engines. The rules for that: time is BIGINT microseconds passed in; ids are text
that we make; JSON is text; booleans are 0 and 1; parameters are `:named`; upserts are
`on conflict … do update … returning`; clauses only PostgreSQL has are in a `/*pg: … */` comment.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from typing import Any, Protocol

    Row = dict[str, Any]

    class Engine(Protocol):
        """A database that several processes write to concurrently."""

        dialect: str
        store: str
        read_only: bool  # the store cannot be written, e.g. in an agent's sandbox

        def run(self, sql: str, **params: Any) -> list[Row]:
            """Run one statement and return its rows."""

        def run_many(self, sql: str, rows: Sequence[Row]) -> None:
            """Run one statement for each row of parameters."""

        def transaction(self, *, durable: bool = False, wait: bool = True) -> AbstractContextManager[None]:
            """Run a block in one transaction; with `durable`, it survives a power cut once committed.

            Without `wait`, a busy store is refused immediately.
            """

        def script(self, sql: str) -> None:
            """Run several statements without parameters."""

        def copy_to(self, path: str) -> None:
            """Write a consistent copy of the store to a new file."""

        def close(self) -> None:
            """Close every connection."""


def escape_like(text: str) -> str:
    """Return a text as it stands in a pattern of `like … escape '!'`."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def run_for_ids(engine: Engine, sql: str, ids: Sequence[int] | Sequence[str], **facts: Any) -> list[Row]:
    """Run a query with {slots} for any number of ids, a few hundred at a time."""
    rows: list[Row] = []
    for first in range(0, len(ids), 500):
        names = {f"i{n}": row_id for n, row_id in enumerate(ids[first : first + 500])}
        rows += engine.run(sql.format(slots=", ".join(f":{name}" for name in names)), **names, **facts)
    return rows
