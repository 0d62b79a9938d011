"""The open handle: engine, settings and clock in one place, first argument of every operation."""

from __future__ import annotations

from engram import host
from engram.clock import Clock, Instant
from engram.errors import StoreFull
from engram.settings import Settings, is_url, load, locate
from engram.store import boots, migrate, remains
from engram.store.engine import open_engine

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
        self.serving = serving  # callers are other processes: ours, and its directory, say nothing of them
        self.settings = settings or load(**(locate(path_or_url) | choices))
        self.clock = clock or Clock()
        self.engine = self._opened()
        try:
            migrate.migrate(self.engine, self.clock.now())
            self.boot = host.boot() if self.engine.dialect == "sqlite" else ""
            self._ahead: int | None = None
        except BaseException:
            self.engine.close()
            raise

    def _opened(self) -> Engine:
        """Open the store; a disk too full for that gives up its ballast first."""
        if not is_url(self.settings.store):
            from engram.store.recognize import refuse_other_files

            refuse_other_files(self.settings.store)
        remains.refuse_new_store(self.settings)
        try:
            return open_engine(self.settings)
        except StoreFull:
            from engram.store import ballast

            if not ballast.give_up(self.settings.home):
                raise
            return open_engine(self.settings)

    def now(self) -> int:
        """Return the wall-clock time in microseconds; several machines go by their server's."""
        return self.clock.now() if self.engine.dialect == "sqlite" else boots.server_now(self.engine)

    def steady(self) -> int:
        """Return a time that never jumps and that everybody who shares the store agrees on."""
        if self.engine.dialect == "postgres":
            return boots.server_now(self.engine)
        if not self.boot:
            return self.clock.now()  # a system that does not tell its boots apart has no better clock
        if self._ahead is None:
            self._ahead = boots.ahead(self.engine, self.boot, self.clock.now() - self.clock.steady())
        return self.clock.steady() + self._ahead

    def instant(self) -> Instant:
        """Return both times at once; read in this order, a holder is never promised too much."""
        now = self.now()
        return Instant(now=now, steady=now if self.engine.dialect == "postgres" else self.steady())

    def close(self) -> None:
        """Let go of the store."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
