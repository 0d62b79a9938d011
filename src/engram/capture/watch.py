"""Take in what agents write while they write it, told by the operating system, asleep otherwise."""

from __future__ import annotations

import os
from collections.abc import Generator

from engram.capture import discover
from engram.capture.intake import sweep
from engram.errors import Error, MissingExtra, StoreDamaged, StoreFull, StoreUnavailable, SweepRunning
from engram.hub import Hub
from engram.model import Ingested
from engram.store import sessions

_AGAIN = 15 * 60 * 1000  # milliseconds after which everything is looked at, told or not
_GATHER = 300  # milliseconds in which changes are taken together
_LASTING = (StoreDamaged, StoreFull, StoreUnavailable)  # watching on would take in nothing


def watch(hub: Hub, flavor: str | None = None) -> Generator[Ingested, None, None]:
    """Sweep once, then whenever a transcript changes; yield what each sweep took in."""
    try:
        from watchfiles import watch as changes
    except ImportError as problem:
        raise MissingExtra(feature="Watching", extra="watch") from problem
    behind = False  # whether a whole sweep is owed
    try:
        yield sweep(hub, flavor=flavor)
    except SweepRunning:
        behind = True  # the other sweep may have passed some already
    missed: set[str] = set()
    while True:
        found = list(discover.places(sessions.projects(hub.engine), flavor))
        roots = {place.root for _, place in found if os.path.isdir(place.root)}
        for changed in changes(
            *roots, debounce=_GATHER, rust_timeout=_AGAIN, yield_on_timeout=True, raise_interrupt=True
        ):  # fmt: skip
            paths = {path.removesuffix("-wal") for _, path in changed}
            wanted = {path for path in paths | missed if discover.flavor_at(path, found) and os.path.isfile(path)}
            whole = behind or not changed
            try:
                if wanted or whole:
                    yield sweep(hub, paths=None if whole else sorted(wanted), flavor=flavor)
                behind, missed = False, set()
            except _LASTING:
                raise
            except Error:
                behind, missed = whole, wanted  # another sweep, or a busy moment: they come with the next change
            if not changed:
                break  # look for agents that came since
