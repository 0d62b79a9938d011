"""Get a hit in full, with its surroundings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engram.clock import to_datetime
from engram.errors import BodyGone, InvalidInput, NotFound
from engram.hub import Hub
from engram.platform.text import to_one_line, validate_name
from engram.store import events, exchanges, passages
from engram.summaries.exchanges import exchange_from_row
from engram.types import Around

if TYPE_CHECKING:
    from engram.store.engine import Row

_ID = re.compile(r"([xpe])([0-9]{1,18})")


def get_hit(hub: Hub, hit_id: str, around: int) -> Around:
    """Return a hit in full, with the messages before and after it."""
    match = _ID.fullmatch(validate_name("id", hit_id))
    if match is None:
        raise InvalidInput(
            field="id",
            reason=f"{to_one_line(hit_id)!r} is not a hit id. Use one that recall shows, such as x12, p3 or e77.",
        )
    if around < 0:
        raise InvalidInput(field="around", reason="Must be 0 or more.")
    return {"x": _get_exchange, "p": _get_passage, "e": _get_event}[match[1]](
        hub, hit_id, int(match[2]), min(around, 1000)
    )


def _get_exchange(hub: Hub, hit_id: str, number: int, around: int) -> Around:
    row = _require_row(exchanges.fetch_by_ids(hub.engine, [number]).get(number), hit_id)
    return Around(
        id=hit_id,
        tier="exchange",
        session_id=row["session_id"],
        title=row["summary"],
        content=row["content"],
        exchanges=tuple(
            exchange_from_row(exchange_row) for exchange_row in exchanges.list_around(hub.engine, row, around, around)
        ),
        at=to_datetime(row["at"]),
        source=f"{row['flavor']}, {row['role']}",
    )


def _get_passage(hub: Hub, hit_id: str, number: int, around: int) -> Around:
    row = _require_row(passages.fetch_by_ids(hub.engine, [number]).get(number), hit_id)
    exchange_rows = (
        exchanges.list_by_session(hub.engine, row["session_id"], 2 * around, newest=True) if row["session_id"] else []
    )
    return Around(
        id=hit_id,
        tier=row["kind"],
        session_id=row["session_id"],
        title=row["key"],
        content=row["content"],
        exchanges=tuple(exchange_from_row(exchange_row) for exchange_row in exchange_rows),
        at=to_datetime(row["at"]),
        source=row["kind"],
    )


def _get_event(hub: Hub, hit_id: str, number: int, around: int) -> Around:
    from engram.capture.digests.event_bodies import EventBodies

    row = _require_row(next(iter(events.fetch_by_ids(hub.engine, [number])), None), hit_id)
    try:
        event = EventBodies(hub).load_event(row)
        content = event.text or str(event.arguments or "")
    except BodyGone:
        content = "(the content was deleted to stay within the storage budget)"
    last = {"session_id": row["session_id"], "at": row["at"] or 0, "id": 0}
    return Around(
        id=hit_id,
        tier="event",
        session_id=row["session_id"],
        title=row["summary"],
        content=content,
        exchanges=tuple(
            exchange_from_row(exchange_row)
            for exchange_row in exchanges.list_around(hub.engine, last, around, around - 1)
        ),
        at=to_datetime(row["at"]) if row["at"] else None,
        source=f"{row['flavor']}, {row['name'] or row['kind']}",
    )


def _require_row(row: Row | None, hit_id: str) -> Row:
    if row is None:
        raise NotFound(kind="hit", id=hit_id, hint="It may have been deleted. Search again with `engram recall`.")
    return row
