"""Which session acts when a command is called."""

from __future__ import annotations

import os
import sys

from engram.agents import running
from engram.errors import MissingInput
from engram.platform import host
from engram.sessions import caller, lifecycle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub

_SHELLS = ("bash", "zsh", "fish", "sh", "dash", "ksh", "pwsh", "nu")


def find_acting_session(hub: Hub, requested_session: str | None, is_required: bool = True) -> str | None:
    """Return the acting session: by option, environment, the agent that runs us, or this shell.

    An agent whose session is not known yet is registered, if a session is required.
    """
    session_id = requested_session or os.environ.get("ENGRAM_SESSION")
    if session_id:
        return lifecycle.get_session(hub, session_id).id
    if caller.find_own_native_id(os.environ):
        caller_id = caller.find_caller(hub, os.environ)
        return caller_id or (_register_caller(hub) if is_required else None)
    session = lifecycle.find_current_session(hub)
    if session is None and is_required:
        reason = "No session given. Pass --session ID or set ENGRAM_SESSION."
        raise MissingInput(field="session", reason=reason)
    return session.id if session else None


def find_session_type() -> str:
    """Return the name of the agent that runs this command, or `shell`."""
    running_agent = running.find_running_agent()
    return running_agent[1] if running_agent else "shell"


def find_own_shell() -> int | None:
    """Return the process of the shell a person types into; None in an agent, a script or a pipe.

    A session bound to it is found again by later commands in that terminal, and ends with it.
    """
    if not sys.stdin.isatty() or running.find_running_agent() is not None:
        return None
    pids = (ancestor.pid for ancestor in host.list_ancestors())
    return next((pid for pid in pids if _is_interactive_shell(host.command_line(pid))), None)


def _is_interactive_shell(command: list[str]) -> bool:
    program, *rest = [word for word in command if word] or [""]
    has_script = any(not word.startswith("-") or ("c" in word and not word.startswith("--")) for word in rest)
    return os.path.basename(program).lstrip("-") in _SHELLS and not has_script


def _register_caller(hub: Hub) -> str:
    return caller.register_caller(hub, os.environ, host.get_working_directory(), find_session_type())
