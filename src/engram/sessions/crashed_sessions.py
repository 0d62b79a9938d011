"""Sessions that ended without completing: killed, crashed, or lost in a reboot."""

from __future__ import annotations

from engram.errors import Fenced
from engram.platform import host
from engram.sessions import lifecycle
from engram.store import sessions as store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub

_MANY = 10_000


def complete_crashed_sessions(hub: Hub) -> list[str]:
    """Complete the sessions of this machine whose process has ended, and return their ids."""
    completed = []
    for row in store.list_active(hub.engine, -1, None, _MANY):
        process = lifecycle.process_from_row(row)
        if process is not None and process.host == host.get_host_name() and host.is_alive(process) is False:
            end_session(hub, row["id"], "its process is gone")
            completed.append(row["id"])
    return completed


def end_session(hub: Hub, session_id: str, reason: str) -> None:
    """Complete a session on its behalf."""
    row = lifecycle.require_session(hub, session_id)
    if row["status"] == "completed":
        return
    summary = f"Ended ({reason}). Last summary: {row['summary']}"
    try:
        lifecycle.complete(hub, session_id, summary)
    except Fenced:  # reports a lost lock once; nobody is left to read it, so try again
        lifecycle.complete(hub, session_id, summary)
