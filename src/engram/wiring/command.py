"""Where our own command is, as agents are told to call it, and how we know it again."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import sysconfig

from engram.distribution import install_command
from engram.errors import InvalidInput

_NAME = "engram.exe" if os.name == "nt" else "engram"
_FLEETING = re.compile(
    r"[/\\](?:archive-v\d+|builds-v\d+|environments-v\d+|_npx)[/\\]|^/tmp/|^/var/folders/|[/\\]Temp[/\\]"
)
_OURS = re.compile(
    r"""^\s*(?P<mark>["']?)(?P<program>(?:[^"';|&]*[/\\])?engram(?:\.exe)?)(?P=mark)\s+hook(?:\s+[\w-]+)*\s*$"""
)


def located() -> str:
    """Return the program agents shall call: the one on the path if it is this installation's, else our own script."""
    own = next((path for path in _own() if os.path.isfile(path)), None)
    linked = [os.path.expanduser(f"~/.local/bin/{_NAME}"), shutil.which("engram")]
    for path in linked:
        if path and os.path.isfile(path) and (own is None or os.path.realpath(path) == os.path.realpath(own)):
            return os.path.abspath(path)
    if own is None:
        raise InvalidInput(field="engram", reason=f"its command is not installed. Run: {install_command()}")
    return os.path.abspath(own)


def fleeting(program: str) -> bool:
    """Tell whether a program lies where it will be cleared away."""
    return bool(_FLEETING.search(os.path.realpath(program)) or _FLEETING.search(program))


def hook_command(program: str) -> str:
    """Return the command line of every hook; it never changes, for Codex trusts it by its text."""
    quoted = (
        f'"{program}"' if os.name == "nt" and " " in program else shlex.quote(program) if os.name != "nt" else program
    )
    return f"{quoted} hook"


def is_ours(command: object) -> bool:
    """Tell whether a hook's command calls us and nothing else, wherever we were installed then."""
    return isinstance(command, str) and bool(program_in(command))


def is_server(entry: object) -> bool:
    """Tell whether an MCP entry starts us."""
    if not isinstance(entry, dict):
        return False
    command, words = entry.get("command"), entry.get("args")
    if isinstance(command, list):
        command, words = command[0] if command else "", command[1:]
    name = re.split(r"[/\\]", command)[-1] if isinstance(command, str) else ""
    return name in ("engram", "engram.exe") and isinstance(words, list) and words[:1] == ["mcp"]


def program_in(command: str) -> str:
    """Return the program a hook's command of ours calls; nothing if the command is not ours."""
    found = _OURS.match(command)
    if found:
        return found.group("program")
    try:  # a path with a quote or an ampersand in it is quoted in pieces
        program, hook = shlex.split(command)
    except ValueError:
        return ""
    return program if hook == "hook" and os.path.basename(program) == _NAME and hook_command(program) == command else ""


def runs(program: str) -> bool:
    """Tell whether a program named in a hook can be run now."""
    if os.path.isabs(program):
        return os.access(program, os.X_OK) and os.path.isfile(program)
    return shutil.which(program) is not None


def _own() -> list[str]:
    beside = os.path.join(os.path.dirname(sys.executable), _NAME)
    called = sys.argv[0] if os.path.basename(sys.argv[0]) == _NAME else ""
    user = f"{os.name}_user"
    schemes = (
        [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", user)]
        if user in sysconfig.get_scheme_names()
        else []
    )
    return [beside, *([called] if called else []), *(os.path.join(each, _NAME) for each in schemes)]
