"""The worker: processes capture requests from hooks, one at a time per machine, and completes crashed sessions."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from engram.agents.registry import find_agent
from engram.agents.transcripts.registry import load_adapters
from engram.capture import discover, ingest_run, spool
from engram.capture.discover import TranscriptFile
from engram.capture.ingest_report import Ingested
from engram.capture.sweep_lock import SweepLock
from engram.clock import MINUTE
from engram.errors import SweepRunning
from engram.hub import Hub
from engram.sessions import crashed_sessions
from engram.sessions.checkouts import list_project_directories

_PATIENCE = 120  # seconds to wait for another ingest
_PAUSE = 0.25
_WHOLE = 10 * MINUTE  # between full scans of all transcripts


def run_worker(
    hub: Hub, after_round: Callable[[list[spool.CaptureRequest]], object] = lambda _: None
) -> list[Ingested]:
    """Process requests until none are left, calling `after_round` each time; stop if another worker runs."""
    home = hub.settings.home
    reports: list[Ingested] = []
    stuck: set[str] = set()  # cannot be taken: not a file, or no permission to rename it
    while names := spool.list_waiting(home) - stuck:
        try:
            with SweepLock(home, "spool.lock"):
                requests = list(spool.take_requests(home))
                reports += _ingest_requests(hub, requests)
                after_round(requests)
                stuck |= set() if requests else names
        except SweepRunning:
            break  # the other worker checks the spool again after it releases the lock
    return reports


def ingest_pending(hub: Hub, *, full: bool = False) -> list[Ingested]:
    """Ingest the requested transcripts and, if due or `full`, everything new in any transcript."""
    with SweepLock(hub.settings.home, "spool.lock"):
        return list(_ingest_requests(hub, list(spool.take_requests(hub.settings.home)), full=full))


def is_full_look_due(hub: Hub) -> bool:
    """Return whether the last full scan of all transcripts was long ago."""
    try:
        looked = os.stat(_get_marker_path(hub)).st_mtime_ns // 1000
    except OSError:
        return True
    return not 0 <= hub.now() - looked < _WHOLE


def request_full_look(hub: Hub) -> None:
    """Make the next run scan all transcripts."""
    with suppress(FileNotFoundError):
        os.remove(_get_marker_path(hub))


def _ingest_requests(hub: Hub, requests: list[spool.CaptureRequest], *, full: bool = False) -> Iterator[Ingested]:
    """Ingest all requested transcripts in one batch, then scan everything if that is due."""
    if requests:
        yield _ingest_with_retry(hub, _find_transcripts(hub, requests))
        for request in requests:
            spool.finish_request(request)
    if full or is_full_look_due(hub):
        yield _ingest_with_retry(hub, list(discover.iter_transcripts(list_project_directories(hub))), all_known=True)
        _mark_looked(hub)
    crashed_sessions.complete_crashed_sessions(hub)


def _ingest_with_retry(hub: Hub, sources: list[TranscriptFile], *, all_known: bool = False) -> Ingested:
    """Wait for a running ingest, then ingest."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return ingest_run.ingest_transcripts(hub, sources, all_known=all_known, weigh=False)
        except SweepRunning:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)


def _find_transcripts(hub: Hub, requests: Iterable[spool.CaptureRequest]) -> list[TranscriptFile]:
    """Return the requested transcripts: the named files and their subagents', or all of an agent."""
    by_path: dict[str, TranscriptFile] = {}
    projects = list_project_directories(hub)
    whole_flavors = {item.flavor for item in requests if item.flavor in load_adapters() and not _find_named(item)}
    for flavor in whole_flavors:
        by_path |= {item.path: item for item in discover.iter_transcripts(projects, flavor)}
    for request in requests:
        if request.flavor not in whole_flavors:
            by_path |= {item.path: item for item in _find_named(request)}
    return list(by_path.values())


def _find_named(request: spool.CaptureRequest) -> list[TranscriptFile]:
    """Return the transcript named in a request, and its subagents' in the folder of the same name."""
    agent = find_agent(request.flavor)
    if not request.path or (agent and agent.names_one_transcript_of_many):
        return []
    folder, ending = os.path.splitext(request.path)
    subagent_files = discover.list_files_below(folder, request.flavor) if ending else ()
    candidates = (discover.stat_transcript(path, request.flavor) for path in (request.path, *subagent_files))
    return [transcript for transcript in candidates if transcript is not None]


def _get_marker_path(hub: Hub) -> str:
    return os.path.join(hub.settings.home, "spool", "whole")


def _mark_looked(hub: Hub) -> None:
    """Record the time of this full scan."""
    os.makedirs(os.path.dirname(_get_marker_path(hub)), mode=0o700, exist_ok=True)
    with open(_get_marker_path(hub), "w", encoding="ascii"):
        pass
    os.utime(_get_marker_path(hub), ns=(hub.now() * 1000, hub.now() * 1000))
