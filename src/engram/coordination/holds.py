"""Locks as they stand at one instant: seen, judged, and put into a refusal."""

from __future__ import annotations

from engram import host, text
from engram.clock import moment
from engram.coordination import projects, resources, sessions
from engram.coordination.overlap import overlaps
from engram.errors import Held
from engram.model import Lock, Resource
from engram.redaction.removal import remove_from_name
from engram.store import activity
from engram.store import locks as store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.clock import Instant
    from engram.hub import Hub
    from engram.store.engine import Row


def view(
    row: Row, at: Instant, waiters: tuple[str, ...] = (), overlapping: tuple[Lock, ...] = (), *, live: bool = True
) -> Lock:
    """Turn a stored row into the value users see; whoever knows better says that it is not live."""
    return Lock(
        resource=row["name"], kind=row["kind"], mode=row["mode"], session_id=row["session_id"], token=row["token"],
        note=row["note"], locked_at=moment(row["locked_at"]), until=moment(at.now + row["expires_at"] - at.steady),
        live=live, project=row["project"], flavor=row["flavor"],
        session_type=row["session_type"], summary=row["summary"], waiters=waiters, overlaps=overlapping,
    )  # fmt: skip


def canonical(hub: Hub, session: Row | None, resource: str, cwd: str | None) -> Resource:
    """Return what a session means by a resource, seen from a directory or from its own."""
    if cwd is None:
        cwd = session["cwd"] if session else (None if hub.serving else host.directory())
    elif cwd:
        cwd = text.name("cwd", cwd)
    resource = remove_from_name(hub, text.name("resource", resource))
    return resources.canonical(resource, cwd, session["project"] if session else projects.project_of(cwd))


def around(hub: Hub, wanted: Resource) -> list[Row]:
    """Return every lock on the same ground, whoever's it is and whether it still stands or not."""
    return [row for row in store.near(hub.engine, wanted) if overlaps(wanted, resource_of(row))]


def rivals(rows: list[Row], session_id: str, mode: str, at: Instant) -> list[Row]:
    """Return others' locks that a wish cannot stand beside, each with its reason to be passed over."""
    return [
        {**row, "lapse": lapse(row, at)}
        for row in rows
        if row["session_id"] != session_id and _exclude(mode, row["mode"])
    ]


def beside(rows: list[Row], session_id: str, at: Instant) -> tuple[Lock, ...]:
    """Return others' live locks on the same ground, so that nobody overlaps unwarned."""
    return tuple(view(row, at) for row in rows if row["session_id"] != session_id and lapse(row, at) is None)


def lapse(row: Row, at: Instant) -> str | None:
    """Say why a lock may be taken over; None while it stands."""
    if row["expires_at"] <= at.steady:
        return "it had lapsed without a sign of life"
    process = sessions.process_of(row)
    if process is not None and host.alive(process) is False:
        return "its process was gone"
    return None


def waiters(hub: Hub, row: Row, at: Instant) -> tuple[str, ...]:
    """Return the sessions that wait for what somebody holds."""
    held = resource_of(row)
    return tuple(
        waiter["session_id"]
        for waiter in store.near(hub.engine, held, "waiters")
        if waiter["expires_at"] > at.steady
        and waiter["session_id"] != row["session_id"]
        and overlaps(held, resource_of(waiter))
    )


def refusal(hub: Hub, session_id: str, wanted: Resource, alive: list[Row], at: Instant, *, record: bool) -> Held:
    """Return the refusal that names the holder who will stay longest, and count it."""
    first = max(alive, key=lambda row: row["expires_at"])
    waiting = waiters(hub, first, at)
    if record:
        activity.record(
            hub.engine, at.now, "refused", wanted.name, session_id=session_id, project=first["project"],
            holder=first["session_id"], token=first["token"],
        )  # fmt: skip
    left = first["expires_at"] - at.steady
    return Held(
        resource=wanted.name, holder=first["session_id"], flavor=first["flavor"],
        summary=text.inline(first["summary"]), note=first["note"],
        note_text=f', "{text.inline(first["note"])}"' if first["note"] else "",
        held=first["name"], until=moment(at.now + left), left=text.time_left(left), token=first["token"],
        others_text=_others(len(alive) - 1, len([waiter for waiter in waiting if waiter != session_id])),
        waiters=waiting, locks=tuple(view(row, at) for row in alive),
    )  # fmt: skip


def resource_of(row: Row) -> Resource:
    """Return what a lock or a waiter is about."""
    return Resource(kind=row["kind"], name=row.get("name", ""), base=row["base"], pattern=row["pattern"])


def _exclude(one: str, other: str) -> bool:
    return "announce" not in (one, other) and "exclusive" in (one, other)


def _others(more: int, waiting: int) -> str:
    parts = [f"{more} more hold part of it"] if more else []
    parts += [f"{waiting} waiting"] if waiting else []
    return "".join(f"; {part}" for part in parts)
