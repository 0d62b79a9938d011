"""Check the store: everything that should be here is, and is what it says."""

from __future__ import annotations

from typing import Annotated

from engram.digests.bodies import Bodies
from engram.digests.remake import remake_due
from engram.errors import BodyGone, StoreDamaged
from engram.hub import Hub
from engram.model import Check
from engram.operation import Help, operation
from engram.store import audit, blobs, events, index


@operation(writes=True, agent=False)
def check(
    hub: Hub, repair: Annotated[bool, Help("mend what can be mended: the index, leftovers, digests")] = False
) -> Check:
    """Check every row and body of the store, and name what is wrong."""
    bodies = blobs.Blobs(hub.engine, hub.settings)
    problems = [*audit.structure(hub.engine)]
    named = {row["sha256"]: row for row in blobs.kept(hub.engine)}
    sound = 0
    for name, row in named.items():
        try:
            bodies.get(name)
            sound += 1
        except (BodyGone, StoreDamaged) as problem:
            problems.append(f"session {audit.session_of(hub.engine, row['capture'])}: {problem}")
    leftovers = bodies.names() - set(named) - {row["sha256"] for row in blobs.half_evicted(hub.engine)}
    astray = audit.index_astray(hub.engine)
    mended = _repair(hub, bodies, leftovers, bool(astray)) if repair else []
    if not repair:
        problems += [f"the index does not fit the events ({astray} astray); --repair makes it anew"] if astray else []
    return Check(
        problems=tuple(problems), mended=tuple(mended), bodies=sound, leftovers=len(leftovers),
        **audit.counts(hub.engine),
    )  # fmt: skip


def _repair(hub: Hub, bodies: blobs.Blobs, leftovers: set[str], astray: bool) -> list[str]:
    mended = []
    for name in leftovers:
        bodies.remove(name)
    if leftovers:
        mended.append(f"removed {len(leftovers)} bodies nothing points to")
    if astray:
        mended.append(f"indexed {reindex(hub)} events anew")
    made = sum(1 for _ in remake_due(hub))
    if made:
        mended.append(f"made {made} digests anew")
    return mended


def reindex(hub: Hub) -> int:
    """Make the full-text index anew from the bodies."""
    from engram.capture.batch import found_by

    done = 0
    reader = Bodies(hub)
    with hub.engine.transaction():
        index.clear(hub.engine)
        for capture in events.each_capture(hub.engine):
            rows = []
            for row in events.of_capture(hub.engine, capture):
                try:
                    event = reader.event(row)
                except (BodyGone, StoreDamaged):
                    continue
                rows.append({"id": row["id"], "words": found_by(event)})
            index.add(hub.engine, rows)
            done += len(rows)
    return done
