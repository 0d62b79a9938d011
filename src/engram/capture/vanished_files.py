"""Find the project of a directory that is gone by the files its sessions touched."""

from __future__ import annotations

import os
from collections.abc import Iterator

import orjson

from engram.hub import Hub
from engram.sessions import checkouts
from engram.store import checkouts as store
from engram.store import digests

_SESSIONS = 20  # the last ones; more say the same
_FILES = 60
_LEAST = 3  # files in folders; a README is everywhere
_SHARE = 2 / 3


def find_project_by_files(hub: Hub, directory: str) -> str:
    """Return the only project of this machine that has most of the files touched in a directory; "" if none has."""
    touched = sorted(set(_list_touched(hub, directory)))[:_FILES]
    if len(touched) < _LEAST:
        return ""
    matches = set()
    for row in store.list_by_host(hub.engine, checkouts.get_machine(hub)):
        if row["path"] != directory and os.path.isdir(row["path"]) and _has_most(row["path"], touched):
            matches.add(row["project"])
    return matches.pop() if len(matches) == 1 else ""


def _has_most(root: str, paths: list[str]) -> bool:
    return sum(os.path.lexists(os.path.join(root, path)) for path in paths) >= _SHARE * len(paths)


def _list_touched(hub: Hub, directory: str) -> Iterator[str]:
    """Yield files below a folder of a directory, relative to the directory, without what is outside."""
    for row in digests.list_states_by_project(hub.engine, directory, _SESSIONS):
        files = orjson.loads(row["state"])  # the facts leave out temporary files, and these may all be
        for path in (*files.get("changed", ()), *files.get("read", ())):
            full_path = os.path.normpath(os.path.join(row["cwd"] or directory, path))
            relative = full_path.removeprefix(f"{directory}{os.sep}")
            if relative != full_path and os.sep in relative:
                yield relative
