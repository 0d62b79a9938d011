"""The choice between the two engines."""

from __future__ import annotations

from engram.settings import Settings, is_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine


def open_engine(settings: Settings) -> Engine:
    """Return the engine for these settings, connected."""
    if is_url(settings.store):
        from engram.store.engine_postgres import PostgresEngine

        return PostgresEngine(settings.store, busy_seconds=settings.busy_seconds)
    from engram.store.engine_sqlite import SqliteEngine

    return SqliteEngine(
        settings.store,
        busy_seconds=settings.busy_seconds,
        allow_network=settings.allow_network_filesystem,
    )
