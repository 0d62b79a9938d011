"""The worker: takes in what hooks asked for, one at a time on a machine, and finishes sessions that never ended."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from engram.adapters.registry import adapters
from engram.capture import discover, intake, spool
from engram.capture.discover import Source
from engram.capture.turn import Turn
from engram.clock import MINUTE
from engram.coordination import departed
from engram.errors import SweepRunning
from engram.hub import Hub
from engram.model import Ingested
from engram.store import sessions

_PATIENCE = 120  # seconds to wait for a sweep somebody else runs
_PAUSE = 0.25
_WHOLE = 10 * MINUTE  # between looks at all transcripts


def work(hub: Hub, then: Callable[[list[spool.Request]], object] = lambda _: None) -> list[Ingested]:
    """Take requests until there are none, doing what comes after each round; leave at once if somebody else works."""
    home = hub.settings.home
    made: list[Ingested] = []
    stuck: set[str] = set()  # what cannot be taken: not a file, or not ours to rename
    while found := spool.waiting(home) - stuck:
        try:
            with Turn(home, "spool.lock"):
                requests = list(spool.take(home))
                made += _emptied(hub, requests)
                then(requests)
                stuck |= set() if requests else found
        except SweepRunning:
            break  # whoever holds it looks once more after letting go, and finds what was asked meanwhile
    return made


def catch_up(hub: Hub, *, whole: bool = False) -> list[Ingested]:
    """Take in what was asked for and, if that is due or wanted, all that is new in any transcript."""
    with Turn(hub.settings.home, "spool.lock"):
        return list(_emptied(hub, list(spool.take(hub.settings.home)), whole=whole))


def is_look_due(hub: Hub) -> bool:
    """Tell whether all transcripts were looked at long ago."""
    try:
        looked = os.stat(_marker(hub)).st_mtime_ns // 1000
    except OSError:
        return True
    return not 0 <= hub.now() - looked < _WHOLE


def look_again(hub: Hub) -> None:
    """Let all transcripts be looked at next time, however short ago they were."""
    with suppress(FileNotFoundError):
        os.remove(_marker(hub))


def _emptied(hub: Hub, requests: list[spool.Request], *, whole: bool = False) -> Iterator[Ingested]:
    """Take in all that is asked for in one go, then look at everything if that was long ago."""
    if requests:
        yield _patiently(hub, _sources(hub, requests))
        for each in requests:
            spool.done(each)
    if whole or is_look_due(hub):
        yield _patiently(hub, list(discover.sources(sessions.projects(hub.engine))), all_known=True)
        _looked(hub)
    departed.finish(hub)


def _patiently(hub: Hub, sources: list[Source], *, all_known: bool = False) -> Ingested:
    """Sweep once whoever sweeps now is done."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return intake.take_in(hub, sources, all_known=all_known, weigh=False)
        except SweepRunning:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)


def _sources(hub: Hub, requests: Iterable[spool.Request]) -> list[Source]:
    """Return the transcripts that are asked for: the named ones with what lies beside them, else all of a flavor."""
    found: dict[str, Source] = {}
    projects = sessions.projects(hub.engine)
    whole = {each.flavor for each in requests if each.flavor in adapters() and not _named(each)}
    for flavor in whole:
        found |= {each.path: each for each in discover.sources(projects, flavor)}
    for request in requests:
        if request.flavor not in whole:
            found |= {each.path: each for each in _named(request)}
    return list(found.values())


def _named(request: spool.Request) -> list[Source]:
    """Return the transcript an agent named, and those of its subagents in the folder of its name."""
    if not request.path or request.flavor == "grok":  # it names one file of several
        return []
    folder, ending = os.path.splitext(request.path)
    beside = discover.below(folder, request.flavor) if ending else ()
    named = (discover.source(path, request.flavor) for path in (request.path, *beside))
    return [each for each in named if each is not None]


def _marker(hub: Hub) -> str:
    return os.path.join(hub.settings.home, "spool", "whole")


def _looked(hub: Hub) -> None:
    """Remember that everything is looked at now."""
    os.makedirs(os.path.dirname(_marker(hub)), mode=0o700, exist_ok=True)
    with open(_marker(hub), "w", encoding="ascii"):
        pass
    os.utime(_marker(hub), ns=(hub.now() * 1000, hub.now() * 1000))
