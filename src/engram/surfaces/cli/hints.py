"""What a person who comes from an older system is told once."""

from __future__ import annotations

import os
import sys

import click

from engram.settings import home_in, memoria_in_force

_TOLD = "memoria-hint"  # a file in the home: the variables that were told


def tell_older_variables() -> None:
    """Name our setting for each variable of memoria in force, once for each home."""
    if "--spool" in sys.argv:
        return  # nobody reads what a worker says
    found = memoria_in_force()
    path = os.path.join(home_in(os.environ), _TOLD)
    if not found or _read(path) == sorted(found):
        return
    for theirs, ours in found.items():
        click.echo(f"{theirs} is read as {ours}, the name of this setting here.", err=True)
    _write(path, sorted(found))


def _read(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().split()
    except (OSError, ValueError):
        return []


def _write(path: str, names: list[str]) -> None:
    """Remember what was told; where nothing can be written, it is told again."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(names) + "\n")
    except OSError:
        pass
