"""Which session calls: known from the environment or a header, never asked of the model."""

from __future__ import annotations

import os
from _thread import allocate_lock

from engram import host, text
from engram.coordination import projects, sessions
from engram.errors import InvalidInput, NotFound
from engram.store import sessions as store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.model import Process
    from engram.store.engine import Row
    from engram.surfaces.mcp.caller import Caller

# Where agents tell the servers they start which session is theirs.
NATIVE = {
    "CLAUDE_CODE_SESSION_ID": "claude", "COPILOT_AGENT_SESSION_ID": "copilot", "GEMINI_SESSION_ID": "gemini",
    "GROK_SESSION_ID": "grok", "QWEN_CODE_SESSION_ID": "qwen",
}  # fmt: skip
_CODEX = "x-codex-turn-metadata"  # Codex says it with every call instead
_announcing = allocate_lock()


def find(hub: Hub, caller: Caller) -> str | None:
    """Return the session that calls, if it is known."""
    if not caller.local:
        return str(sessions.require(hub, caller.named)["id"]) if caller.named else None
    process, flavor = _above()
    running = store.of_processes(hub.engine, [(process.host, process.pid, process.start)]) if process else None
    own = _own(caller, flavor)
    if own is not None:
        row = store.by_native_id(hub.engine, *own)
        return _later(row, running) if row else None
    return str(running["id"]) if running else _chosen(hub, caller)


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


def _above() -> tuple[Process | None, str | None]:
    """Return the process that runs the session: the nearest agent above us, else whoever started us."""
    agent = host.agent()
    return agent or (host.process(os.getppid()), None)


def _own(caller: Caller, flavor: str | None) -> tuple[str, str] | None:
    """Return flavor and native id, unless they were left over from an agent further up."""
    carried = caller.meta.get(_CODEX)
    told = {"codex": carried.get("session_id")} if isinstance(carried, dict) else {}
    told |= {agent: caller.environ.get(variable) for variable, agent in NATIVE.items()}
    for agent, native in told.items():
        if native and isinstance(native, str) and flavor in (None, agent):
            return agent, native
    return None


def _later(row: Row, running: Row | None) -> str:
    """Return the session the process runs now: after a fresh start within it the environment is out of date."""
    same = running is not None and (running["pid"], running["pid_start"]) == (row["pid"], row["pid_start"])
    return str(running["id"] if same and running else row["id"])


def _chosen(hub: Hub, caller: Caller) -> str | None:
    """Return the session a person chose for everything started here."""
    named = caller.environ.get("ENGRAM_SESSION")
    try:
        return sessions.get_session(hub, named).id if named else None
    except NotFound:
        return None


def _announce(hub: Hub, caller: Caller) -> str:
    process, flavor = _above()
    own, native = _own(caller, flavor) or (flavor, None)
    kind = own or text.one_line(caller.client, 40) or "mcp"
    return sessions.register(
        hub, kind, f"{kind} session, just started", None, kind, native, _directory(caller),
        pid=process.pid if process else None,
    )  # fmt: skip


def _directory(caller: Caller) -> str | None:
    if not caller.local:
        return None
    given = caller.environ.get("CLAUDE_PROJECT_DIR")
    return given if given and os.path.isdir(given) else host.directory()
