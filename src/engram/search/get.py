"""Get a hit in full, with its surroundings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engram.clock import to_datetime
from engram.errors import BodyGone, InvalidInput, NotFound
from engram.hub import Hub
from engram.platform import plain_json
from engram.platform.text import to_one_line, validate_name
from engram.store import cases, commits, episodes, events, exchanges, passages
from engram.summaries.exchanges import exchange_from_row
from engram.types import Around

if TYPE_CHECKING:
    from engram.store.engine import Row

_ID = re.compile(r"([xpec])([0-9]{1,18})")
_CHARACTERS = 6_000  # of what settled an episode


def get_hit(hub: Hub, hit_id: str, around: int) -> Around:
    """Return a hit in full, with the messages before and after it."""
    match = _ID.fullmatch(validate_name("id", hit_id))
    if match is None:
        raise InvalidInput(
            field="id",
            reason=f"{to_one_line(hit_id)!r} is not a hit id. Use one that recall shows, such as x12, p3, e77 or c5.",
        )
    if around < 0:
        raise InvalidInput(field="around", reason="Must be 0 or more.")
    return {"x": _get_exchange, "p": _get_passage, "e": _get_event, "c": _get_case}[match[1]](
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


def _get_case(hub: Hub, hit_id: str, number: int, around: int) -> Around:
    """Return an episode with its request and its last messages, or a commit with its message."""
    from engram.search.episode_text import list_settled
    from engram.search.resolution import load_resolutions

    case = _require_row(cases.fetch(hub.engine, [number]).get(number), hit_id)
    found = next((item for item in load_resolutions(hub, [number], _CHARACTERS) if item.case == number), None)
    row = next(iter(episodes.list_by_cases(hub.engine, [number])), None)
    if case["kind"] == "commit" or row is None:
        commit = _require_row(commits.get(hub.engine, case["project"], case["hash"] or ""), hit_id)
        return Around(
            id=hit_id, tier="commit", session_id=None, title=commit["subject"], exchanges=(),
            content=f"{commit['subject']}\n\n{commit['body']}".strip(), at=to_datetime(commit["at"]),
            source=f"commit {commit['hash'][:10]}",
        )  # fmt: skip
    said = exchanges.list_in_span(hub.engine, row["session_id"], row["started_at"] or 0, row["ended_at"] or 1 << 62)
    shown = said if len(said) <= 2 * around + 1 else [said[0], *said[len(said) - 2 * around :]]
    lines = [*(list_settled(found) if found else ()), plain_json.loads(row["facts"]).get("report") or ""]
    return Around(
        id=hit_id, tier="episode", session_id=row["session_id"], title=row["title"],
        content="\n".join(filter(None, lines)) or row["title"],
        exchanges=tuple(map(exchange_from_row, shown)), at=to_datetime(row["started_at"] or case["at"]),
        source=f"{row['flavor']}, {row['result']}",
    )  # fmt: skip


def _require_row(row: Row | None, hit_id: str) -> Row:
    if row is None:
        raise NotFound(kind="hit", id=hit_id, hint="It may have been deleted. Search again with `engram recall`.")
    return row
