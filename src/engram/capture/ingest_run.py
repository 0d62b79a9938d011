"""One ingest run: choose transcripts, read them, update digests, enforce the storage budget."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from engram.agents.transcripts.adapter import Place
from engram.agents.transcripts.registry import load_adapters
from engram.capture import discover
from engram.capture.case_index import index_cases
from engram.capture.checkout_upkeep import update_checkouts
from engram.capture.commits import read_all_commits
from engram.capture.digests import retention
from engram.capture.digests.passage import index_digests
from engram.capture.digests.rebuild import PASS_BYTES, list_outdated, rebuild_due
from engram.capture.discover import TranscriptFile
from engram.capture.exchange_backfill import backfill_exchanges
from engram.capture.guides import ingest_guides
from engram.capture.ingest_report import Ingested, Retention
from engram.capture.sweep import Progress, Sweep
from engram.capture.sweep_lock import SweepLock
from engram.clock import HOUR
from engram.errors import InvalidInput, StoreFull
from engram.hub import Hub
from engram.index.maintenance import update_index
from engram.redaction import known_secrets
from engram.redaction.store_redactor import load_hub_redactor
from engram.sessions.checkouts import list_project_directories
from engram.store import reserve_file


def run_sweep(
    hub: Hub,
    *,
    paths: Iterable[str] | None = None,
    flavor: str | None = None,
    since_hours: float | None = None,
    dry_run: bool = False,
    again: bool = False,
    progress: Progress | None = None,
) -> Ingested:
    """Ingest transcripts and return a report."""
    if flavor is not None and flavor not in load_adapters():
        raise InvalidInput(
            field="flavor", reason=f"Unknown value {flavor!r}. Choose one of: {', '.join(sorted(load_adapters()))}."
        )
    everything = paths is None and flavor is None and since_hours is None
    transcripts = _choose_transcripts(hub, paths, flavor, since_hours)
    return ingest_transcripts(hub, transcripts, dry_run=dry_run, again=again, progress=progress, all_known=everything)


def ingest_transcripts(
    hub: Hub,
    transcripts: Iterable[TranscriptFile],
    *,
    dry_run: bool = False,
    again: bool = False,
    progress: Progress | None = None,
    all_known: bool = False,
    weigh: bool = True,
) -> Ingested:
    """Ingest transcripts under the machine's lock, then update digests and enforce the budget.

    Measuring all digests reads every one of them; pass `weigh=False` from runs every ten minutes.
    """
    with SweepLock(hub.settings.home), _pause_garbage_collector():
        sources = list(transcripts)
        store_redactor = load_hub_redactor(hub, make=not dry_run)
        run = Sweep(hub, store_redactor, dry_run=dry_run, again=again)
        try:
            run.run(sources, progress, all_known=all_known)
        except StoreFull:
            if not _make_room(hub):
                raise
            run = Sweep(hub, store_redactor, dry_run=dry_run, again=again)
            run.run(sources, progress, all_known=all_known)
        if dry_run:
            return _build_report(run, 0, None)
        if all_known:
            update_checkouts(hub)
            ingest_guides(hub, store_redactor)
        known_secrets.save_known_hashes(hub.settings.home, store_redactor)
        if hub.engine.dialect == "sqlite":
            reserve_file.reserve_space(hub.settings.home)
        analyzed = {*run.writer.changed, *rebuild_due(hub, PASS_BYTES)}
        backfill_exchanges(hub)
        index_digests(hub)
        read_all_commits(hub, store_redactor)
        index_cases(hub)
        evicted = retention.evict(hub, whole=all_known and weigh)
        update_index(hub, embed="fast")
        return _build_report(run, len(analyzed), evicted, len(list_outdated(hub)))


def _make_room(hub: Hub) -> bool:
    """Evict bodies to free space on a full disk; return whether that freed anything."""
    if not reserve_file.free_space(hub.settings.home):
        return False
    freed = retention.evict(hub).freed
    reserve_file.reserve_space(hub.settings.home)
    return freed > 0


@contextmanager
def _pause_garbage_collector() -> Iterator[None]:
    """Disable the garbage collector: an ingest creates millions of objects but no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _choose_transcripts(
    hub: Hub, paths: Iterable[str] | None, flavor: str | None, since_hours: float | None
) -> list[TranscriptFile]:
    if paths is not None:
        return _find_named(paths, list(discover.iter_places(list_project_directories(hub))))
    transcripts = discover.iter_transcripts(list_project_directories(hub), flavor)
    if since_hours is None:
        return list(transcripts)
    after = hub.now() - int(since_hours * HOUR)
    return [source for source in transcripts if source.changed_at >= after]


def _build_report(run: Sweep, analyzed: int, evicted: Retention | None, outdated: int = 0) -> Ingested:
    return Ingested(
        **run.counts,
        ingested=len(run.read),
        bytes=sum(run.read.values()),
        analyzed=analyzed,
        sessions=len(run.sessions),
        agents=dict(sorted(Counter(name.partition(":")[0] for name in run.sessions).items())),
        redacted=dict(run.writer.redactor.rule_counts),
        failures=run.failures,
        retention=evicted,
        dry_run=run.dry_run,
        unread=tuple(run.unread.values()),
        unrecognized=tuple(run.unrecognized),
        outdated=outdated,
    )


def _find_named(paths: Iterable[str], places: list[tuple[str, Place]]) -> list[TranscriptFile]:
    """Return the files the user named; for a directory, all possible transcripts in it."""
    transcripts: dict[str, TranscriptFile] = {}
    for path in map(os.path.abspath, paths):
        is_directory = os.path.isdir(path)
        flavors = {
            item: discover.find_flavor(item, places)
            for item in (discover.list_candidates_below(path) if is_directory else [path])
        }
        sources = (
            discover.stat_transcript(item, flavors[item], expected=bool(flavors[item] or not is_directory))
            for item in flavors
        )
        existing = {item.path: item for item in sources if item}
        if not existing and not is_directory:
            raise InvalidInput(field="paths", reason=f"No such file: {path!r}.")
        transcripts |= existing
    return list(transcripts.values())
