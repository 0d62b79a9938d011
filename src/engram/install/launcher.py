"""The launcher: the one file agents call, in the Engram home.

Agent configurations name the launcher, not the place where Engram is installed: a new installation rewrites only this
file, and Codex, which trusts a hook by its text, still trusts it. It starts the interpreter without the environment a
project may have set, and without the imports of a generated script. If Engram was removed, it does nothing, and the
agent continues.
"""

from __future__ import annotations

import os
import shlex
import sys

_NAME = "engram"
# The code a hook runs. The interpreter is started without `site`, which takes a fifth of its time, so it needs our
# import paths; if Engram was removed, the agent continues.
_HOOK = """import gc, sys
gc.disable()
sys.path += {places!r}
try:
    from engram.surfaces.hooks import main
except ImportError:
    sys.exit()
main([])"""
_MADE_BY = "# Made by `engram init`: agents call Engram through this file; `engram uninit` removes it."


def get_launcher_path(home: str) -> str:
    """Return the path of a home's launcher."""
    return os.path.join(home, "bin", _NAME)


def get_agent_program(home: str) -> str:
    """Return the program that a user's agents call."""
    from engram.install.own_command import locate_program

    return get_launcher_path(home) if os.name == "posix" else locate_program()


def write_launcher(home: str) -> None:
    """Write the launcher for this installation; where scripts cannot be started, agents call our program directly."""
    if os.name != "posix":
        return
    launcher_path = get_launcher_path(home)
    content = _build_script(sys.executable, home)
    if _read_text(launcher_path) == content:
        return
    os.makedirs(os.path.dirname(launcher_path), mode=0o700, exist_ok=True)
    draft = f"{launcher_path}.{os.getpid()}"
    with open(draft, "w", encoding="utf-8") as file:
        file.write(content)
    os.chmod(draft, 0o700)
    os.replace(draft, launcher_path)


def remove_launcher(home: str) -> None:
    """Delete the launcher; other files beside it stay."""
    try:
        os.remove(get_launcher_path(home))
        os.rmdir(os.path.dirname(get_launcher_path(home)))
    except OSError:
        pass


def read_interpreter(program: str) -> str | None:
    """Return the interpreter a launcher starts, empty if it is damaged; None if the program is not a launcher."""
    content = _read_text(program) if os.path.isfile(program) and os.path.getsize(program) < 10_000 else ""
    if _MADE_BY not in content:
        return None
    line = next((line for line in content.splitlines() if line.startswith("python=")), "")
    try:
        return shlex.split(line.removeprefix("python="))[0]
    except (ValueError, IndexError):
        return ""  # the file is truncated


def is_current(home: str) -> bool:
    """Check whether the launcher of a home is the one this installation would write."""
    return _read_text(get_launcher_path(home)) == _build_script(sys.executable, home)


def _build_script(python: str, home: str) -> str:
    # -E and -P: neither PYTHONPATH nor a file in the agent's directory may replace what we import.
    return f"""#!/bin/sh
{_MADE_BY}
python={shlex.quote(python)}
: "${{ENGRAM_HOME:={_escape_for_quotes(home)}}}"
export ENGRAM_HOME
[ -x "$python" ] || exit 0
[ "$1" = hook ] && exec "$python" -EPS -c {shlex.quote(_HOOK.format(places=_list_import_paths()))}
exec "$python" -EPm engram "$@"
"""


def _list_import_paths() -> list[str]:
    """Return the directories of this package and of its database driver."""
    from importlib.util import find_spec

    origins = [spec.origin for spec in map(find_spec, ("engram", "apsw")) if spec and spec.origin]
    return list(dict.fromkeys(os.path.dirname(os.path.dirname(origin)) for origin in origins))


def _escape_for_quotes(home: str) -> str:
    """Escape a path for use between double quotes."""
    for mark in '\\"$`}':
        home = home.replace(mark, f"\\{mark}")
    return home


def _read_text(file_path: str) -> str:
    try:
        with open(file_path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""
