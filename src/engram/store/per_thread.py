"""Connections, one for each thread of each process."""

from __future__ import annotations

import os
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class PerThread:
    """Hands every thread its own connection, and never one across a fork."""

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect = connect
        self._pid = os.getpid()
        self._connections: dict[int, Any] = {}

    def get(self) -> Any:
        """Return this thread's connection, opening it if need be."""
        if os.getpid() != self._pid:
            # Closing an inherited connection, or letting it be collected, would harm the parent's.
            _inherited.append(self._connections)
            self._connections, self._pid = {}, os.getpid()
        found = self._connections.get(get_ident())
        if found is None or found.closed:
            found = self._connections[get_ident()] = self._connect()
        return found

    def close(self) -> None:
        """Let go of every connection of this process."""
        if os.getpid() == self._pid:
            while self._connections:  # a thread that still works may open one meanwhile
                self._connections.popitem()[1].close()


_inherited: list[object] = []
