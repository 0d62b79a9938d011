"""The words of the product as frozen values. No I/O."""

from __future__ import annotations

from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any


@value
class Process:
    """A process on a host, told apart from a later one that was given the same pid."""

    host: str
    pid: int
    start: str


@value
class Session:
    """One run of one agent."""

    id: str
    flavor: str
    session_type: str
    summary: str
    status: str  # active, completed
    presence: str  # here, stale, gone, done
    started_at: datetime
    last_heartbeat: datetime
    completed_at: datetime | None = None
    completion_summary: str | None = None
    native_id: str | None = None
    project: str = ""
    cwd: str | None = None
    branch: str | None = None
    process: Process | None = None
    host: str | None = None
    model: str | None = None
    metadata: Any = None


@value
class Log:
    """A progress entry of a session."""

    id: int
    session_id: str
    timestamp: datetime
    entry: str


@value
class Resource:
    """What a lock is on, under its one canonical name."""

    kind: str  # file, directory, glob, name
    name: str  # as people read it
    base: str  # longest part without wildcards: what the index looks up
    pattern: str  # what overlap is decided on


@value
class Lock:
    """A hold on a resource: expiring, fenced, exclusive unless asked otherwise."""

    resource: str
    kind: str
    mode: str  # exclusive, shared, announce
    session_id: str
    token: int
    note: str | None
    locked_at: datetime
    until: datetime
    live: bool  # false once it lapsed or its holder's process is gone
    project: str = ""
    flavor: str = ""
    session_type: str = ""
    summary: str = ""
    waiters: tuple[str, ...] = ()
    overlaps: tuple[Lock, ...] = ()  # what others announced or share over the same ground


@value
class Message:
    """A note to a session, delivered once."""

    id: int
    sender: str | None
    kind: str  # note, loss
    body: str
    project: str
    sent_at: datetime
    recipient: str | None = None
    delivered_at: datetime | None = None
    flavor: str = ""


@value
class Sent:
    """Who a message will reach."""

    recipients: tuple[str, ...]
    waiting: bool  # kept for the next session of the project


@value
class WorldState:
    """One version of the maintained overview of a project, or of everything."""

    project: str
    version: int
    content: str
    updated_by: str | None
    updated_at: datetime


@value
class Activity:
    """Something Engram did or prevented."""

    id: int
    at: datetime
    kind: str  # refused, takeover, reopened, imported
    session_id: str | None
    project: str
    subject: str
    detail: Any


@value
class Sitrep:
    """The computed picture of now."""

    project: str
    world: tuple[WorldState, ...]
    sessions: tuple[Session, ...]
    elsewhere: tuple[Session, ...]
    locks: tuple[Lock, ...]
    unread: tuple[Message, ...]
    recent: tuple[Session, ...]
    more: dict[str, int]  # how many of each were left out


@value
class Stats:
    """Counts over the whole store."""

    total_sessions: int
    active_sessions: int
    completed_sessions: int
    total_logs: int
    active_locks: int
    unread_messages: int
    world_versions: int
    conflicts_prevented: int
    takeovers: int


@value
class Imported:
    """What an import took over and what it had to mend."""

    source: str
    sessions: int
    logs: int
    locks: int
    world_versions: int
    already_here: int
    mended: dict[str, int]
    dropped: tuple[str, ...]
    updated: int = 0  # sessions that had come before and have gone on in the source since
    dry_run: bool = False  # nothing of it was written
