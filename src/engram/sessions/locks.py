"""Locks: take, release, list and check; each decision is one write transaction."""

from __future__ import annotations

import os

from engram.clock import SECOND
from engram.errors import InvalidInput
from engram.operation import Help, operation
from engram.platform import program_log
from engram.sessions import lifecycle, lock_view
from engram.sessions.fencing import FencedTransaction
from engram.sessions.lock_requests import MODES, LockRequest, require_between
from engram.sessions.overlap import resources_overlap
from engram.store import locks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from engram.errors import Held
    from engram.hub import Hub
    from engram.types import Lock

_LONGEST_WAIT = 24 * 3600
_MANY = 10_000
_EVER = -1 << 62  # earlier than any expiry
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.25


@operation(writes=True, choices=lambda: {"mode": MODES})
def lock_resource(
    hub: Hub,
    session_id: Annotated[str, Help("session that takes the lock")],
    resource: Annotated[str, Help("file, directory, glob or any other name to lock")],
    note: Annotated[str | None, Help("reason, shown to sessions that are refused")] = None,
    mode: Annotated[
        str, Help("kind of lock: exclusive, shared (others may share it) or announce (blocks no one)")
    ] = "exclusive",
    minutes: Annotated[float | None, Help("minutes without a heartbeat after which it expires")] = None,
    wait: Annotated[float, Help("seconds to wait if it is locked")] = 0,
    cwd: Annotated[str | None, Help("base of relative paths; default: the session's directory")] = None,
) -> Lock:
    """Lock a resource, or report who holds it."""
    return lock_resources(hub, session_id, [resource], note, mode, minutes, wait, cwd)[0]


@operation(writes=True, choices=lambda: {"mode": MODES})
def lock_resources(
    hub: Hub,
    session_id: Annotated[str, Help("session that takes the locks")],
    resources: Annotated[list[str], Help("files, directories, globs or names; all are locked or none")],
    note: Annotated[str | None, Help("reason, shown to sessions that are refused")] = None,
    mode: Annotated[
        str, Help("kind of lock: exclusive, shared (others may share it) or announce (blocks no one)")
    ] = "exclusive",
    minutes: Annotated[float | None, Help("minutes without a heartbeat after which they expire")] = None,
    wait: Annotated[float, Help("seconds to wait if one is locked")] = 0,
    cwd: Annotated[str | None, Help("base of relative paths; default: the session's directory")] = None,
) -> list[Lock]:
    """Lock one or more resources; if one is taken, none is locked."""
    request = LockRequest(hub, session_id, resources, note, mode, minutes, cwd)
    deadline = hub.steady() + int(require_between("wait", wait, 0, _LONGEST_WAIT) * SECOND)
    pause = _FIRST_PAUSE
    refusal = request.attempt(record=True)
    _warn_of_overlaps(request.granted, refusal)
    try:
        while refusal is not None and hub.steady() < deadline:
            request.show_waiting(deadline)
            hub.clock.sleep(pause * (0.5 + os.urandom(1)[0] / 255))
            pause = min(pause * 1.5, _LONGEST_PAUSE)
            refusal = request.attempt(record=False)
    finally:
        request.stop_waiting()
    if refusal is not None:
        raise refusal
    return request.granted


def _warn_of_overlaps(granted: list[Lock], refusal: Held | None) -> None:
    """Log a warning for every resource that others have locked as well."""
    overlaps = [(refusal.resource, refusal.locks)] if refusal else [(lock.resource, lock.overlaps) for lock in granted]
    for resource, holding in overlaps:
        if holding:
            holders = ", ".join(lock.session_id for lock in holding)
            program_log.warning(f"Resource {resource!r} already locked by: {holders}")


