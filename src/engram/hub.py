"""The open handle: engine, settings and clock; the first argument of every operation."""

from __future__ import annotations

from engram.clock import Clock, Instant
from engram.errors import StoreFull
from engram.platform import host
from engram.settings import Settings, is_url, load_settings, parse_location
from engram.store import migrate, missing_database, steady_clock
from engram.store.open_engine import open_engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from types import TracebackType
    from typing import Any, Self

    from engram.store.engine import Engine


class Hub:
    """An open store. Safe to share between threads; close it or use it in a `with` block."""

    def __init__(
        self,
        path_or_url: str | os.PathLike[str] | None = None,
        *,
        settings: Settings | None = None,
        clock: Clock | None = None,
        serving: bool = False,
        **choices: Any,
    ) -> None:
        self.serving = serving  # callers are other processes, so our own process and directory say nothing about them
        self.settings = settings or load_settings(**(parse_location(path_or_url) | choices))
        self.clock = clock or Clock()
        self.engine = self._open_engine()
        try:
            migrate.migrate(self.engine, self.clock.now())
            self.boot = host.get_boot_id() if self.engine.dialect == "sqlite" else ""
            self._ahead: int | None = None
        except BaseException:
            self.engine.close()
            raise

    def _open_engine(self) -> Engine:
        """Open the store; if the disk is full, free the reserve file and try again."""
        if not is_url(self.settings.store):
            from engram.store.database_kind import refuse_other_files

            refuse_other_files(self.settings.store)
        missing_database.refuse_new_store(self.settings)
        try:
            return open_engine(self.settings)
        except StoreFull:
            from engram.store import reserve_file

            if not reserve_file.free_space(self.settings.home):
                raise
            return open_engine(self.settings)

    def now(self) -> int:
        """Return the wall-clock time in microseconds; with PostgreSQL, the server's."""
        return self.clock.now() if self.engine.dialect == "sqlite" else steady_clock.read_server_time(self.engine)

    def steady(self) -> int:
        """Return a monotonic time shared by all users of the store."""
        if self.engine.dialect == "postgres":
            return steady_clock.read_server_time(self.engine)
        if not self.boot:
            return self.clock.now()  # without a boot id there is no better clock
        if self._ahead is None:
            self._ahead = steady_clock.get_clock_offset(self.engine, self.boot, self.clock.now() - self.clock.steady())
        return self.clock.steady() + self._ahead

    def instant(self) -> Instant:
        """Return both times; read in this order, a lock is never promised for too long."""
        now = self.now()
        return Instant(now=now, steady=now if self.engine.dialect == "postgres" else self.steady())

    def close(self) -> None:
        """Close the store."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
