"""Check the store: everything that should be here is, and is what it says."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

from engram.capture.turn import Turn
from engram.errors import BodyGone, RepairRefused, StoreDamaged
from engram.hub import Hub
from engram.index.index import astray as astray_docs
from engram.index.index import bring_up_to_date
from engram.model import Check
from engram.operation import Help, operation
from engram.store import audit, blobs, event_words, events, usage
from engram.text import counted

if TYPE_CHECKING:
    from engram.digests.bodies import Bodies


@operation(writes=True, agent=False)
def check(
    hub: Hub, repair: Annotated[bool, Help("repair what can be repaired: the index, leftovers, digests")] = False
) -> Check:
    """Check every row and body of the store, and name what is wrong."""
    if not repair:
        return _checked(hub, repair)
    with Turn(hub.settings.home):  # what a sweep has just put is no leftover
        mended = _checked(hub, repair).mended
        left = _checked(hub, repair=False)
        return Check(**{**vars(left), "mended": mended})


def _checked(hub: Hub, repair: bool) -> Check:
    bodies = blobs.Blobs(hub.engine, hub.settings)
    problems = [*audit.structure(hub.engine)]
    lying = bodies.names()  # before the rows: what comes meanwhile is no leftover
    orphaned = bool(lying) and not blobs.any_row(hub.engine)
    if orphaned and repair:
        raise RepairRefused(
            directory=bodies.directory, bodies=counted(len(lying), "body", "bodies"), store=hub.engine.store
        )
    named: dict[str, set[int]] = {}
    for row in blobs.kept(hub.engine):
        named.setdefault(row["sha256"], set()).add(row["capture"])
    returned = _bring_back(bodies, named) if repair else 0
    wrong = {name: problem for name in named if (problem := _wrong(hub, bodies, name))}
    problems += [
        f"session {audit.session_of(hub.engine, capture)}: {problem}"
        for name, problem in wrong.items()
        for capture in sorted(named[name])
    ]
    leftovers = lying - set(named) - {row["sha256"] for row in blobs.half_evicted(hub.engine)}
    unfinished = bodies.unfinished()
    if orphaned:
        found = counted(len(lying), "body", "bodies")
        problems.append(f"no session of this database refers to the {found} in {bodies.directory}; put theirs back")
    mended = [*_repair(hub, bodies, leftovers, unfinished), *_mended(hub)] if repair else []
    mended += [f"brought {counted(returned, 'body', 'bodies')} back from quarantine"] if returned else []
    problems += [] if repair else _unfit(hub)
    return Check(
        problems=tuple(problems), mended=tuple(mended), bodies=len(named) - len(wrong),
        leftovers=0 if orphaned else len(leftovers) + len(unfinished), quarantined=len(bodies.quarantined()),
        **audit.counts(hub.engine),
    )  # fmt: skip


def _unfit(hub: Hub) -> Iterator[str]:
    """Yield what does not fit the rows it was made of."""
    if astray := audit.index_astray(hub.engine):
        yield f"the index does not fit the events ({astray} astray); --repair makes it anew"
    if unfit := astray_docs(hub):
        yield f"the index does not fit what was said ({unfit} astray); --repair makes it anew"
    if summed := usage.astray(hub.engine):
        yield f"the tokens of {counted(len(summed), 'session')} are added up wrong; --repair adds them up anew"


def _mended(hub: Hub) -> Iterator[str]:
    """Make anew what does not fit the rows it was made of."""
    if audit.index_astray(hub.engine):
        yield f"indexed {reindex(hub)} events anew"
    if astray_docs(hub):
        made = bring_up_to_date(hub, rebuild=True, embed="fast").indexed
        yield f"indexed {made} exchanges and passages anew"
    if summed := usage.astray(hub.engine):
        with hub.engine.transaction():
            usage.add_up_all(hub.engine, summed)
        yield f"added up the tokens of {counted(len(summed), 'session')} anew"


def _wrong(hub: Hub, bodies: blobs.Blobs, name: str) -> BodyGone | StoreDamaged | None:
    """Return what is wrong with a body; one dropped meanwhile is not missed."""
    try:
        bodies.get(name)
    except (BodyGone, StoreDamaged) as problem:
        return problem if blobs.still_named(hub.engine, name) else None
    return None


def _bring_back(bodies: blobs.Blobs, named: Iterable[str]) -> int:
    """Bring back what an earlier repair moved aside and the rows name after all; return how many."""
    needed = bodies.quarantined().intersection(named)
    for name in needed:
        bodies.bring_back(name)
    return len(needed)


def _repair(hub: Hub, bodies: blobs.Blobs, leftovers: set[str], unfinished: list[str]) -> Iterator[str]:
    from engram.digests.remake import remake_due

    for name in leftovers:
        bodies.quarantine(name)
    if leftovers:
        yield f"moved {counted(len(leftovers), 'body', 'bodies')} that nothing points to into quarantine"
    for path in unfinished:
        os.unlink(path)
    if unfinished:
        yield f"removed {counted(len(unfinished), 'file')} whose writing was broken off"
    with hub.engine.transaction():
        off = blobs.recount(hub.engine)
    if off:
        yield f"counted the kept bodies anew, {off:+,} bytes"
    made = sum(1 for _ in remake_due(hub))
    if made:
        yield f"made {made} digests anew"


def reindex(hub: Hub) -> int:
    """Make the full-text index anew from the bodies."""
    from engram.digests.bodies import Bodies

    done = 0
    reader = Bodies(hub)
    with hub.engine.transaction():
        event_words.clear(hub.engine)
    for capture in events.each_capture(hub.engine):
        kept = (row for row in events.of_capture(hub.engine, capture) if row["evicting_at"] is None)
        rows = [{"id": row["id"], "words": _words(reader, row)} for row in kept]
        with hub.engine.transaction():  # one session at a time: others write as well
            event_words.add(hub.engine, rows)
        done += len(rows)
    return done


def _words(reader: Bodies, row: dict[str, Any]) -> str:
    """Return what an event is found by; one without its body is not missing in the index, but found by nothing."""
    from engram.capture.batch import found_by

    try:
        return found_by(reader.event(row))
    except (BodyGone, StoreDamaged):
        return ""