@operation(writes=True)
def release_resource(
    hub: Hub,
    session_id: Annotated[str, Help("session that holds the lock")],
    resource: Annotated[str, Help("locked resource to release")],
    token: Annotated[int | None, Help("release only if this is still its token")] = None,
    cwd: Annotated[str | None, Help("base of relative paths; default: the session's directory")] = None,
) -> list[Lock]:
    """Release a lock; does nothing if the session does not hold it."""
    session_id = lifecycle.require_session(hub, session_id)["id"]
    with FencedTransaction(hub, session_id, token):
        session = lifecycle.touch_session(hub, session_id)
        target = lock_view.resolve_resource(hub, session, resource, cwd)
        released = [row for row in locks.list_by_session(hub.engine, session_id) if row["name"] == target.name]
        if token is not None and token not in {row["token"] for row in released}:
            raise InvalidInput(field="token", reason=f"{token} is not the token of a lock on {target.name}.")
        for row in released:
            locks.delete(hub.engine, row["token"])
        instant = hub.instant()
    return [lock_view.to_lock(row, instant, live=False) for row in released]


@operation(writes=True)
def release_all(hub: Hub, session_id: Annotated[str, Help("session whose locks are released")]) -> list[Lock]:
    """Release all locks of a session."""
    session_id = lifecycle.require_session(hub, session_id)["id"]
    with FencedTransaction(hub, session_id):
        lifecycle.touch_session(hub, session_id)
        released = locks.list_by_session(hub.engine, session_id)
        locks.delete_all(hub.engine, session_id)
        instant = hub.instant()
    return [lock_view.to_lock(row, instant, live=False) for row in released]


@operation()
def check_locks(
    hub: Hub,
    resource: Annotated[str, Help("file, directory, glob or name to check")],
    session_id: Annotated[str | None, Help("session that asks; relative paths start at its directory")] = None,
    cwd: Annotated[str | None, Help("base of relative paths")] = None,
) -> list[Lock]:
    """Show every live lock that overlaps a resource, with what its holder is doing."""
    session = lifecycle.require_session(hub, session_id) if session_id else None
    target = lock_view.resolve_resource(hub, session, resource, cwd)
    instant = hub.instant()
    live = [
        row for row in lock_view.find_overlapping_locks(hub, target) if lock_view.explain_lapse(row, instant) is None
    ]
    return [lock_view.to_lock(row, instant, lock_view.find_waiters(hub, row, instant)) for row in live]


@operation()
def list_locks(
    hub: Hub,
    project: Annotated[str | None, Help("only locks in this project")] = None,
    limit: Annotated[int, Help("maximum number to show")] = 1000,
    lapsed: Annotated[bool, Help("only expired locks, and locks whose holder is gone")] = False,
) -> list[Lock]:
    """Show live locks, newest first, with the sessions that wait for them."""
    instant = hub.instant()
    limit = lifecycle.require_positive("limit", limit)
    rows = locks.list_unlapsed(
        hub.engine, lifecycle.parse_project_filter(project), _EVER if lapsed else instant.steady, max(limit, _MANY)
    )
    # filter before the limit, so that expired locks do not crowd out live ones
    chosen = [row for row in rows if (lock_view.explain_lapse(row, instant) is not None) == lapsed][:limit]
    return [
        lock_view.to_lock(row, instant, lock_view.find_waiters(hub, row, instant), live=not lapsed) for row in chosen
    ]


@operation(writes=True)
def check_edit(
    hub: Hub,
    session_id: Annotated[str, Help("session about to write")],
    resource: Annotated[str, Help("resource it is about to write")],
    token: Annotated[int | None, Help("fencing token of the lock it relies on")] = None,
    cwd: Annotated[str | None, Help("base of relative paths; default: the session's directory")] = None,
) -> list[Lock]:
    """Check whether a session may write a resource now; refuse if another session holds it or its own lock was lost."""
    session_id = lifecycle.require_session(hub, session_id)["id"]
    with FencedTransaction(hub, session_id, token):
        session = lifecycle.touch_session(hub, session_id)
        instant = hub.instant()
        target = lock_view.resolve_resource(hub, session, resource, cwd)
        rows = lock_view.find_overlapping_locks(hub, target)
        rivals = lock_view.find_rivals(hub, session, rows, "exclusive", instant)
        live_rivals = [rival for rival in rivals if rival["lapse"] is None]
        refusal = (
            lock_view.build_refusal(hub, session_id, target, live_rivals, instant, record=True) if live_rivals else None
        )
    if refusal is not None:
        raise refusal
    own = locks.list_by_session(hub.engine, session_id)
    return [
        lock_view.to_lock(row, instant) for row in own if resources_overlap(target, lock_view.resource_from_row(row))
    ]
