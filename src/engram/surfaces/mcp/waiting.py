"""Cancel calls that wait, for example for a lock."""

from __future__ import annotations

from _thread import get_ident

from engram.clock import Clock
from engram.surfaces.errors import CallCancelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import Event


class CancellableClock(Clock):
    """A clock whose sleep ends early when the call is cancelled or the server stops."""

    def __init__(self) -> None:
        self.ending = False
        self._calls: dict[int, Event] = {}

    def register_call(self, cancelled: Event) -> None:
        """Cancel what this thread does from now on when an event is set."""
        self._calls[get_ident()] = cancelled

    def sleep(self, seconds: float) -> None:
        """Sleep; raise CallCancelled if the call is cancelled meanwhile."""
        cancelled = self._calls.get(get_ident())
        if cancelled is None:
            super().sleep(seconds)
        elif cancelled.wait(seconds) or self.ending:
            raise CallCancelled
