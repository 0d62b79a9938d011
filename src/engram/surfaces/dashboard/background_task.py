"""A background task for work that takes longer than a page request."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any

from engram.api import Engram
from engram.errors import Error
from engram.surfaces.dashboard import template_filters
from engram.surfaces.errors import InternalError

_log = logging.getLogger("engram.serve")


class BackgroundTask:
    """A task that runs at most once at a time and keeps its last result."""

    def __init__(self, work: Callable[[Engram], Any]) -> None:
        self._work = work
        self._lock = threading.Lock()
        self.began_at: datetime | None = None
        self.ended_at: datetime | None = None
        self.result: Any = None
        self.problem: Error | None = None

    @property
    def is_under_way(self) -> bool:
        """Return whether the task is running."""
        return self._lock.locked()

    def start(self, engram: Engram) -> None:
        """Start the task unless it is running."""
        if self._lock.acquire(blocking=False):
            self.began_at, self.ended_at, self.result, self.problem = (
                template_filters.current_time(engram),
                None,
                None,
                None,
            )
            # A daemon thread, so that a stopping server does not wait for it.
            threading.Thread(target=self._run, args=(engram,), daemon=True).start()

    def _run(self, engram: Engram) -> None:
        try:
            self.result = self._work(engram)
        except Error as error:
            self.problem = error
        except Exception:
            _log.exception("Background task failed")
            self.problem = InternalError()
        finally:
            self._finish(engram)

    def _finish(self, engram: Engram) -> None:
        try:
            self.ended_at = template_filters.current_time(engram)
        except Error:  # the store became unavailable
            self.ended_at = self.began_at
        self._lock.release()
