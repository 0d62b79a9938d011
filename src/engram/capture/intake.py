"""One intake: choose transcripts, sweep them, digest what is due, keep to the budget."""

from __future__ import annotations

import gc
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from engram.adapters.registry import adapters
from engram.capture import discover
from engram.capture.discover import Source
from engram.capture.redact import Redactor, known_from
from engram.capture.sweep import Progress, Sweep
from engram.capture.turn import Turn
from engram.clock import HOUR
from engram.digests import retention
from engram.digests.remake import remake_due
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.model import Ingested, Retention
from engram.store import sessions


def sweep(
    hub: Hub,
    *,
    paths: Iterable[str] | None = None,
    flavor: str | None = None,
    since_hours: float | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Ingested:
    """Run one sweep and say what came of it."""
    if flavor is not None and flavor not in adapters():
        raise InvalidInput(field="flavor", reason=f"{flavor!r} is none; there are {', '.join(sorted(adapters()))}.")
    everything = paths is None and flavor is None and since_hours is None
    found = _chosen(hub, paths, flavor, since_hours)
    return take_in(hub, found, dry_run=dry_run, progress=progress, all_known=everything)


def take_in(
    hub: Hub,
    found: Iterable[Source],
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
    all_known: bool = False,
) -> Ingested:
    """Take transcripts in, alone on this machine; then digest what is due, and keep to the budget."""
    with Turn(hub.settings.home):
        run = Sweep(hub, redactor(hub), dry_run=dry_run)
        with _without_collector():
            run.run(found, progress, all_known=all_known)
        if dry_run:
            return _report(run, 0, None)
        retention.keep_ballast(hub)
        analyzed = len({*run.writer.changed, *remake_due(hub)})
        return _report(run, analyzed, retention.evict(hub, whole=all_known))


@contextmanager
def _without_collector() -> Iterator[None]:
    """Spare a sweep the search for cycles: it makes millions of objects and no cycle among them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def redactor(hub: Hub) -> Redactor:
    """Return the redactor of this home; its key never leaves it."""
    return Redactor(_key(hub.settings.home), known_from(os.environ, os.getcwd()))


def _key(home: str) -> bytes:
    path = os.path.join(home, "redaction.key")
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        key = secrets.token_bytes(32)
        os.makedirs(home, mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(key)
        return key


def _chosen(hub: Hub, paths: Iterable[str] | None, flavor: str | None, since_hours: float | None) -> list[Source]:
    if paths is not None:
        named = [(path, discover.source(os.path.abspath(path))) for path in paths]
        missing = [path for path, found in named if found is None]
        if missing:
            raise InvalidInput(field="paths", reason=f"there is no file {missing[0]!r}.")
        return [found for _, found in named if found]
    found = discover.sources(sessions.projects(hub.engine), flavor)
    if since_hours is None:
        return list(found)
    after = hub.now() - int(since_hours * HOUR)
    return [source for source in found if source.changed_at >= after]


def _report(run: Sweep, analyzed: int, kept: Retention | None) -> Ingested:
    return Ingested(
        **run.counts,
        analyzed=analyzed,
        sessions=len(run.sessions),
        redacted=dict(run.writer.redactor.found),
        failures=run.failures,
        retention=kept,
        dry_run=run.dry_run,
    )
