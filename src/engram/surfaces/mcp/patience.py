"""Calls that wait for something, and how they are told to give up."""

from __future__ import annotations

from _thread import get_ident

from engram.clock import Clock
from engram.errors import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import Event


class GivenUp(Error):
    """The call was called off before it was done."""

    code, status = "cancelled", 503


class Patience(Clock):
    """The machine's clocks; who sleeps in a call is woken when the call is called off, or when we end."""

    def __init__(self) -> None:
        self.ending = False
        self._calls: dict[int, Event] = {}

    def begin(self, called_off: Event) -> None:
        """Let what this thread does from now on be called off by an event."""
        self._calls[get_ident()] = called_off

    def sleep(self, seconds: float) -> None:
        """Let others go first, for as long as somebody still wants the answer."""
        called_off = self._calls.get(get_ident())
        if called_off is None:
            super().sleep(seconds)
        elif called_off.wait(seconds) or self.ending:
            raise GivenUp
