"""Which session calls: known from the environment or a header, never asked of the model."""

from __future__ import annotations

import os
from _thread import allocate_lock

from engram import host, text
from engram.coordination import callers, projects, sessions
from engram.errors import InvalidInput, NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.surfaces.mcp.caller import Caller

_CODEX = "x-codex-turn-metadata"  # Codex says its session with every call
_announcing = allocate_lock()


def find(hub: Hub, caller: Caller) -> str | None:
    """Return the session that calls, if it is known."""
    if not caller.local:
        return str(sessions.require(hub, caller.named)["id"]) if caller.named else None
    found = callers.find(hub, caller.environ, _told(caller))
    if found or callers.native_id(caller.environ, None, _told(caller)):
        return found
    return _chosen(hub, caller)


def need(hub: Hub, caller: Caller) -> str:
    """Return the session that calls, announced if nobody has done so yet."""
    with _announcing:  # two calls at once are one session
        found = find(hub, caller)
        if found is None and not caller.local:
            reason = "name yours in the header Engram-Session; POST /api/register makes one."
            raise InvalidInput(field="session", reason=reason)
        return found or _announce(hub, caller)


def project_of(hub: Hub, caller: Caller, session_id: str | None) -> str | None:
    """Return the project worked in: the session's, else that of the directory."""
    if session_id is not None:
        return str(sessions.require(hub, session_id)["project"]) or None
    directory = _directory(caller)
    return projects.place(directory).project or None if directory else None


def project_at(hub: Hub, caller: Caller, given: str | None) -> str | None:
    """Return the project a directory lies in that somebody names; a relative one starts where the session works."""
    if not given:
        return None
    found = find(hub, caller)
    start = sessions.require(hub, found)["cwd"] if found else _directory(caller)
    path = os.path.expanduser(text.name("project", given))
    if not start and not os.path.isabs(path):
        raise InvalidInput(field="project", reason="it is relative, and no session says to what.")
    place = os.path.join(start or "", path)
    return projects.project_of(place) if os.path.isdir(place) else given  # a team may give projects names of their own


def _told(caller: Caller) -> dict[str, object]:
    """Return the native ids that came with a call, by flavor."""
    carried = caller.meta.get(_CODEX)
    return {"codex": carried.get("session_id")} if isinstance(carried, dict) else {}


def _chosen(hub: Hub, caller: Caller) -> str | None:
    """Return the session a person chose for everything started here."""
    named = caller.environ.get("ENGRAM_SESSION")
    try:
        return sessions.get_session(hub, named).id if named else None
    except NotFound:
        return None


def _announce(hub: Hub, caller: Caller) -> str:
    kind = text.one_line(caller.client, 40) or "mcp"
    return callers.announce(hub, caller.environ, _directory(caller), kind, _told(caller))


def _directory(caller: Caller) -> str | None:
    if not caller.local:
        return None
    given = caller.environ.get("CLAUDE_PROJECT_DIR")
    return given if given and os.path.isdir(given) else host.directory()
