"""Exchanges: remember what is said, and give it back in the order it was said."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated, Any

from engram.clock import moment
from engram.coordination import sessions
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.model import Exchange
from engram.operation import Help, operation
from engram.redaction.removal import remove_from_name
from engram.store import exchanges
from engram.store import sessions as session_store
from engram.text import PAGE, name, name_or_none, one_line, required

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

_FLAVOR = "chat"  # of sessions that only remember
_ORIGINS = ("user", "assistant", "tool", "import")  # how far it can be trusted


@operation(writes=True)
def remember(
    hub: Hub,
    session_id: Annotated[str, Help("the session it was said in; made if it is new")],
    role: Annotated[str, Help("who said it: user, assistant, tool …")],
    content: Annotated[str, Help("what was said")],
    origin: Annotated[str | None, Help("where it comes from: user, assistant, tool, import; else its role")] = None,
) -> int:  # fmt: skip
    """Keep one message for good, and return its number; it is found at once and embedded later."""
    said = required("content", content, "Say something.", PAGE)
    row = _row(hub, _own(hub, session_id), role, _redacted(hub)(said), hub.now(), origin)
    with hub.engine.transaction(durable=True):
        _ensure(hub, row["session_id"], None, row["at"])
        stored = exchanges.add(hub.engine, **row)
    return int(stored or 0)


@operation(writes=True)
def add_exchanges_bulk(
    hub: Hub,
    session_id: Annotated[str, Help("the session they were said in; made if it is new")],
    rows: Annotated[list[dict[str, Any]], Help("each with role, content, and at or created_at: when it was said")],
) -> int:
    """Keep many messages at once, all or none, each only once however often they come; return how many are new.

    Empty ones are passed over.
    """
    redact, seen, session_id = _redacted(hub), dict[tuple[Any, ...], int](), _own(hub, session_id)
    prepared = [_imported(hub, session_id, row, redact, seen) for row in _sized(rows) if _says_something(row)]
    if not prepared:
        return 0
    with hub.engine.transaction(durable=True):
        first = min(row["at"] for row in prepared)
        session_store.backdate(hub.engine, _ensure(hub, prepared[0]["session_id"], None, first), first)
        return sum(exchanges.add(hub.engine, **row) is not None for row in prepared)


@operation()
def recent(
    hub: Hub,
    session: Annotated[str, Help("the session")],
    n: Annotated[int, Help("how many")] = 10,
) -> list[Exchange]:
    """Show the last messages of a session, oldest first."""
    rows = exchanges.of_session(hub.engine, _known(hub, session), sessions.positive("n", n), newest=True)
    return [view(row) for row in rows]


@operation()
def history(hub: Hub, session: Annotated[str, Help("the session")]) -> list[Exchange]:
    """Show a whole conversation, oldest first."""
    return [view(row) for row in exchanges.of_session(hub.engine, _known(hub, session))]


@operation(writes=True)
def ensure_session(
    hub: Hub,
    session: Annotated[str, Help("its id")],
    title: Annotated[str | None, Help("what to call it; left out, it keeps its name")] = None,
) -> str:
    """Make a session that remembers, if it is not there; name it, if a name is given."""
    with hub.engine.transaction(durable=True):
        return _ensure(hub, _own(hub, name("session", session)), title, hub.now())


def view(row: dict[str, Any], score: float | None = None) -> Exchange:
    """Return an exchange as people see it."""
    return Exchange(
        id=row["id"], session_id=row["session_id"], role=row["role"], content=row["content"],
        created_at=moment(row["at"]), origin=row["origin"], score=score,
    )  # fmt: skip


def _ensure(hub: Hub, session_id: str, title: str | None, now: int) -> str:
    called = one_line(required("title", title, "Give a name."), 200) if title else None
    session_store.insert(
        hub.engine, id=session_id, flavor=_FLAVOR, session_type=_FLAVOR, summary=called or "", status="completed",
        project="", started_at=now, last_heartbeat=now, completed_at=now,
    )  # fmt: skip
    if called:
        session_store.rename(hub.engine, session_id, called)
    return session_id


def _known(hub: Hub, session: str) -> str:
    """Return the id of a session, by it or by its beginning."""
    return sessions.get_session(hub, name("session", session)).id


def _own(hub: Hub, session_id: str) -> str:
    """Return our id of a session its agent names; a new one keeps the id it is given."""
    found = sessions.known(hub, session_id)
    return str(found["id"]) if found else session_id


def _row(hub: Hub, session_id: str, role: str, content: str, at: int, origin: str | None) -> dict[str, Any]:
    said_by = one_line(remove_from_name(hub, name("role", role)), 40)
    trusted = name_or_none("origin", origin) or (said_by if said_by in _ORIGINS else "tool")
    if trusted not in _ORIGINS:
        raise InvalidInput(field="origin", reason=f"{trusted!r} is none; there are {', '.join(_ORIGINS)}.")
    return {
        "session_id": name("session_id", session_id), "role": said_by, "content": content, "at": at,
        "stored_at": hub.now(), "origin": trusted, "key": None, "event": None,
    }  # fmt: skip


def _sized(rows: Any) -> Sequence[dict[str, Any]]:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidInput(field="rows", reason="expected a list of objects with role, content and at.")
    return rows


def _says_something(row: dict[str, Any]) -> bool:
    """Tell whether a message is worth keeping: real conversations hold empty ones."""
    content = row.get("content")
    return not isinstance(content, str) or bool(content.strip())


def _imported(
    hub: Hub, session_id: str, row: dict[str, Any], redact: Callable[[str], str], seen: dict[tuple[Any, ...], int]
) -> dict[str, Any]:  # fmt: skip
    content = redact(required("content", row.get("content"), "Say something.", PAGE))
    at = _microseconds(row.get("at", row.get("created_at")))
    made = _row(hub, session_id, row.get("role", ""), content, at, row.get("origin"))
    facts = (made["session_id"], made["role"], at, content)
    seen[facts] = nth = seen.get(facts, -1) + 1  # the same word may be said twice at one time
    return made | {"key": key_of(*facts, nth)}


def key_of(*facts: Any) -> int:
    """Return the number by which an imported exchange is known again."""
    return int.from_bytes(blake2b(repr(facts).encode(), digest_size=8).digest(), "little", signed=True)


def _microseconds(at: datetime | str | int | None) -> int:
    """Return a time as it is stored; one without a zone is UTC."""
    from datetime import datetime, timezone

    try:
        found = datetime.fromisoformat(at) if isinstance(at, str) else at
        if isinstance(found, datetime):
            aware = found if found.tzinfo else found.replace(tzinfo=timezone.utc)
            found = round(aware.timestamp() * 1_000_000)
        if isinstance(found, int) and not isinstance(found, bool):
            moment(found)  # what cannot be shown is not stored
            return found
    except (ValueError, OverflowError) as problem:
        raise InvalidInput(field="at", reason=f"{at!r} is no time.") from problem
    raise InvalidInput(field="at", reason="say when it was said: a date and time like 2026-11-01T12:00:00+00:00.")


def _redacted(hub: Hub) -> Callable[[str], str]:
    """Return what takes secrets out of a text before it is written."""
    from engram.redaction.removal import redactor

    return redactor(hub).clean
