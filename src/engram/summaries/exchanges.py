"""Exchanges: store messages, and return them in order."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated, Any

from engram.clock import to_datetime
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform.text import PAGE, require_text, to_one_line, validate_name, validate_optional_name
from engram.redaction.store_redactor import remove_secrets_from_name
from engram.sessions import lifecycle
from engram.store import exchanges
from engram.store import sessions as session_store
from engram.types import Exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

NOTES_SESSION = "notes"  # session of the notes that belong to no other
_FLAVOR = "chat"  # agent name of sessions that only remember
_ORIGINS = ("user", "assistant", "tool", "import")  # trust levels of a message


@operation(writes=True)
def remember(
    hub: Hub,
    session_id: Annotated[str, Help("session of the message; created if new")],
    role: Annotated[str, Help("author: user, assistant, tool …")],
    content: Annotated[str, Help("text of the message")],
    origin: Annotated[str | None, Help("origin: user, assistant, tool or import; defaults to the role")] = None,
) -> int:  # fmt: skip
    """Store one message and return its number; it is searchable immediately and embedded later.

    A note that is already in the session `notes` is not stored again; in a conversation, people repeat themselves.
    """
    text = require_text("content", content, "Give some text.", PAGE)
    row = _build_row(hub, _find_own_id(hub, session_id), role, _get_redactor(hub)(text), hub.now(), origin)
    with hub.engine.transaction(durable=True):
        _ensure_chat_session(hub, row["session_id"], None, row["at"])
        known = find_message(hub, row["session_id"], row["content"]) if row["session_id"] == NOTES_SESSION else None
        stored = known or exchanges.add(hub.engine, **row)
    return int(stored or 0)


def find_message(hub: Hub, session_id: str, content: str) -> int | None:
    """Return the newest message of a session with exactly this text."""
    rows = exchanges.list_by_session(hub.engine, session_id, newest=True)
    return next((row["id"] for row in reversed(rows) if row["content"] == content), None)


@operation(writes=True)
def add_exchanges_bulk(
    hub: Hub,
    session_id: Annotated[str, Help("session of the messages; created if new")],
    rows: Annotated[list[dict[str, Any]], Help("messages, each with role, content, and its time as at or created_at")],
) -> int:
    """Store many messages in one transaction, each only once; return how many are new.

    Empty messages are skipped.
    """
    redact, seen, session_id = _get_redactor(hub), dict[tuple[Any, ...], int](), _find_own_id(hub, session_id)
    prepared = [
        _build_imported_row(hub, session_id, row, redact, seen) for row in _require_rows(rows) if _has_content(row)
    ]
    if not prepared:
        return 0
    with hub.engine.transaction(durable=True):
        first = min(row["at"] for row in prepared)
        session_store.backdate_start(
            hub.engine, _ensure_chat_session(hub, prepared[0]["session_id"], None, first), first
        )
        return sum(exchanges.add(hub.engine, **row) is not None for row in prepared)


@operation()
def recent(
    hub: Hub,
    session: Annotated[str, Help("session id")],
    n: Annotated[int, Help("number of messages")] = 10,
) -> list[Exchange]:
    """Show the last messages of a session, oldest first."""
    rows = exchanges.list_by_session(
        hub.engine, _resolve_session(hub, session), lifecycle.require_positive("n", n), newest=True
    )
    return [exchange_from_row(row) for row in rows]


@operation()
def history(hub: Hub, session: Annotated[str, Help("session id")]) -> list[Exchange]:
    """Show a whole conversation, oldest first."""
    return [exchange_from_row(row) for row in exchanges.list_by_session(hub.engine, _resolve_session(hub, session))]


@operation(writes=True)
def ensure_session(
    hub: Hub,
    session: Annotated[str, Help("session id")],
    title: Annotated[str | None, Help("new name; unchanged if omitted")] = None,
) -> str:
    """Create a session for remembering if it does not exist, and name it if a name is given."""
    with hub.engine.transaction(durable=True):
        return _ensure_chat_session(hub, _find_own_id(hub, validate_name("session", session)), title, hub.now())


def exchange_from_row(row: dict[str, Any], score: float | None = None) -> Exchange:
    """Convert a stored row to an Exchange."""
    return Exchange(
        id=row["id"], session_id=row["session_id"], role=row["role"], content=row["content"],
        created_at=to_datetime(row["at"]), origin=row["origin"], score=score,
    )  # fmt: skip


def _ensure_chat_session(hub: Hub, session_id: str, title: str | None, now: int) -> str:
    clean_title = to_one_line(require_text("title", title, "Give a name."), 200) if title else None
    facts = {
        "id": session_id, "flavor": _FLAVOR, "session_type": _FLAVOR, "summary": clean_title or "",
        "status": "completed", "project": "", "started_at": now, "last_heartbeat": now, "completed_at": now,
    }  # fmt: skip
    # On PostgreSQL, another process may delete the session until its row is locked.
    while not (session_store.insert(hub.engine, **facts) or session_store.filter_existing(hub.engine, [session_id])):
        pass
    if clean_title:
        session_store.set_summary(hub.engine, session_id, clean_title)
    return session_id


def _resolve_session(hub: Hub, session: str) -> str:
    """Return the id of a session given by id or prefix."""
    return lifecycle.get_session(hub, validate_name("session", session)).id


def _find_own_id(hub: Hub, session_id: str) -> str:
    """Return our id of a session named by its agent; a new one keeps the given id."""
    session = lifecycle.find_session(hub, session_id)
    return str(session["id"]) if session else session_id


def _build_row(hub: Hub, session_id: str, role: str, content: str, at: int, origin: str | None) -> dict[str, Any]:
    speaker = to_one_line(remove_secrets_from_name(hub, validate_name("role", role)), 40)
    trust = validate_optional_name("origin", origin) or (speaker if speaker in _ORIGINS else "tool")
    if trust not in _ORIGINS:
        raise InvalidInput(field="origin", reason=f"Unknown value {trust!r}. Choose one of: {', '.join(_ORIGINS)}.")
    return {
        "session_id": validate_name("session_id", session_id), "role": speaker, "content": content, "at": at,
        "stored_at": hub.now(), "origin": trust, "key": None, "event": None,
    }  # fmt: skip


def _require_rows(rows: Any) -> Sequence[dict[str, Any]]:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidInput(field="rows", reason="Expected a list of objects with role, content and at.")
    return rows


def _has_content(row: dict[str, Any]) -> bool:
    """Check whether a message has content: real conversations contain empty ones."""
    content = row.get("content")
    return not isinstance(content, str) or bool(content.strip())


def _build_imported_row(
    hub: Hub, session_id: str, row: dict[str, Any], redact: Callable[[str], str], seen: dict[tuple[Any, ...], int]
) -> dict[str, Any]:  # fmt: skip
    content = redact(require_text("content", row.get("content"), "Give some text.", PAGE))
    at = _parse_time(row.get("at", row.get("created_at")))
    exchange = _build_row(hub, session_id, row.get("role", ""), content, at, row.get("origin"))
    identity = (exchange["session_id"], exchange["role"], at, content)
    seen[identity] = occurrence = seen.get(identity, -1) + 1  # the same text may occur twice at the same time
    return exchange | {"key": compute_key(*identity, occurrence)}


def compute_key(*facts: Any) -> int:
    """Return the number that identifies an imported exchange."""
    return int.from_bytes(blake2b(repr(facts).encode(), digest_size=8).digest(), "little", signed=True)


def _parse_time(at: datetime | str | int | None) -> int:
    """Parse a time for storing; without a zone it is UTC."""
    from datetime import datetime, timezone

    try:
        parsed = datetime.fromisoformat(at) if isinstance(at, str) else at
        if isinstance(parsed, datetime):
            aware = parsed if parsed.tzinfo else parsed.replace(tzinfo=timezone.utc)
            parsed = round(aware.timestamp() * 1_000_000)
        if isinstance(parsed, int) and not isinstance(parsed, bool):
            to_datetime(parsed)  # a time that cannot be shown is not stored
            return parsed
    except (ValueError, OverflowError) as problem:
        raise InvalidInput(
            field="at", reason=f"Cannot read {at!r} as a time. Try 2026-11-01T12:00:00+00:00."
        ) from problem
    raise InvalidInput(field="at", reason="Give a date and time such as 2026-11-01T12:00:00+00:00.")


def _get_redactor(hub: Hub) -> Callable[[str], str]:
    """Return the redactor that removes secrets before a text is stored."""
    from engram.redaction.store_redactor import load_hub_redactor

    return load_hub_redactor(hub).redact
