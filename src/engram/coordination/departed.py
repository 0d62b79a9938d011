"""Sessions that left without a word: killed, crashed, or gone with their machine's last boot."""

from __future__ import annotations

from engram import host
from engram.coordination import sessions
from engram.errors import Fenced
from engram.store import sessions as store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub

_MANY = 10_000


def finish(hub: Hub) -> list[str]:
    """Complete the sessions of this machine whose process has ended, and return them."""
    gone = []
    for row in store.active(hub.engine, -1, None, _MANY):
        process = sessions.process_of(row)
        if process is not None and process.host == host.name() and host.alive(process) is False:
            leave(hub, row["id"], "its process is gone")
            gone.append(row["id"])
    return gone


def leave(hub: Hub, session_id: str, reason: str) -> None:
    """Complete a session in its own absence."""
    row = sessions.require(hub, session_id)
    if row["status"] == "completed":
        return
    said = f"Ended ({reason}). Last on: {row['summary']}"
    try:
        sessions.complete(hub, session_id, said)
    except Fenced:  # it lost a lock and nobody is left to be told: the refusal was the telling
        sessions.complete(hub, session_id, said)
