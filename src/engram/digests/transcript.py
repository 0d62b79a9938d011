"""Captured sessions as people look at them: the list, one with its kin, its events."""

from __future__ import annotations

from typing import Annotated, Any

from engram.clock import moment
from engram.coordination import sessions
from engram.digests.bodies import Bodies
from engram.errors import BodyGone, InvalidInput, NotFound
from engram.hub import Hub
from engram.model import Capture, Event
from engram.operation import Help, operation
from engram.store import captures, events
from engram.text import name_or_none


@operation()
def list_sessions(
    hub: Hub,
    project: Annotated[str | None, Help("only of this project")] = None,
    flavor: Annotated[str | None, Help("only this agent's")] = None,
    outcome: Annotated[
        str | None, Help("only those that ended in success, partial, failure, abandoned, unclear")
    ] = None,
    days: Annotated[float | None, Help("how far back")] = None,
    subagents: Annotated[bool, Help("with the sessions other sessions started")] = False,
    limit: Annotated[int, Help("at most so many")] = 50,
) -> list[Capture]:
    """Show the sessions that were captured or remember something, the last active first."""
    since = None if days is None else sessions.back(hub, "days", days)
    rows = captures.listed(
        hub.engine, sessions.positive("limit", limit), project=sessions.room(project),
        flavor=name_or_none("flavor", flavor), outcome=name_or_none("outcome", outcome), since=since,
        relation=None if subagents else "none",
    )  # fmt: skip
    return [_view(hub, row) for row in rows]


@operation()
def get_capture(hub: Hub, session_id: Annotated[str, Help("the session, or the beginning of its id")]) -> Capture:
    """Show one session as its transcript tells it."""
    rows = captures.listed(hub.engine, 1, session=sessions.get_session(hub, session_id).id)
    if not rows or rows[0]["num"] is None:
        raise NotFound(kind="transcript of", id=session_id, hint="Take it in with `engram ingest`.")
    return _view(hub, rows[0])


@operation()
def get_children(
    hub: Hub, session_id: Annotated[str, Help("the session, or the beginning of its id")]
) -> list[Capture]:  # fmt: skip
    """Show the subagents and forks that came from a session."""
    session = sessions.get_session(hub, session_id)
    rows = captures.listed(hub.engine, 1000, parent=session.native_id or "", flavor=session.flavor)
    return [_view(hub, row) for row in rows]


@operation()
def get_events(
    hub: Hub,
    session_id: Annotated[str, Help("the session, or the beginning of its id")],
    kind: Annotated[str | None, Help("only message, thinking, call, result, compaction, interrupt …")] = None,
    limit: Annotated[int, Help("at most so many")] = 200,
    after: Annotated[int, Help("skip so many first")] = 0,
) -> list[Event]:
    """Show what happened in a session, in order."""
    session = sessions.get_session(hub, session_id)
    capture = captures.of_session(hub.engine, session.id)
    if capture is None:
        raise NotFound(kind="transcript of", id=session.id, hint="Take it in with `engram ingest`.")
    if after < 0:
        raise InvalidInput(field="after", reason="it is below 0.")
    rows = [row for row in events.of_capture(hub.engine, capture["num"]) if kind in (None, row["kind"])]
    bodies = Bodies(hub)
    chosen = rows[after : after + sessions.positive("limit", limit)]
    return [_event(bodies, row, session.native_id or session.id) for row in chosen]


def _event(bodies: Bodies, row: dict[str, Any], session: str) -> Event:
    """Return an event; of one whose body was dropped, what its row says."""
    try:
        return bodies.event(row, session)
    except BodyGone:
        facts = {name: row[name] for name in ("kind", "role", "at", "name", "verdict", "exit_code")}
        return Event(session=session, key=str(row["key"]), order=row["seq"], data={"evicted": True}, **facts)


def _view(hub: Hub, row: dict[str, Any]) -> Capture:
    return Capture(
        session=sessions.view(hub, row), outcome=row["corrected"] or row["outcome"],
        confidence=1.0 if row["corrected"] else row["confidence"], events=row["events"], read_bytes=row["read_bytes"],
        began=moment(row["began"]) if row["began"] else None,
        last_at=moment(row["last_at"]) if row["last_at"] else None, title=row["title"], version=row["version"],
        parent=row["parent"], relation=row["relation"],
    )  # fmt: skip
