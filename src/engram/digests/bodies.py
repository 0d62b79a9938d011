"""Events as they were captured, read back from their rows and bodies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engram.errors import BodyGone
from engram.hub import Hub
from engram.model import Event
from engram.store import blobs, events


class Bodies:
    """Reads events back; the last body stays at hand, for neighbours lie in the same one."""

    def __init__(self, hub: Hub) -> None:
        self._engine = hub.engine
        self._blobs = blobs.Blobs(hub.engine, hub.settings)
        self._name, self._content = "", b""
        from orjson import loads  # not for commands that show no event

        self._loads = loads

    def of_capture(self, capture: int, session: str = "") -> Iterator[Event]:
        """Yield a session's events in order; one whose body is dropped raises BodyGone."""
        for row in events.of_capture(self._engine, capture):
            yield self.event(row, session)

    def event(self, row: dict[str, Any], session: str = "") -> Event:
        """Return the event of a row."""
        body = self._loads(self._body(row))
        return Event(
            session=session, key=body.get("key", ""), kind=row["kind"], role=row["role"], order=row["seq"],
            text=body.get("text", ""), at=row["at"], name=row["name"], call_id=body.get("call_id"),
            arguments=body.get("arguments"), verdict=row["verdict"], exit_code=row["exit_code"], data=body.get("data"),
            id=row["id"],
        )  # fmt: skip

    def _body(self, row: dict[str, Any]) -> bytes:
        if row["evicting_at"] is not None:
            raise BodyGone(name=row["sha256"])
        if row["sha256"] != self._name:
            self._name, self._content = row["sha256"], self._blobs.get(row["sha256"])
        return self._content[row["start"] : row["start"] + row["length"]]
