"""Captured sessions as people look at them: the list, one with its kin, its events."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Annotated, Any, TypeVar

from engram.clock import SECOND, moment, zone
from engram.coordination import sessions
from engram.digests.bodies import Bodies
from engram.digests.cost import CLASSES, of_sessions
from engram.errors import BodyGone, InvalidInput, NotFound
from engram.hub import Hub
from engram.model import Capture, Cost, Event, Session
from engram.operation import Help, operation
from engram.store import captures, events, exchanges
from engram.text import name_or_none
from engram.value import value

Number = TypeVar("Number", int, float)
_ALL = 1_000_000  # sessions that are looked at for what they cost
_PROMPT = 200  # characters of a prompt in an outline


@value
class Turn:
    """What a person asked, and where."""

    event: int  # its number
    at: datetime
    said: str  # the beginning of it


@value
class Outline:
    """A session at a glance."""

    events: int
    kinds: dict[str, int]
    failed: int  # events that came out as an error
    turns: tuple[Turn, ...]


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
    after: Annotated[int, Help("skip so many first")] = 0,
    since: Annotated[str | None, Help("only what went on at this day or later, like 2026-11-01")] = None,
    until: Annotated[str | None, Help("only what began at this day or earlier, like 2026-11-30")] = None,
    min_cost: Annotated[float | None, Help("only what cost so many US dollars or more")] = None,
    domain: Annotated[str | None, Help("only of projects in this domain")] = None,
) -> list[Capture]:
    """Show the sessions that were captured or remember something, the last active first."""
    begin = _day(hub, "since", since) if days is None else sessions.back(hub, "days", days)
    filters: dict[str, Any] = {
        "project": sessions.room(project), "flavor": name_or_none("flavor", flavor),
        "outcome": name_or_none("outcome", outcome), "since": begin, "until": _day(hub, "until", until, 1),
        "domain": name_or_none("domain", domain), "relation": None if subagents else "none",
    }  # fmt: skip
    most, skipped = sessions.positive("limit", limit), _not_below("after", after, 0)
    if min_cost is None:
        return _views(hub, captures.listed(hub.engine, most, skipped, **filters))
    least = _not_below("min_cost", min_cost, 0.0)
    found = _views(hub, captures.listed(hub.engine, _ALL, **filters))
    return [each for each in found if each.money >= least][skipped : skipped + most]


@operation()
def get_capture(hub: Hub, session_id: Annotated[str, Help("the session, or the beginning of its id")]) -> Capture:
    """Show one session as its transcript tells it."""
    rows = captures.listed(hub.engine, 1, session=sessions.get_session(hub, session_id).id)
    if not rows or rows[0]["num"] is None:
        raise NotFound(kind="transcript of", id=session_id, hint="Take it in with `engram ingest`.")
    return _views(hub, rows)[0]


@operation()
def get_children(
    hub: Hub, session_id: Annotated[str, Help("the session, or the beginning of its id")]
) -> list[Capture]:  # fmt: skip
    """Show the subagents and forks that came from a session."""
    session = sessions.get_session(hub, session_id)
    rows = captures.listed(hub.engine, 1000, parent=session.native_id or "", flavor=session.flavor)
    return _views(hub, rows)


@operation()
def get_events(
    hub: Hub,
    session_id: Annotated[str, Help("the session, or the beginning of its id")],
    kind: Annotated[str | None, Help("only message, thinking, call, result, compaction, interrupt …")] = None,
    limit: Annotated[int, Help("at most so many")] = 200,
    after: Annotated[int, Help("skip so many first")] = 0,
    verdict: Annotated[str | None, Help("only what came out as ok, error, denied or interrupted")] = None,
    calls: Annotated[bool, Help("with the calls that results answer, wherever those are")] = False,
) -> list[Event]:
    """Show what happened in a session, in order."""
    session, capture = _captured(hub, session_id)
    rows = events.stretch(
        hub.engine, capture, _not_below("after", after, 0), sessions.positive("limit", limit),
        kind=name_or_none("kind", kind), verdict=name_or_none("verdict", verdict),
    )  # fmt: skip
    if calls:
        here = {row["id"] for row in rows}
        rows += [row for row in events.asked_by(hub.engine, capture, rows) if row["id"] not in here]
        rows.sort(key=lambda row: (row["seq"], row["id"]))
    bodies = Bodies(hub)
    return [_event(bodies, row, session.native_id or session.id) for row in rows]


@operation()
def get_outline(
    hub: Hub, session_id: Annotated[str, Help("the session, or the beginning of its id")]
) -> Outline:  # fmt: skip
    """Show what people asked in a session, turn by turn, and how many events of each kind it has."""
    session, capture = _captured(hub, session_id)
    counted: dict[str, int] = {}
    failed = 0
    for row in events.kinds(hub.engine, capture):
        counted[row["kind"]] = counted.get(row["kind"], 0) + row["n"]
        failed += row["n"] if row["verdict"] == "error" else 0
    turns = exchanges.prompts(hub.engine, session.id, _PROMPT)
    return Outline(
        events=sum(counted.values()), kinds=counted, failed=failed,
        turns=tuple(Turn(event=row["event"], at=moment(row["at"]), said=row["content"]) for row in turns),
    )  # fmt: skip


@operation()
def locate_event(
    hub: Hub,
    session_id: Annotated[str, Help("the session, or the beginning of its id")],
    event: Annotated[int, Help("the event's number: 77 of e77")],
) -> int:
    """Show how many events of a session come before one."""
    _, capture = _captured(hub, session_id)
    found = events.place(hub.engine, capture, event)
    if found is None:
        raise NotFound(kind="event", id=f"e{event}", hint=f"Session {session_id} has none of this number.")
    return found


def _captured(hub: Hub, session_id: str) -> tuple[Session, int]:
    session = sessions.get_session(hub, session_id)
    capture = captures.of_session(hub.engine, session.id)
    if capture is None:
        raise NotFound(kind="transcript of", id=session.id, hint="Take it in with `engram ingest`.")
    return session, capture["num"]


def _not_below(field: str, given: Number, least: Number) -> Number:
    if not given >= least:
        raise InvalidInput(field=field, reason=f"it is below {least:g}.")
    return given


def _day(hub: Hub, field: str, given: str | None, later: int = 0) -> int | None:
    """Return when a day began where the user lives, or one some days later."""
    said = name_or_none(field, given)
    if said is None:
        return None
    try:
        day = date.fromisoformat(said) + timedelta(days=later)
        return round(datetime(day.year, day.month, day.day, tzinfo=zone(hub.settings.timezone)).timestamp() * SECOND)
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(field=field, reason=f"{said!r} is no day; say it like 2026-11-01.") from None


def _event(bodies: Bodies, row: dict[str, Any], session: str) -> Event:
    """Return an event; of one whose body was dropped, what its row says."""
    try:
        return bodies.event(row, session)
    except BodyGone:
        facts = {name: row[name] for name in ("id", "kind", "role", "at", "name", "verdict", "exit_code")}
        return Event(session=session, key=str(row["key"]), order=row["seq"], data={"evicted": True}, **facts)


def _views(hub: Hub, rows: list[dict[str, Any]]) -> list[Capture]:
    spent = of_sessions(hub, [row["id"] for row in rows])
    return [_view(hub, row, spent.get(row["id"])) for row in rows]


def _view(hub: Hub, row: dict[str, Any], spent: Cost | None) -> Capture:
    return Capture(
        session=sessions.view(hub, row), outcome=row["corrected"] or row["outcome"],
        confidence=1.0 if row["corrected"] else row["confidence"], events=row["events"], read_bytes=row["read_bytes"],
        began=moment(row["began"]) if row["began"] else None,
        last_at=moment(row["last_at"]) if row["last_at"] else None, title=row["title"], version=row["version"],
        parent=row["parent"], parent_session=row["parent_session"], relation=row["relation"],
        tokens=sum(getattr(spent, name) for name in CLASSES) if spent else 0, money=spent.money if spent else 0.0,
    )  # fmt: skip
