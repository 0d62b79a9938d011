"""The state of the vault, in `.engram`: which logs were compiled, and what we last wrote to each page.

`state.json` holds the logs, the projects and totals. An epoch starts when everything is recompiled; data of older
epochs does not count. Each page has its own record file, so that a log costs the same in a vault of ten pages and of
ten thousand. An unreadable file is set aside, never treated as empty: its pages count as edited by people.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

from engram.wiki.vault.vault import Vault, replace_file

STATE = "state.json"
_EMPTY: dict[str, Any] = {
    "version": 1,
    "epoch": 0,
    "logs": {},
    "projects": {},
    "totals": {"compiled": 0, "entries": 0, "cost": 0.0},
}


def load_state(vault: Vault) -> dict[str, Any]:
    """Return the logs and totals; if they are lost, recover them from the records of the logs."""
    saved = read_file(vault, STATE)
    if saved and not all(isinstance(saved.get(name), dict) for name in ("logs", "totals")):
        _set_aside(vault, STATE)
        saved = {}
    state = saved or {**_EMPTY, "logs": dict(_recover_logs(vault))}
    epochs = [state.get("epoch"), *(log.get("epoch") for log in state["logs"].values() if isinstance(log, dict))]
    state["epoch"] = max((epoch for epoch in epochs if isinstance(epoch, int)), default=0)
    state["logs"] = {day: log for day, log in state["logs"].items() if isinstance(log, dict)}
    projects = state.get("projects")
    state["projects"] = dict(projects) if isinstance(projects, dict) else {}
    state["totals"] = {**_EMPTY["totals"], **{n: t for n, t in state["totals"].items() if isinstance(t, int | float)}}
    return state


def _recover_logs(vault: Vault) -> Iterator[tuple[str, Any]]:
    """Yield the compiled logs from their records: a lost state must not recompile all of them."""
    folder = os.path.join(vault.own_dir, "logs")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        day, dot, rest = name.partition(".")
        if dot and rest == "json":
            yield day, read_file(vault, f"logs/{name}").get("log")


def page_record_path(target: str) -> str:
    """Return the path of a page's record."""
    return f"pages/{target}.json"


def log_record_path(day: str) -> str:
    """Return the path of a log's record."""
    return f"logs/{day}.json"


def read_page_record(vault: Vault, target: str) -> dict[str, Any] | None:
    """Return the record of a page; None if we never wrote it, or the record is lost."""
    vault.resolve_path(target)
    return read_file(vault, page_record_path(target)) or None


def has_state(vault: Vault) -> bool:
    """Return whether anything was ever compiled into a vault."""
    return os.path.exists(os.path.join(vault.own_dir, STATE))


def list_page_records(vault: Vault) -> Iterator[str]:
    """Yield the pages that have a record, sorted."""
    root = os.path.join(vault.own_dir, "pages")
    for directory, folders, names in os.walk(root):
        folders.sort()
        relative = os.path.relpath(directory, root).replace(os.sep, "/")
        yield from (f"{relative}/{name[:-5]}" for name in sorted(names) if name.endswith(".json"))


def read_file(vault: Vault, name: str) -> dict[str, Any]:
    """Return the content of one of our files; empty if it is missing or was set aside."""
    import orjson

    try:
        with open(os.path.join(vault.own_dir, name), "rb") as file:
            content = orjson.loads(file.read())
    except FileNotFoundError:
        return {}
    except ValueError:
        content = None
    if isinstance(content, dict):
        return content
    _set_aside(vault, name)
    return {}


def write_file(vault: Vault, name: str, facts: dict[str, Any], *, readable: bool = False) -> None:
    """Write one of our files atomically."""
    import orjson

    option = orjson.OPT_INDENT_2 if readable else 0
    replace_file(os.path.join(vault.own_dir, name), orjson.dumps(facts, option=option).decode() + "\n")


def _set_aside(vault: Vault, name: str) -> None:
    """Rename an unreadable file and warn about it."""
    from engram.clock import Clock, to_datetime

    path = os.path.join(vault.own_dir, name)
    aside = f"{path}.bak-{to_datetime(Clock().now()):%Y%m%dT%H%M%SZ}"
    while os.path.exists(aside):
        aside += "+"
    try:
        os.replace(path, aside)
    except FileNotFoundError:
        return  # another process was faster
    warnings.warn(f"{name} of the wiki could not be read; it was renamed to {os.path.basename(aside)}.", stacklevel=3)
