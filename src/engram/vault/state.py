"""What we know of the vault beside its pages, in `.engram`: which logs were compiled, and what we last wrote where.

`state.json` holds the logs and the totals. An epoch begins when all is compiled anew: what an older one left does not
count. What is known of one page lies in a file of its own, so that a log costs
the same in a vault of ten pages and of ten thousand. A file that cannot be read is set aside, never taken for an empty
one: its pages count as edited by people.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

from engram.vault.vault import Vault, replace

STATE = "state.json"
_EMPTY: dict[str, Any] = {"version": 1, "epoch": 0, "logs": {}, "totals": {"compiled": 0, "entries": 0, "cost": 0.0}}


def load(vault: Vault) -> dict[str, Any]:
    """Return the logs and totals; where they are lost, what the files of the logs still tell."""
    found = read(vault, STATE)
    if found and not all(isinstance(found.get(name), dict) for name in ("logs", "totals")):
        _set_aside(vault, STATE)
        found = {}
    state = found or {**_EMPTY, "logs": dict(_remembered(vault))}
    epochs = [state.get("epoch"), *(log.get("epoch") for log in state["logs"].values() if isinstance(log, dict))]
    state["epoch"] = max((each for each in epochs if isinstance(each, int)), default=0)
    state["logs"] = {day: log for day, log in state["logs"].items() if isinstance(log, dict)}
    state["totals"] = {**_EMPTY["totals"], **{n: t for n, t in state["totals"].items() if isinstance(t, int | float)}}
    return state


def _remembered(vault: Vault) -> Iterator[tuple[str, Any]]:
    """Yield the logs that were compiled, by what is kept of each: a lost state must not compile all of them anew."""
    folder = os.path.join(vault.own, "logs")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        day, dot, rest = name.partition(".")
        if dot and rest == "json":
            yield day, read(vault, f"logs/{name}").get("log")


def page_file(target: str) -> str:
    """Return where it is kept what we know of a page."""
    return f"pages/{target}.json"


def log_file(day: str) -> str:
    """Return where it is kept which entries of a log were taken in."""
    return f"logs/{day}.json"


def page(vault: Vault, target: str) -> dict[str, Any] | None:
    """Return what we know of a page; None if we never wrote it, or cannot tell any more."""
    vault.path(target)
    return read(vault, page_file(target)) or None


def read(vault: Vault, name: str) -> dict[str, Any]:
    """Return what one of our files holds; nothing if it is not there or was set aside."""
    import orjson

    try:
        with open(os.path.join(vault.own, name), "rb") as file:
            found = orjson.loads(file.read())
    except FileNotFoundError:
        return {}
    except ValueError:
        found = None
    if isinstance(found, dict):
        return found
    _set_aside(vault, name)
    return {}


def write(vault: Vault, name: str, facts: dict[str, Any], *, readable: bool = False) -> None:
    """Write one of our files whole."""
    import orjson

    option = orjson.OPT_INDENT_2 if readable else 0
    replace(os.path.join(vault.own, name), orjson.dumps(facts, option=option).decode() + "\n")


def _set_aside(vault: Vault, name: str) -> None:
    """Move a file nobody can read out of the way, and say so."""
    from engram.clock import Clock, moment

    path = os.path.join(vault.own, name)
    aside = f"{path}.bak-{moment(Clock().now()):%Y%m%dT%H%M%SZ}"
    while os.path.exists(aside):
        aside += "+"
    try:
        os.replace(path, aside)
    except FileNotFoundError:
        return  # another process was faster
    warnings.warn(f"{name} of the wiki could not be read and is kept as {os.path.basename(aside)}.", stacklevel=3)
