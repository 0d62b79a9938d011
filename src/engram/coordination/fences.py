"""The gate every write passes: a holder that lost its lock unawares is stopped before it does harm."""

from __future__ import annotations

from engram import text
from engram.errors import Fenced
from engram.store import locks, messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub


def stop_if_lost(hub: Hub, session_id: str | None) -> None:
    """Refuse once, with the reason, when a session was not yet told that it lost a lock.

    Telling is the refusal itself: the next call passes, because now the session knows.
    """
    if session_id is None or not messages.losses(hub.engine, text.name("session_id", session_id)):
        return
    with hub.engine.transaction():
        lost = messages.losses(hub.engine, session_id)
        told = messages.deliver(hub.engine, [row["id"] for row in lost], hub.now())
    if told:
        reason = " ".join(row["body"] for row in lost if row["id"] in told)
        raise Fenced(reason=reason, session_id=session_id)


def require(hub: Hub, session_id: str | None, token: int | None) -> None:
    """Refuse, inside the writing transaction, what relies on a lock that is no longer the session's."""
    lost = messages.losses(hub.engine, session_id) if session_id else []
    if lost:  # between the first look and this transaction
        raise Fenced(reason=" ".join(row["body"] for row in lost), session_id=session_id)
    if token is None:
        return
    held = locks.of_session(hub.engine, session_id) if session_id else []
    if token not in {row["token"] for row in held}:
        raise Fenced(reason=f"Token {token} is not a lock {session_id} holds now.", session_id=session_id)
