"""One intake: choose transcripts, sweep them, digest what is due, keep to the budget."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from engram.adapters.adapter import Place
from engram.adapters.registry import adapters
from engram.capture import discover
from engram.capture.discover import Source
from engram.capture.exchanged import exchange_due
from engram.capture.guides import take_in_guides
from engram.capture.sweep import Progress, Sweep
from engram.capture.turn import Turn
from engram.clock import HOUR
from engram.digests import retention
from engram.digests.passage import make_findable
from engram.digests.remake import remake_due
from engram.errors import InvalidInput, StoreFull
from engram.hub import Hub
from engram.index.index import bring_up_to_date
from engram.model import Ingested, Retention
from engram.redaction import known_secrets
from engram.redaction.removal import redactor
from engram.store import ballast, sessions


def sweep(
    hub: Hub,
    *,
    paths: Iterable[str] | None = None,
    flavor: str | None = None,
    since_hours: float | None = None,
    dry_run: bool = False,
    again: bool = False,
    progress: Progress | None = None,
) -> Ingested:
    """Run one sweep and say what came of it."""
    if flavor is not None and flavor not in adapters():
        raise InvalidInput(field="flavor", reason=f"{flavor!r} is none; there are {', '.join(sorted(adapters()))}.")
    everything = paths is None and flavor is None and since_hours is None
    found = _chosen(hub, paths, flavor, since_hours)
    return take_in(hub, found, dry_run=dry_run, again=again, progress=progress, all_known=everything)


def take_in(
    hub: Hub,
    found: Iterable[Source],
    *,
    dry_run: bool = False,
    again: bool = False,
    progress: Progress | None = None,
    all_known: bool = False,
    weigh: bool = True,
) -> Ingested:
    """Take transcripts in, alone on this machine; then digest what is due, and keep to the budget.

    Weighing all digests reads them all: who looks every ten minutes leaves that to others.
    """
    with Turn(hub.settings.home), _without_collector():
        sources = list(found)
        learnt = redactor(hub, make=not dry_run)
        run = Sweep(hub, learnt, dry_run=dry_run, again=again)
        try:
            run.run(sources, progress, all_known=all_known)
        except StoreFull:
            if not _make_room(hub):
                raise
            run = Sweep(hub, learnt, dry_run=dry_run, again=again)
            run.run(sources, progress, all_known=all_known)
        if dry_run:
            return _report(run, 0, None)
        if all_known:
            take_in_guides(hub, learnt)
        known_secrets.keep(hub.settings.home, learnt)
        if hub.engine.dialect == "sqlite":
            ballast.keep(hub.settings.home)
        analyzed = {*run.writer.changed, *remake_due(hub)}
        exchange_due(hub)
        make_findable(hub)
        kept = retention.evict(hub, whole=all_known and weigh)
        bring_up_to_date(hub, embed="fast")
        return _report(run, len(analyzed), kept)


def _make_room(hub: Hub) -> bool:
    """Drop what the budget says although the disk is full; tell whether that freed anything."""
    if not ballast.give_up(hub.settings.home):
        return False
    freed = retention.evict(hub).freed
    ballast.keep(hub.settings.home)
    return freed > 0


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


def _chosen(hub: Hub, paths: Iterable[str] | None, flavor: str | None, since_hours: float | None) -> list[Source]:
    if paths is not None:
        return _named(paths, list(discover.places(sessions.projects(hub.engine))))
    found = discover.sources(sessions.projects(hub.engine), flavor)
    if since_hours is None:
        return list(found)
    after = hub.now() - int(since_hours * HOUR)
    return [source for source in found if source.changed_at >= after]


def _report(run: Sweep, analyzed: int, kept: Retention | None) -> Ingested:
    return Ingested(
        **run.counts,
        ingested=len(run.read),
        bytes=sum(run.read.values()),
        analyzed=analyzed,
        sessions=len(run.sessions),
        redacted=dict(run.writer.redactor.found),
        failures=run.failures,
        retention=kept,
        dry_run=run.dry_run,
        unread=tuple(run.unread.values()),
    )


def _named(paths: Iterable[str], places: list[tuple[str, Place]]) -> list[Source]:
    """Return the files a person names; of a directory, all that may be transcripts."""
    found: list[Source] = []
    for path in map(os.path.abspath, paths):
        inside = discover.below(path) if os.path.isdir(path) else []
        flavors = {each: discover.flavor_at(each, places) for each in inside or [path]}
        sources = (discover.source(each, flavors[each], expected=bool(flavors[each] or not inside)) for each in flavors)
        here = [each for each in sources if each]
        if not here:
            raise InvalidInput(field="paths", reason=f"there is no file {path!r}.")
        found += here
    return found
