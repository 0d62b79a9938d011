"""The launcher: the one file agents call, in our own home.

Their configurations name it, not the place where Engram is installed: a new installation rewrites this file and
nothing else, and Codex, which trusts a hook by its text, goes on trusting it. It starts the interpreter without what a
project may have put into its environment, and without what a generated script imports; where Engram was removed it
does nothing, and the agent goes on.
"""

from __future__ import annotations

import os
import shlex
import sys

_NAME = "engram"
# What a hook runs. The interpreter is started without `site`, which takes a fifth of its time, so it is told where we
# are; where we are no longer, the agent goes on.
_HOOK = """import gc, sys
gc.disable()
sys.path += {places!r}
try:
    from engram.surfaces.hooks import main
except ImportError:
    sys.exit()
main([])"""
_MADE_BY = "# Made by `engram init`: agents call Engram through this file; `engram uninit` removes it."


def path(home: str) -> str:
    """Return where the launcher of a home is."""
    return os.path.join(home, "bin", _NAME)


def called(home: str) -> str:
    """Return the program that the agents of a user shall call."""
    from engram.wiring.command import located

    return path(home) if os.name == "posix" else located()


def write(home: str) -> None:
    """Make the launcher start this installation; where no script can be started, agents call our own program."""
    if os.name != "posix":
        return
    place = path(home)
    content = _content(sys.executable, home)
    if _read(place) == content:
        return
    os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
    draft = f"{place}.{os.getpid()}"
    with open(draft, "w", encoding="utf-8") as file:
        file.write(content)
    os.chmod(draft, 0o700)
    os.replace(draft, place)


def remove(home: str) -> None:
    """Take the launcher away; what else lies beside it stays."""
    try:
        os.remove(path(home))
        os.rmdir(os.path.dirname(path(home)))
    except OSError:
        pass


def starts(program: str) -> str | None:
    """Return the interpreter a launcher starts, empty if it is damaged; None if the program is no launcher."""
    content = _read(program) if os.path.isfile(program) and os.path.getsize(program) < 10_000 else ""
    if _MADE_BY not in content:
        return None
    line = next((line for line in content.splitlines() if line.startswith("python=")), "")
    try:
        return shlex.split(line.removeprefix("python="))[0]
    except (ValueError, IndexError):
        return ""  # somebody cut it short


def is_current(home: str) -> bool:
    """Tell whether the launcher of a home is the one this installation would write."""
    return _read(path(home)) == _content(sys.executable, home)


def _content(python: str, home: str) -> str:
    # -E and -P: neither PYTHONPATH nor a file in the agent's directory may stand in for what we import.
    return f"""#!/bin/sh
{_MADE_BY}
python={shlex.quote(python)}
: "${{ENGRAM_HOME:={_inside(home)}}}"
export ENGRAM_HOME
[ -x "$python" ] || exit 0
[ "$1" = hook ] && exec "$python" -EPS -c {shlex.quote(_HOOK.format(places=_places()))}
exec "$python" -EPm engram "$@"
"""


def _places() -> list[str]:
    """Return the directories of this package and of the one it stores with."""
    from importlib.util import find_spec

    found = [spec.origin for spec in map(find_spec, ("engram", "apsw")) if spec and spec.origin]
    return list(dict.fromkeys(os.path.dirname(os.path.dirname(each)) for each in found))


def _inside(home: str) -> str:
    """Return a path as it may stand between double quotes."""
    for mark in '\\"$`}':
        home = home.replace(mark, f"\\{mark}")
    return home


def _read(place: str) -> str:
    try:
        with open(place, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""
