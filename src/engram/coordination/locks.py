"""Locks: who may touch what, decided in one write transaction."""

from __future__ import annotations

import os

from engram import program_log
from engram.clock import SECOND
from engram.coordination import holds, sessions
from engram.coordination.claims import Claim, within
from engram.coordination.gate import Gate
from engram.coordination.overlap import overlaps
from engram.errors import InvalidInput
from engram.operation import Help, operation
from engram.store import locks as store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from engram.errors import Held
    from engram.hub import Hub
    from engram.model import Lock

_LONGEST_WAIT = 24 * 3600
_MANY = 10_000
_EVER = -1 << 62  # before any lock lapsed
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.25


@operation(writes=True)
def lock_resource(
    hub: Hub,
    session_id: Annotated[str, Help("the session that will hold it")],
    resource: Annotated[str, Help("file, directory, glob or name to hold")],
    note: Annotated[str | None, Help("why, for those who are refused")] = None,
    mode: Annotated[str, Help("exclusive, shared (others may share too) or announce (refuses nobody)")] = "exclusive",
    minutes: Annotated[float | None, Help("lapses after so long without a sign of life")] = None,
    wait: Annotated[float, Help("seconds to wait while somebody else holds it")] = 0,
    cwd: Annotated[str | None, Help("where relative paths start, if not at the session's directory")] = None,
) -> Lock:
    """Take a lock on a resource, or learn who holds it."""
    return lock_resources(hub, session_id, [resource], note, mode, minutes, wait, cwd)[0]


@operation(writes=True)
def lock_resources(
    hub: Hub,
    session_id: Annotated[str, Help("the session that will hold them")],
    resources: Annotated[list[str], Help("files, directories, globs or names: all of them or none")],
    note: Annotated[str | None, Help("why, for those who are refused")] = None,
    mode: Annotated[str, Help("exclusive, shared (others may share too) or announce (refuses nobody)")] = "exclusive",
    minutes: Annotated[float | None, Help("lapses after so long without a sign of life")] = None,
    wait: Annotated[float, Help("seconds to wait while somebody else holds one")] = 0,
    cwd: Annotated[str | None, Help("where relative paths start, if not at the session's directory")] = None,
) -> list[Lock]:
    """Take locks on several resources, all or nothing."""
    claim = Claim(hub, session_id, resources, note, mode, minutes, cwd)
    deadline = hub.steady() + int(within("wait", wait, 0, _LONGEST_WAIT) * SECOND)
    pause = _FIRST_PAUSE
    refusal = claim.attempt(record=True)
    _warn(claim.granted, refusal)
    try:
        while refusal is not None and hub.steady() < deadline:
            claim.show_waiting(deadline)
            hub.clock.sleep(pause * (0.5 + os.urandom(1)[0] / 255))
            pause = min(pause * 1.5, _LONGEST_PAUSE)
            refusal = claim.attempt(record=False)
    finally:
        claim.stop_waiting()
    if refusal is not None:
        raise refusal
    return claim.granted


def _warn(granted: list[Lock], refusal: Held | None) -> None:
    """Tell the program's log who else is on the same ground."""
    found = [(refusal.resource, refusal.locks)] if refusal else [(lock.resource, lock.overlaps) for lock in granted]
    for resource, others in found:
        if others:
            holders = ", ".join(lock.session_id for lock in others)
            program_log.warning(f"Resource {resource!r} already locked by: {holders}")


@operation(writes=True)
def release_resource(
    hub: Hub,
    session_id: Annotated[str, Help("the session that holds it")],
    resource: Annotated[str, Help("what to let go of")],
    token: Annotated[int | None, Help("only if this is still its token")] = None,
    cwd: Annotated[str | None, Help("where relative paths start, if not at the session's directory")] = None,
) -> list[Lock]:
    """Let go of a lock; letting go of what is not held changes nothing."""
    session_id = sessions.require(hub, session_id)["id"]
    with Gate(hub, session_id, token):
        session = sessions.touch(hub, session_id)
        wanted = holds.canonical(hub, session, resource, cwd)
        freed = [row for row in store.of_session(hub.engine, session_id) if row["name"] == wanted.name]
        if token is not None and token not in {row["token"] for row in freed}:
            raise InvalidInput(field="token", reason=f"{token} is not the token of a lock on {wanted.name}.")
        for row in freed:
            store.delete(hub.engine, row["token"])
        at = hub.instant()
    return [holds.view(row, at, live=False) for row in freed]


@operation(writes=True)
def release_all(hub: Hub, session_id: Annotated[str, Help("the session that lets go")]) -> list[Lock]:
    """Let go of everything a session holds."""
    session_id = sessions.require(hub, session_id)["id"]
    with Gate(hub, session_id):
        sessions.touch(hub, session_id)
        freed = store.of_session(hub.engine, session_id)
        store.delete_all(hub.engine, session_id)
        at = hub.instant()
    return [holds.view(row, at, live=False) for row in freed]


@operation()
def check_locks(
    hub: Hub,
    resource: Annotated[str, Help("file, directory, glob or name to ask about")],
    session_id: Annotated[str | None, Help("who asks; gives relative paths and names their place")] = None,
    cwd: Annotated[str | None, Help("where relative paths start")] = None,
) -> list[Lock]:
    """Show every live lock that overlaps a resource, with its holder's task."""
    session = sessions.require(hub, session_id) if session_id else None
    wanted = holds.canonical(hub, session, resource, cwd)
    at = hub.instant()
    live = [row for row in holds.around(hub, wanted) if holds.lapse(row, at) is None]
    return [holds.view(row, at, holds.waiters(hub, row, at)) for row in live]


@operation()
def list_locks(
    hub: Hub,
    project: Annotated[str | None, Help("only this project")] = None,
    limit: Annotated[int, Help("at most so many")] = 1000,
    lapsed: Annotated[bool, Help("only those that lapsed or whose holder is gone, and that nobody took over")] = False,
) -> list[Lock]:
    """Show all live locks, newest first, with those who wait for them."""
    at = hub.instant()
    limit = sessions.positive("limit", limit)
    rows = store.every(hub.engine, sessions.room(project), _EVER if lapsed else at.steady, max(limit, _MANY))
    # before the cut: the dead must not hide the living
    found = [row for row in rows if (holds.lapse(row, at) is not None) == lapsed][:limit]
    return [holds.view(row, at, holds.waiters(hub, row, at), live=not lapsed) for row in found]


@operation(writes=True)
def check_edit(
    hub: Hub,
    session_id: Annotated[str, Help("the session about to write")],
    resource: Annotated[str, Help("what it is about to write")],
    token: Annotated[int | None, Help("the token it relies on")] = None,
    cwd: Annotated[str | None, Help("where relative paths start, if not at the session's directory")] = None,
) -> list[Lock]:
    """Pass if a session may write a resource now; refuse if another holds it or its own lock was lost."""
    session_id = sessions.require(hub, session_id)["id"]
    with Gate(hub, session_id, token):
        session = sessions.touch(hub, session_id)
        at = hub.instant()
        wanted = holds.canonical(hub, session, resource, cwd)
        rivals = holds.rivals(holds.around(hub, wanted), session_id, "exclusive", at)
        alive = [rival for rival in rivals if rival["lapse"] is None]
        refusal = holds.refusal(hub, session_id, wanted, alive, at, record=True) if alive else None
    if refusal is not None:
        raise refusal
    own = store.of_session(hub.engine, session_id)
    return [holds.view(row, at) for row in own if overlaps(wanted, holds.resource_of(row))]
