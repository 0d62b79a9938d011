"""Find the session that calls us: by its agent's variable or the parent process; register it if needed."""

from __future__ import annotations

import os

from engram.agents import running
from engram.agents.registry import list_agents
from engram.platform import host
from engram.sessions import lifecycle
from engram.store import sessions as store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from engram.hub import Hub
    from engram.platform.host import Process
    from engram.store.engine import Row


def find_caller(hub: Hub, environ: Mapping[str, str], native_ids: Mapping[str, object] | None = None) -> str | None:
    """Return the calling session, by its agent's session id or by the process that runs it.

    `native_ids` are session ids, by agent, that did not come from the environment.
    """
    process, flavor = _find_parent_process()
    running_session = (
        store.find_by_processes(hub.engine, [(process.host, process.pid, process.start)]) if process else None
    )
    own_id = find_native_id(environ, flavor, native_ids)
    if own_id is None:
        return str(running_session["id"]) if running_session else None
    row = store.find_by_native_id(hub.engine, *own_id)
    return _prefer_running(row, running_session) if row else None


def register_caller(
    hub: Hub,
    environ: Mapping[str, str],
    directory: str | None,
    kind: str,
    native_ids: Mapping[str, object] | None = None,
) -> str:
    """Register the calling session; `kind` is used if the agent is unknown."""
    process, flavor = _find_parent_process()
    own_flavor, native = find_native_id(environ, flavor, native_ids) or (flavor, None)
    kind = own_flavor or kind
    return lifecycle.register(
        hub, kind, f"{kind} session, just started", None, kind, native, directory, pid=process.pid if process else None
    )


def find_native_id(
    environ: Mapping[str, str], flavor: str | None, native_ids: Mapping[str, object] | None = None
) -> tuple[str, str] | None:
    """Return flavor and native id of the session, ignoring variables inherited from another agent."""
    candidates = dict(native_ids or {})
    candidates |= {agent.name: environ[name] for agent in list_agents() if environ.get(name := agent.session_variable)}
    for agent, native in candidates.items():
        if native and isinstance(native, str) and flavor in (None, agent):
            return agent, native
    return None


def find_own_native_id(environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Return flavor and native id of the session of the agent that runs us."""
    return find_native_id(environ, _find_parent_process()[1])


def _find_parent_process() -> tuple[Process | None, str | None]:
    """Return the process that runs the session: the nearest agent above us, else our parent."""
    return running.find_running_agent() or (host.find_process(os.getppid()), None)


def _prefer_running(row: Row, running: Row | None) -> str:
    """Return the session the process runs now: after a restart inside it, the environment is out of date."""
    is_same_process = running is not None and (running["pid"], running["pid_start"]) == (row["pid"], row["pid_start"])
    return str(running["id"] if is_same_process and running else row["id"])
