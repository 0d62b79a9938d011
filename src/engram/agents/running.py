"""Find the agent that runs us among our ancestor processes."""

from __future__ import annotations

from engram.agents.registry import list_agents
from engram.platform import host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.platform.host import Process

_SUFFIXES = (".js", ".exe", "-code", "-cli", "-ai", "-agent")
_INTERPRETERS = ("node", "bun", "deno", "python")


def find_running_agent() -> tuple[Process, str] | None:
    """Return the process of the agent we run under, and the agent's name."""
    for ancestor in host.list_ancestors():
        name = match_command(host.command_line(ancestor.pid))
        if name:
            return ancestor, name
    return None


def match_command(command: list[str]) -> str | None:
    """Return the agent a command line runs: by its program, or by the package of the script."""
    words = [word for number, word in enumerate(command[:9]) if number == 0 or not word.startswith("-")]
    program, *rest = (word.replace("\\", "/").lower().split("/") for word in words[:2])
    runs_script = program[-1].rstrip("0123456789.") in _INTERPRETERS
    script = rest[0] if rest and runs_script else [""]
    package = script[script.index("node_modules") + 1 :] if "node_modules" in script else []
    known_names = {agent.name for agent in list_agents() if agent.programs}
    stems = (_strip_suffixes(part) for part in (program[-1], script[-1], *package))
    return next((stem for stem in stems if stem in known_names), None)


def _strip_suffixes(name: str) -> str:
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name
