"""A note for people who come from memoria, printed once."""

from __future__ import annotations

import os
import sys

from engram.settings import get_home_directory, list_memoria_variables
from engram.surfaces.cli.terminal import write_line

_SHOWN_FILE = "memoria-hint"  # file in the Engram home: the variables already mentioned


def print_variable_hints() -> None:
    """Name our setting for every variable of memoria that is set, once per Engram home."""
    if "--spool" in sys.argv:
        return  # a background worker has no reader
    variables = list_memoria_variables()
    path = os.path.join(get_home_directory(os.environ), _SHOWN_FILE)
    if not variables or _read_shown_names(path) == sorted(variables):
        return
    for theirs, ours in variables.items():
        write_line(f"{theirs} is set: Engram reads it as {ours}.", err=True)
    _write_shown_names(path, sorted(variables))


def _read_shown_names(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().split()
    except (OSError, ValueError):
        return []


def _write_shown_names(path: str, names: list[str]) -> None:
    """Remember the variables that were mentioned; if that fails, they are mentioned again."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(names) + "\n")
    except OSError:
        pass
