"""Ingest transcripts as agents write them, on change notifications from the operating system."""

from __future__ import annotations

import os
from collections.abc import Generator

from engram.capture import discover
from engram.capture.ingest_report import Ingested
from engram.capture.ingest_run import run_sweep
from engram.errors import Error, MissingExtra, StoreDamaged, StoreFull, StoreUnavailable, SweepRunning
from engram.hub import Hub
from engram.sessions.checkouts import list_project_directories

_AGAIN = 15 * 60 * 1000  # milliseconds after which everything is scanned even without a change
_GATHER = 300  # milliseconds in which changes are collected
_LASTING = (StoreDamaged, StoreFull, StoreUnavailable)  # no point in continuing to watch


def watch_transcripts(hub: Hub, flavor: str | None = None) -> Generator[Ingested, None, None]:
    """Ingest once, then whenever a transcript changes; yield each report."""
    try:
        from watchfiles import watch as changes
    except ImportError as problem:
        raise MissingExtra(feature="Watching", extra="watch") from problem
    sweep_owed = False  # whether a full ingest is needed
    try:
        yield run_sweep(hub, flavor=flavor)
    except SweepRunning:
        sweep_owed = True  # the other ingest may have passed some files already
    missed: set[str] = set()
    while True:
        places = list(discover.iter_places(list_project_directories(hub), flavor))
        roots = {place.root for _, place in places if os.path.isdir(place.root)}
        for changed in changes(
            *roots, debounce=_GATHER, rust_timeout=_AGAIN, yield_on_timeout=True, raise_interrupt=True
        ):  # fmt: skip
            paths = {path.removesuffix("-wal") for _, path in changed}
            changed_paths = {
                path for path in paths | missed if discover.find_flavor(path, places) and os.path.isfile(path)
            }
            is_full = sweep_owed or not changed
            try:
                if changed_paths or is_full:
                    yield run_sweep(hub, paths=None if is_full else sorted(changed_paths), flavor=flavor)
                sweep_owed, missed = False, set()
            except _LASTING:
                raise
            except Error:
                sweep_owed, missed = (
                    is_full,
                    changed_paths,
                )  # another ingest, or a busy store: retry with the next change
            if not changed:
                break  # look for newly installed agents
