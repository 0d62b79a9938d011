"""The state of locks at one instant: overlaps, conflicts and refusals."""

from __future__ import annotations

from engram.clock import to_datetime
from engram.errors import Held
from engram.platform import host, text
from engram.redaction.store_redactor import remove_secrets_from_name
from engram.sessions import checkouts, lifecycle, resources
from engram.sessions.overlap import resources_overlap
from engram.store import activity, locks
from engram.types import Lock, Resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.clock import Instant
    from engram.hub import Hub
    from engram.store.engine import Row

_SUMMARY = 34  # characters in a refusal, which some agents cut after 200


def to_lock(
    row: Row, instant: Instant, waiters: tuple[str, ...] = (), overlapping: tuple[Lock, ...] = (), *,
    live: bool = True, clones: tuple[Lock, ...] = (),
) -> Lock:  # fmt: skip
    """Turn a stored row into the value users see."""
    return Lock(
        resource=row["name"],
        kind=row["kind"],
        mode=row["mode"],
        session_id=row["session_id"],
        token=row["token"],
        note=row["note"],
        locked_at=to_datetime(row["locked_at"]),
        until=to_datetime(instant.now + row["expires_at"] - instant.steady),
        live=live,
        project=row["project"],
        flavor=row["flavor"],
        session_type=row["session_type"],
        summary=row["summary"],
        waiters=waiters,
        overlaps=overlapping,
        clones=clones,
    )


def resolve_resource(hub: Hub, session: Row | None, resource: str, cwd: str | None) -> Resource:
    """Resolve a resource name relative to `cwd` or the session's directory."""
    if cwd is None:
        cwd = session["cwd"] if session else (None if hub.serving else host.get_working_directory())
    elif cwd:
        cwd = text.validate_name("cwd", cwd)
    resource = remove_secrets_from_name(hub, text.validate_name("resource", resource))
    return resources.parse_resource(resource, cwd, session["project"] if session else checkouts.find_project(hub, cwd))


def find_overlapping_locks(hub: Hub, resource: Resource) -> list[Row]:
    """Return every lock that overlaps a resource, of any session, expired or not."""
    return [
        row for row in locks.find_nearby(hub.engine, resource) if resources_overlap(resource, resource_from_row(row))
    ]


def find_rivals(hub: Hub, session: Row, rows: list[Row], mode: str, instant: Instant) -> list[Row]:
    """Return conflicting locks of other sessions, each with the reason it may be taken over, if any."""
    return [
        {**row, "lapse": explain_lapse(row, instant)}
        for row in rows
        if row["session_id"] != session["id"]
        and _is_conflict(mode, row["mode"])
        and not is_on_other_machine(hub, session, row)
    ]


def is_on_other_machine(hub: Hub, session: Row, row: Row) -> bool:
    """Return whether a lock is on a file of another machine, which may have the same path here."""
    return hub.engine.dialect != "sqlite" and row["kind"] != "name" and bool(row["host"] != session["host"])


def list_live_overlaps(hub: Hub, session: Row, rows: list[Row], instant: Instant) -> tuple[Lock, ...]:
    """Return live locks of other sessions that overlap."""
    return tuple(
        to_lock(row, instant)
        for row in rows
        if row["session_id"] != session["id"]
        and explain_lapse(row, instant) is None
        and not is_on_other_machine(hub, session, row)
    )


def explain_lapse(row: Row, instant: Instant) -> str | None:
    """Return why a lock may be taken over, or None while it is valid."""
    if row["expires_at"] <= instant.steady:
        return "it expired without a heartbeat"
    process = lifecycle.process_from_row(row)
    if process is not None and host.is_alive(process) is False:
        return "its process was gone"
    return None


def find_waiters(hub: Hub, row: Row, instant: Instant) -> tuple[str, ...]:
    """Return the sessions that wait for a locked resource."""
    resource = resource_from_row(row)
    return tuple(
        waiter["session_id"]
        for waiter in locks.find_nearby(hub.engine, resource, "waiters")
        if waiter["expires_at"] > instant.steady
        and waiter["session_id"] != row["session_id"]
        and resources_overlap(resource, resource_from_row(waiter))
    )


def build_refusal(
    hub: Hub, session_id: str, resource: Resource, live_locks: list[Row], instant: Instant, *, record: bool
) -> Held:
    """Return a refusal that names the lock with the latest expiry, and record it."""
    longest = max(live_locks, key=lambda row: row["expires_at"])
    waiter_ids = find_waiters(hub, longest, instant)
    if record:
        activity.record(
            hub.engine, instant.now, "refused", resource.name, session_id=session_id, project=longest["project"],
            holder=longest["session_id"], token=longest["token"],
        )  # fmt: skip
    time_left = longest["expires_at"] - instant.steady
    others = _describe_others(len(live_locks) - 1, len([waiter for waiter in waiter_ids if waiter != session_id]))
    return Held(
        resource=resource.name,
        holder=longest["session_id"],
        flavor=longest["flavor"],
        summary=text.escape_inline(longest["summary"], _SUMMARY),
        note=longest["note"],
        note_text=f', note "{text.escape_inline(longest["note"])}"' if longest["note"] else "",
        held=longest["name"],
        held_text=f" through its lock on {longest['name']}" if longest["name"] != resource.name else "",
        until=to_datetime(instant.now + time_left),
        left=text.format_time_left(time_left),
        token=longest["token"],
        others_text=others,
        waiters=waiter_ids,
        locks=tuple(to_lock(row, instant) for row in live_locks),
    )


def resource_from_row(row: Row) -> Resource:
    """Return the resource of a lock or waiter."""
    return Resource(kind=row["kind"], name=row.get("name", ""), base=row["base"], pattern=row["pattern"])


def _is_conflict(mode: str, other_mode: str) -> bool:
    return "announce" not in (mode, other_mode) and "exclusive" in (mode, other_mode)


def _describe_others(holders: int, waiting: int) -> str:
    parts = [f"{holders} more locks on part of it"] if holders else []
    parts += [f"{waiting} waiting"] if waiting else []
    return "".join(f"; {part}" for part in parts)
