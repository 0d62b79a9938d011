"""The command by which agents call us, and how we recognize it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import sysconfig

from engram.distribution import format_install_command
from engram.errors import InvalidInput

_NAME = "engram.exe" if os.name == "nt" else "engram"
_FLEETING = re.compile(
    r"[/\\](?:archive-v\d+|builds-v\d+|environments-v\d+|_npx)[/\\]|^/tmp/|^/var/folders/|[/\\]Temp[/\\]"
)
_OUR_HOOK = re.compile(
    r"""^\s*(?P<mark>["']?)(?P<program>(?:[^"';|&]*[/\\])?engram(?:\.exe)?)(?P=mark)\s+hook(?:\s+[\w-]+)*\s*$"""
)


def locate_program() -> str:
    """Return the program agents call: the one on the PATH if it belongs to this installation, else our own script."""
    own_program = next((path for path in _list_own_programs() if os.path.isfile(path)), None)
    linked_paths = [os.path.expanduser(f"~/.local/bin/{_NAME}"), shutil.which("engram")]
    for path in linked_paths:
        if (
            path
            and os.path.isfile(path)
            and (own_program is None or os.path.realpath(path) == os.path.realpath(own_program))
        ):
            return os.path.abspath(path)
    if own_program is None:
        raise InvalidInput(
            field="engram", reason=f"the `engram` command is not installed. Run: {format_install_command()}"
        )
    return os.path.abspath(own_program)


def fleeting(program: str) -> bool:
    """Check whether a program is in a temporary place."""
    return bool(_FLEETING.search(os.path.realpath(program)) or _FLEETING.search(program))


def build_hook_command(program: str) -> str:
    """Return the command line of every hook; it never changes, because Codex trusts it by its text."""
    quoted = (
        f'"{program}"' if os.name == "nt" and " " in program else shlex.quote(program) if os.name != "nt" else program
    )
    return f"{quoted} hook"


def is_our_hook(command: object) -> bool:
    """Check whether a hook's command calls only us, from any installation."""
    return isinstance(command, str) and bool(parse_program(command))


def is_our_server(entry: object) -> bool:
    """Check whether an MCP entry starts us."""
    if not isinstance(entry, dict):
        return False
    command, words = entry.get("command"), entry.get("args")
    if isinstance(command, list):
        command, words = command[0] if command else "", command[1:]
    name = re.split(r"[/\\]", command)[-1] if isinstance(command, str) else ""
    return name in ("engram", "engram.exe") and isinstance(words, list) and words[:1] == ["mcp"]


def parse_program(command: str) -> str:
    """Return the program that a hook command of ours calls; empty if the command is not ours."""
    match = _OUR_HOOK.match(command)
    if match:
        return match.group("program")
    try:  # a path with a quote or an ampersand is quoted in pieces
        program, hook = shlex.split(command)
    except ValueError:
        return ""
    return (
        program
        if hook == "hook" and os.path.basename(program) == _NAME and build_hook_command(program) == command
        else ""
    )


def is_runnable(program: str) -> bool:
    """Check whether a program named in a hook can be run now."""
    if os.path.isabs(program):
        return os.access(program, os.X_OK) and os.path.isfile(program)
    return shutil.which(program) is not None


def _list_own_programs() -> list[str]:
    sibling = os.path.join(os.path.dirname(sys.executable), _NAME)
    invoked = sys.argv[0] if os.path.basename(sys.argv[0]) == _NAME else ""
    user = f"{os.name}_user"
    schemes = (
        [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", user)]
        if user in sysconfig.get_scheme_names()
        else []
    )
    return [sibling, *([invoked] if invoked else []), *(os.path.join(directory, _NAME) for directory in schemes)]
