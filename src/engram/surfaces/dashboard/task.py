"""A task that takes longer than a page waits: it goes on by itself, never twice at once, and says how it ended."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any

from engram.api import Engram
from engram.errors import Error
from engram.surfaces.dashboard import words
from engram.surfaces.http.answer import Unexpected

_log = logging.getLogger("engram.serve")


class Task:
    """One kind of work over a store, and what came of it last."""

    def __init__(self, work: Callable[[Engram], Any]) -> None:
        self._work = work
        self._alone = threading.Lock()
        self.began_at: datetime | None = None
        self.ended_at: datetime | None = None
        self.result: Any = None
        self.problem: Error | None = None

    @property
    def is_under_way(self) -> bool:
        """Tell whether it goes on just now."""
        return self._alone.locked()

    def begin(self, engram: Engram) -> None:
        """Begin, unless it is under way."""
        if self._alone.acquire(blocking=False):
            self.began_at, self.ended_at, self.result, self.problem = words.now(engram), None, None, None
            # A daemon: a server that stops does not wait for it.
            threading.Thread(target=self._run, args=(engram,), daemon=True).start()

    def _run(self, engram: Engram) -> None:
        try:
            self.result = self._work(engram)
        except Error as problem:
            self.problem = problem
        except Exception:
            _log.exception("a task failed")
            self.problem = Unexpected()
        finally:
            self._end(engram)

    def _end(self, engram: Engram) -> None:
        try:
            self.ended_at = words.now(engram)
        except Error:  # a store that went away meanwhile
            self.ended_at = self.began_at
        self._alone.release()
