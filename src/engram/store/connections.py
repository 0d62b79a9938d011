"""Connections: one per thread and process."""

from __future__ import annotations

import os
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class ThreadConnections:
    """Gives every thread its own connection, never shared across a fork."""

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect = connect
        self._pid = os.getpid()
        self._connections: dict[int, Any] = {}

    def get(self) -> Any:
        """Return this thread's connection, opened if needed."""
        if os.getpid() != self._pid:
            # Closing an inherited connection, or garbage-collecting it, would break the parent's.
            _inherited.append(self._connections)
            self._connections, self._pid = {}, os.getpid()
        connection = self._connections.get(get_ident())
        if connection is None or connection.closed:
            connection = self._connections[get_ident()] = self._connect()
        return connection

    def close(self) -> None:
        """Close every connection of this process."""
        if os.getpid() == self._pid:
            while self._connections:  # a running thread may open one meanwhile
                self._connections.popitem()[1].close()


_inherited: list[object] = []
