"""What the rest of the store asks of a database, and the choice between the two we have.

One SQL text serves both engines. The rules that make it enough: time is BIGINT microseconds passed
in; ids are text made by us; JSON is text; booleans are 0 and 1; parameters are `:named`; upserts are
`on conflict … do update … returning`; clauses only PostgreSQL has ride in a `/*pg: … */` comment.
"""

from __future__ import annotations

from engram.settings import Settings, is_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from typing import Any, Protocol

    Row = dict[str, Any]

    class Engine(Protocol):
        """A database that several processes write to at once."""

        dialect: str
        store: str
        read_only: bool  # nothing can be written from here, as in an agent's sandbox

        def run(self, sql: str, **params: Any) -> list[Row]:
            """Run one statement and return its rows."""

        def run_many(self, sql: str, rows: Sequence[Row]) -> None:
            """Run one statement for each row of parameters."""

        def transaction(self, *, durable: bool = False, wait: bool = True) -> AbstractContextManager[None]:
            """Write all of a block or nothing; `durable` survives a power cut once it returns.

            Without `wait` a store that is busy right now is refused at once.
            """

        def script(self, sql: str) -> None:
            """Run several statements that take no parameters."""

        def copy_to(self, path: str) -> None:
            """Write a consistent copy of the store to a new file."""

        def close(self) -> None:
            """Let go of every connection."""


def open_engine(settings: Settings) -> Engine:
    """Return the engine the settings name, connected."""
    if is_url(settings.store):
        from engram.store.engine_postgres import PostgresEngine

        return PostgresEngine(settings.store, busy_seconds=settings.busy_seconds)
    from engram.store.engine_sqlite import SqliteEngine

    return SqliteEngine(
        settings.store,
        busy_seconds=settings.busy_seconds,
        allow_network=settings.allow_network_filesystem,
    )


def among(engine: Engine, sql: str, ids: Sequence[int] | Sequence[str], **facts: Any) -> list[Row]:
    """Run a query whose {slots} are any number of ids, some hundred at a time."""
    found: list[Row] = []
    for first in range(0, len(ids), 500):
        names = {f"i{n}": each for n, each in enumerate(ids[first : first + 500])}
        found += engine.run(sql.format(slots=", ".join(f":{name}" for name in names)), **names, **facts)
    return found
