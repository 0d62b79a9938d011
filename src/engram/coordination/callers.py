"""Which session calls us: named by its agent's variable, or by the process above us; announced if nobody did."""

from __future__ import annotations

import os

from engram import host
from engram.coordination import sessions
from engram.store import sessions as store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from engram.hub import Hub
    from engram.model import Process
    from engram.store.engine import Row

# Where agents tell the programs they start which session is theirs.
VARIABLES = {
    "CLAUDE_CODE_SESSION_ID": "claude", "CODEX_THREAD_ID": "codex", "COPILOT_AGENT_SESSION_ID": "copilot",
    "GEMINI_SESSION_ID": "gemini", "GROK_SESSION_ID": "grok", "QWEN_CODE_SESSION_ID": "qwen",
}  # fmt: skip


def find(hub: Hub, environ: Mapping[str, str], told: Mapping[str, object] | None = None) -> str | None:
    """Return the session that calls, by what its agent says of it or by the process that runs it.

    `told` are native ids by flavor that came another way than by the environment.
    """
    process, flavor = _process_above()
    running = store.of_processes(hub.engine, [(process.host, process.pid, process.start)]) if process else None
    native = native_id(environ, flavor, told)
    if native is None:
        return str(running["id"]) if running else None
    row = store.by_native_id(hub.engine, *native)
    return _prefer_running(row, running) if row else None


def announce(
    hub: Hub, environ: Mapping[str, str], directory: str | None, kind: str, told: Mapping[str, object] | None = None
) -> str:
    """Register the session that calls; `kind` is what it is where nothing says which agent runs it."""
    process, flavor = _process_above()
    own, native = native_id(environ, flavor, told) or (flavor, None)
    kind = own or kind
    return sessions.register(
        hub, kind, f"{kind} session, just started", None, kind, native, directory, pid=process.pid if process else None
    )


def native_id(
    environ: Mapping[str, str], flavor: str | None, told: Mapping[str, object] | None = None
) -> tuple[str, str] | None:
    """Return flavor and native id of the session, unless they were left over from an agent further up."""
    named = {**(told or {}), **{agent: environ[name] for name, agent in VARIABLES.items() if environ.get(name)}}
    for agent, native in named.items():
        if native and isinstance(native, str) and flavor in (None, agent):
            return agent, native
    return None


def named(environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Return flavor and native id that the agent which runs us gives its session."""
    return native_id(environ, _process_above()[1])


def _process_above() -> tuple[Process | None, str | None]:
    """Return the process that runs the session: the nearest agent above us, else whoever started us."""
    return host.agent() or (host.process(os.getppid()), None)


def _prefer_running(row: Row, running: Row | None) -> str:
    """Return the session the process runs now: after a fresh start within it the environment is out of date."""
    same = running is not None and (running["pid"], running["pid_start"]) == (row["pid"], row["pid_start"])
    return str(running["id"] if same and running else row["id"])
