"""Find the calling session from the environment or a header; the model never passes it."""

from __future__ import annotations

import os
from _thread import allocate_lock

from engram.agents.registry import list_agents
from engram.errors import InvalidInput, NotFound
from engram.platform import host, text
from engram.sessions import caller as callers
from engram.sessions import checkouts, lifecycle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.surfaces.mcp.caller import Caller

_announce_lock = allocate_lock()


def find_session(hub: Hub, caller: Caller) -> str | None:
    """Return the id of the calling session, or None if it is unknown."""
    if not caller.is_local:
        return str(lifecycle.require_session(hub, caller.header_session)["id"]) if caller.header_session else None
    session_id = callers.find_caller(hub, caller.environ, _read_native_ids(caller))
    if session_id or callers.find_native_id(caller.environ, None, _read_native_ids(caller)):
        return session_id
    return _find_chosen_session(hub, caller)


def require_session(hub: Hub, caller: Caller) -> str:
    """Return the id of the calling session; register one if it is unknown."""
    with _announce_lock:  # parallel calls must not register two sessions
        session_id = find_session(hub, caller)
        if session_id is None and not caller.is_local:
            reason = "no session given. Send its id in the header Engram-Session; POST /api/register creates one."
            raise InvalidInput(field="session", reason=reason)
        return session_id or _announce_session(hub, caller)


def find_project(hub: Hub, caller: Caller, session_id: str | None) -> str | None:
    """Return the project of the session, or of the working directory."""
    if session_id is not None:
        return str(lifecycle.require_session(hub, session_id)["project"]) or None
    directory = _find_directory(caller)
    return checkouts.find_git_project(hub, directory) or None if directory else None


def resolve_project(hub: Hub, caller: Caller, directory_name: str | None) -> str | None:
    """Return the project that contains a directory; relative paths start in the session's directory."""
    if not directory_name:
        return None
    session_id = find_session(hub, caller)
    start = lifecycle.require_session(hub, session_id)["cwd"] if session_id else _find_directory(caller)
    path = os.path.expanduser(text.validate_name("project", directory_name))
    if not start and not os.path.isabs(path):
        raise InvalidInput(field="project", reason="a relative path needs a session. Pass an absolute path.")
    directory = os.path.join(start or "", path)
    # A team may name projects, so what is not a directory is passed on as it is.
    return checkouts.find_project(hub, directory) if os.path.isdir(directory) else directory_name


def _read_native_ids(caller: Caller) -> dict[str, object]:
    """Return the agents' own session ids from a call's `_meta`, by agent."""
    fields = {agent.name: caller.meta.get(agent.server_session_field) for agent in list_agents()}
    return {name: field.get("session_id") for name, field in fields.items() if isinstance(field, dict)}


def _find_chosen_session(hub: Hub, caller: Caller) -> str | None:
    """Return the session that ENGRAM_SESSION names."""
    session_name = caller.environ.get("ENGRAM_SESSION")
    try:
        return lifecycle.get_session(hub, session_name).id if session_name else None
    except NotFound:
        return None


def _announce_session(hub: Hub, caller: Caller) -> str:
    kind = text.to_one_line(caller.client, 40) or "mcp"
    return callers.register_caller(hub, caller.environ, _find_directory(caller), kind, _read_native_ids(caller))


def _find_directory(caller: Caller) -> str | None:
    if not caller.is_local:
        return None
    claude_directory = caller.environ.get("CLAUDE_PROJECT_DIR")
    return claude_directory if claude_directory and os.path.isdir(claude_directory) else host.get_working_directory()
