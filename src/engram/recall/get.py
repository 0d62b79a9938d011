"""Get what a hit points at, with its surroundings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engram.clock import moment
from engram.errors import BodyGone, InvalidInput, NotFound
from engram.hub import Hub
from engram.memory.exchanges import view
from engram.model import Around
from engram.store import events, exchanges, passages
from engram.text import name, one_line

if TYPE_CHECKING:
    from engram.store.engine import Row

_ID = re.compile(r"([xpe])([0-9]{1,18})")


def found(hub: Hub, called: str, around: int) -> Around:
    """Return what recall found, whole, with what was said before and after it."""
    known = _ID.fullmatch(name("id", called))
    if known is None:
        raise InvalidInput(field="id", reason=f"{one_line(called)!r} is none; recall shows them: x12, p3, e77.")
    if around < 0:
        raise InvalidInput(field="around", reason="it is below 0.")
    return {"x": _exchange, "p": _passage, "e": _event}[known[1]](hub, called, int(known[2]), min(around, 1000))


def _exchange(hub: Hub, called: str, number: int, around: int) -> Around:
    row = _there(exchanges.by_id(hub.engine, [number]).get(number), called)
    return Around(
        id=called, tier="exchange", session_id=row["session_id"], title=row["summary"], content=row["content"],
        exchanges=tuple(view(each) for each in exchanges.around(hub.engine, row, around, around)),
        at=moment(row["at"]), source=f"{row['flavor']}, {row['role']}",
    )  # fmt: skip


def _passage(hub: Hub, called: str, number: int, around: int) -> Around:
    row = _there(passages.by_id(hub.engine, [number]).get(number), called)
    said = exchanges.of_session(hub.engine, row["session_id"], 2 * around, newest=True) if row["session_id"] else []
    return Around(
        id=called, tier=row["kind"], session_id=row["session_id"], title=row["key"], content=row["content"],
        exchanges=tuple(view(each) for each in said), at=moment(row["at"]), source=row["kind"],
    )  # fmt: skip


def _event(hub: Hub, called: str, number: int, around: int) -> Around:
    from engram.digests.bodies import Bodies

    row = _there(next(iter(events.by_id(hub.engine, [number])), None), called)
    try:
        event = Bodies(hub).event(row)
        content = event.text or str(event.arguments or "")
    except BodyGone:
        content = "(its body was dropped to keep the storage budget)"
    last = {"session_id": row["session_id"], "at": row["at"] or 0, "id": 0}
    return Around(
        id=called, tier="event", session_id=row["session_id"], title=row["summary"], content=content,
        exchanges=tuple(view(each) for each in exchanges.around(hub.engine, last, around, around - 1)),
        at=moment(row["at"]) if row["at"] else None, source=f"{row['flavor']}, {row['name'] or row['kind']}",
    )  # fmt: skip


def _there(row: Row | None, called: str) -> Row:
    if row is None:
        raise NotFound(kind="hit", id=called, hint="It was deleted, or never was; ask again with `engram recall`.")
    return row
