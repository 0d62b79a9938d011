"""Read captured events back from their rows and bodies."""

from __future__ import annotations

from typing import Any

from engram.errors import BodyGone
from engram.hub import Hub
from engram.store import blobs
from engram.types import Event


class EventBodies:
    """Reads events; caches the last body, because neighboring events share it."""

    def __init__(self, hub: Hub) -> None:
        self._engine = hub.engine
        self._blobs = blobs.BlobStore(hub.engine, hub.settings)
        self._name, self._content = "", b""
        from orjson import loads  # late: commands that show no event do not need it

        self._loads = loads

    def load_event(self, row: dict[str, Any], session: str = "") -> Event:
        """Return the event of a row."""
        body = self._loads(self._read_body(row))
        return Event(
            session=session, key=body.get("key", ""), kind=row["kind"], role=row["role"], order=row["seq"],
            text=body.get("text", ""), at=row["at"], name=row["name"], call_id=body.get("call_id"),
            arguments=body.get("arguments"), verdict=row["verdict"], exit_code=row["exit_code"], data=body.get("data"),
            id=row["id"],
        )  # fmt: skip

    def _read_body(self, row: dict[str, Any]) -> bytes:
        if row["evicting_at"] is not None:
            raise BodyGone(name=row["sha256"])
        if row["sha256"] != self._name:
            self._name, self._content = row["sha256"], self._blobs.get(row["sha256"])
        return self._content[row["start"] : row["start"] + row["length"]]
