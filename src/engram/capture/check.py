"""Check that the store is complete and consistent."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

from engram.capture.sweep_lock import SweepLock
from engram.errors import BodyGone, RepairRefused, StoreDamaged
from engram.hub import Hub
from engram.index.maintenance import count_mismatches as astray_docs
from engram.index.maintenance import update_index
from engram.operation import Help, operation
from engram.platform.text import format_count
from engram.store import blobs, event_words, events, integrity, token_usage
from engram.types import Check

if TYPE_CHECKING:
    from engram.capture.digests.event_bodies import EventBodies


@operation(writes=True, agent=False)
def check(hub: Hub, repair: Annotated[bool, Help("repair the index, the digests and leftover files")] = False) -> Check:
    """Check every row and body of the store and report problems."""
    if not repair:
        return _run_check(hub, repair)
    with SweepLock(hub.settings.home):  # a body that an ingest is just storing is not a leftover
        mended = _run_check(hub, repair).mended
        remaining = _run_check(hub, repair=False)
        return Check(**{**vars(remaining), "mended": mended})


def _run_check(hub: Hub, repair: bool) -> Check:
    bodies = blobs.BlobStore(hub.engine, hub.settings)
    problems = [*integrity.find_structure_problems(hub.engine)]
    stored_names = bodies.list_names()  # before the rows: bodies added meanwhile are not leftovers
    orphaned = 0 if blobs.has_rows(hub.engine) else bodies.count_older_than_database()
    if orphaned and repair:
        raise RepairRefused(
            directory=bodies.directory, bodies=format_count(orphaned, "body", "bodies"), store=hub.engine.store
        )
    captures_by_body: dict[str, set[int]] = {}
    for row in blobs.list_kept(hub.engine):
        captures_by_body.setdefault(row["sha256"], set()).add(row["capture"])
    returned = _restore_quarantined(bodies, captures_by_body) if repair else 0
    problem_by_body = {name: problem for name in captures_by_body if (problem := _check_body(hub, bodies, name))}
    problems += [
        f"session {integrity.find_session_id(hub.engine, capture)}: {problem}"
        for name, problem in problem_by_body.items()
        for capture in sorted(captures_by_body[name])
    ]
    leftovers = stored_names - set(captures_by_body) - {row["sha256"] for row in blobs.list_half_evicted(hub.engine)}
    unfinished = bodies.list_unfinished_files()
    if orphaned:
        body_count = format_count(orphaned, "body", "bodies")
        problems.append(
            f"no session in this database refers to the {body_count} in {bodies.directory}; restore their database"
        )
    mended = [*_repair_bodies(hub, bodies, leftovers, unfinished), *_rebuild_mismatched(hub)] if repair else []
    mended += [f"restored {format_count(returned, 'body', 'bodies')} from quarantine"] if returned else []
    problems += [] if repair else _find_mismatches(hub)
    return Check(
        problems=tuple(problems), mended=tuple(mended), bodies=len(captures_by_body) - len(problem_by_body),
        leftovers=0 if orphaned else len(leftovers) + len(unfinished), quarantined=len(bodies.list_quarantined()),
        **integrity.count_rows(hub.engine),
    )  # fmt: skip


def _find_mismatches(hub: Hub) -> Iterator[str]:
    """Yield derived data that does not match its rows."""
    if astray := integrity.count_index_mismatches(hub.engine):
        yield f"the index does not match the events ({astray} differ); --repair rebuilds it"
    if unfit := astray_docs(hub):
        yield f"the index does not match the exchanges and passages ({unfit} differ); --repair rebuilds it"
    if summed := token_usage.list_wrong_sums(hub.engine):
        yield f"the token sums of {format_count(len(summed), 'session')} are wrong; --repair recomputes them"


def _rebuild_mismatched(hub: Hub) -> Iterator[str]:
    """Rebuild derived data that does not match its rows."""
    if integrity.count_index_mismatches(hub.engine):
        yield f"rebuilt the index of {format_count(reindex_events(hub), 'event')}"
    if astray_docs(hub):
        indexed = update_index(hub, rebuild=True, embed="fast").indexed
        yield f"rebuilt the index of {format_count(indexed, 'exchange or passage', 'exchanges and passages')}"
    if summed := token_usage.list_wrong_sums(hub.engine):
        with hub.engine.transaction():
            token_usage.sum_captures(hub.engine, summed)
        yield f"recomputed the token sums of {format_count(len(summed), 'session')}"


def _check_body(hub: Hub, bodies: blobs.BlobStore, name: str) -> BodyGone | StoreDamaged | None:
    """Return what is wrong with a body, or None; a body dropped meanwhile is fine."""
    try:
        bodies.get(name)
    except (BodyGone, StoreDamaged) as problem:
        return problem if blobs.is_needed(hub.engine, name) else None
    return None


def _restore_quarantined(bodies: blobs.BlobStore, names: Iterable[str]) -> int:
    """Restore quarantined bodies that rows refer to, and return how many."""
    needed = bodies.list_quarantined().intersection(names)
    for name in needed:
        bodies.restore_from_quarantine(name)
    return len(needed)


def _repair_bodies(hub: Hub, bodies: blobs.BlobStore, leftovers: set[str], unfinished: list[str]) -> Iterator[str]:
    from engram.capture.digests.rebuild import rebuild_due

    for name in leftovers:
        bodies.quarantine(name)
    if leftovers:
        yield f"moved {format_count(len(leftovers), 'body', 'bodies')} that nothing refers to into quarantine"
    for path in unfinished:
        os.unlink(path)
    if unfinished:
        yield f"removed {format_count(len(unfinished), 'file')} left by an interrupted write"
    with hub.engine.transaction():
        difference = blobs.recount_kept_bytes(hub.engine)
    if difference:
        yield f"corrected the size of the stored bodies by {difference:+,} bytes"
    remade = sum(1 for _ in rebuild_due(hub))
    if remade:
        yield f"rebuilt {format_count(remade, 'digest')}"


def reindex_events(hub: Hub) -> int:
    """Rebuild the full-text index from the bodies."""
    from engram.capture.digests.event_bodies import EventBodies

    done = 0
    reader = EventBodies(hub)
    with hub.engine.transaction():
        event_words.clear_index(hub.engine)
    for capture in events.iterate_captures(hub.engine):
        kept_rows = (row for row in events.list_by_capture(hub.engine, capture) if row["evicting_at"] is None)
        rows = [{"id": row["id"], "words": _load_index_words(reader, row)} for row in kept_rows]
        with hub.engine.transaction():  # one session at a time, to let other writers in
            event_words.index_events(hub.engine, rows)
        done += len(rows)
    return done


def _load_index_words(reader: EventBodies, row: dict[str, Any]) -> str:
    """Return the words to index for an event; without its body, an empty string."""
    from engram.capture.batch import extract_index_words

    try:
        return extract_index_words(reader.load_event(row))
    except (BodyGone, StoreDamaged):
        return ""
