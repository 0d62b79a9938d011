"""Captured sessions: list them, show one, its children and its events."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Annotated, Any, TypeVar

from engram.capture.digests.cost import CLASSES, get_session_costs
from engram.capture.digests.event_bodies import EventBodies
from engram.clock import SECOND, load_timezone, to_datetime
from engram.errors import BodyGone, InvalidInput, NotFound
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform.text import validate_optional_name
from engram.platform.value import value
from engram.sessions import lifecycle
from engram.store import captures, events, exchanges
from engram.types import Capture, Cost, Event, Session

Number = TypeVar("Number", int, float)
_ALL = 1_000_000  # maximum sessions scanned when filtering by cost
_PROMPT = 200  # characters of a prompt shown in an outline


@value
class Turn:
    """A prompt by a person, and its event."""

    event: int  # event id
    at: datetime
    said: str  # start of the prompt


@value
class Outline:
    """An overview of a session."""

    events: int
    kinds: dict[str, int]
    failed: int  # events with the verdict error
    turns: tuple[Turn, ...]


@operation()
def list_sessions(
    hub: Hub,
    project: Annotated[str | None, Help("only sessions in this project")] = None,
    flavor: Annotated[str | None, Help("only sessions of this agent")] = None,
    outcome: Annotated[str | None, Help("only this outcome: success, partial, failure, abandoned or unclear")] = None,
    days: Annotated[float | None, Help("how many days back")] = None,
    subagents: Annotated[bool, Help("include sessions started by other sessions")] = False,
    limit: Annotated[int, Help("maximum number to show")] = 50,
    after: Annotated[int, Help("number of sessions to skip")] = 0,
    since: Annotated[str | None, Help("only sessions active on or after this day, such as 2026-11-01")] = None,
    until: Annotated[str | None, Help("only sessions started on or before this day, such as 2026-11-30")] = None,
    min_cost: Annotated[float | None, Help("only sessions that cost at least this many US dollars")] = None,
    domain: Annotated[str | None, Help("only projects in this domain")] = None,
) -> list[Capture]:
    """Show sessions with a transcript or messages, last active first."""
    filters = parse_filters(
        hub, project=project, flavor=flavor, outcome=outcome, days=days, subagents=subagents, since=since, until=until,
        domain=domain,
    )  # fmt: skip
    max_count, skipped = lifecycle.require_positive("limit", limit), _check_minimum("after", after, 0)
    if min_cost is None:
        return captures_from_rows(hub, captures.list_captured(hub.engine, max_count, skipped, **filters))
    min_money = _check_minimum("min_cost", min_cost, 0.0)
    captured = captures_from_rows(hub, captures.list_captured(hub.engine, _ALL, **filters))
    return [capture for capture in captured if capture.money >= min_money][skipped : skipped + max_count]


def parse_filters(
    hub: Hub, *, project: str | None, flavor: str | None, outcome: str | None, days: float | None, subagents: bool,
    since: str | None, until: str | None, domain: str | None,
) -> dict[str, Any]:  # fmt: skip
    """Check the filters of a list of sessions and return them as the store takes them."""
    begins_at = _parse_day(hub, "since", since) if days is None else lifecycle.compute_since(hub, "days", days)
    return {
        "project": lifecycle.parse_project_filter(project),
        "flavor": validate_optional_name("flavor", flavor),
        "outcome": validate_optional_name("outcome", outcome),
        "since": begins_at,
        "until": _parse_day(hub, "until", until, 1),
        "domain": validate_optional_name("domain", domain),
        "relation": None if subagents else "none",
    }


@operation()
def get_capture(hub: Hub, session_id: Annotated[str, Help("session id or a prefix of it")]) -> Capture:
    """Show one captured session."""
    rows = captures.list_captured(hub.engine, 1, session=lifecycle.get_session(hub, session_id).id)
    if not rows or rows[0]["num"] is None:
        raise NotFound(kind="transcript of", id=session_id, hint="Read it with `engram ingest`.")
    return captures_from_rows(hub, rows)[0]


@operation()
def get_children(
    hub: Hub, session_id: Annotated[str, Help("session id or a prefix of it")]
) -> list[Capture]:  # fmt: skip
    """Show the subagents and forks of a session."""
    session = lifecycle.get_session(hub, session_id)
    rows = captures.list_captured(hub.engine, 1000, parent=session.native_id or "", flavor=session.flavor)
    return captures_from_rows(hub, rows)


@operation()
def get_events(
    hub: Hub,
    session_id: Annotated[str, Help("session id or a prefix of it")],
    kind: Annotated[str | None, Help("only message, thinking, call, result, compaction, interrupt …")] = None,
    limit: Annotated[int, Help("maximum number to show")] = 200,
    after: Annotated[int, Help("number of events to skip")] = 0,
    verdict: Annotated[str | None, Help("only this verdict: ok, error, denied or interrupted")] = None,
    calls: Annotated[bool, Help("also include the calls of the results shown")] = False,
) -> list[Event]:
    """Show the events of a session, in order."""
    session, capture = _require_capture(hub, session_id)
    rows = events.list_page(
        hub.engine, capture, _check_minimum("after", after, 0), lifecycle.require_positive("limit", limit),
        kind=validate_optional_name("kind", kind), verdict=validate_optional_name("verdict", verdict),
    )  # fmt: skip
    if calls:
        row_ids = {row["id"] for row in rows}
        rows += [row for row in events.find_calls(hub.engine, capture, rows) if row["id"] not in row_ids]
        rows.sort(key=lambda row: (row["seq"], row["id"]))
    bodies = EventBodies(hub)
    return [_load_event(bodies, row, session.native_id or session.id) for row in rows]


@operation()
def get_outline(
    hub: Hub, session_id: Annotated[str, Help("session id or a prefix of it")]
) -> Outline:  # fmt: skip
    """Show the prompts of a session, turn by turn, and its number of events by kind."""
    session, capture = _require_capture(hub, session_id)
    counted: dict[str, int] = {}
    failed = 0
    for row in events.count_by_kind(hub.engine, capture):
        counted[row["kind"]] = counted.get(row["kind"], 0) + row["n"]
        failed += row["n"] if row["verdict"] == "error" else 0
    turns = exchanges.list_prompts(hub.engine, session.id, _PROMPT)
    return Outline(
        events=sum(counted.values()), kinds=counted, failed=failed,
        turns=tuple(Turn(event=row["event"], at=to_datetime(row["at"]), said=row["content"]) for row in turns),
    )  # fmt: skip


@operation()
def locate_event(
    hub: Hub,
    session_id: Annotated[str, Help("session id or a prefix of it")],
    event: Annotated[int, Help("number of the event: 77 for e77")],
) -> int:
    """Show how many events of a session come before an event."""
    _, capture = _require_capture(hub, session_id)
    position = events.count_before(hub.engine, capture, event)
    if position is None:
        raise NotFound(kind="event", id=f"e{event}", hint=f"Session {session_id} has no such event.")
    return position


def _require_capture(hub: Hub, session_id: str) -> tuple[Session, int]:
    session = lifecycle.get_session(hub, session_id)
    capture = captures.find_by_session(hub.engine, session.id)
    if capture is None:
        raise NotFound(kind="transcript of", id=session.id, hint="Read it with `engram ingest`.")
    return session, capture["num"]


def _check_minimum(field: str, number: Number, minimum: Number) -> Number:
    if not number >= minimum:
        raise InvalidInput(field=field, reason=f"Must be at least {minimum:g}.")
    return number


def _parse_day(hub: Hub, field: str, raw: str | None, days_later: int = 0) -> int | None:
    """Return the start of a day in the user's time zone, `days_later` days later."""
    text = validate_optional_name(field, raw)
    if text is None:
        return None
    try:
        day = date.fromisoformat(text) + timedelta(days=days_later)
        return round(
            datetime(day.year, day.month, day.day, tzinfo=load_timezone(hub.settings.timezone)).timestamp() * SECOND
        )
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(field=field, reason=f"Cannot read {text!r} as a day. Use YYYY-MM-DD.") from None


def _load_event(bodies: EventBodies, row: dict[str, Any], session: str) -> Event:
    """Return an event; without its body, only what its row holds."""
    try:
        return bodies.load_event(row, session)
    except BodyGone:
        facts = {name: row[name] for name in ("id", "kind", "role", "at", "name", "verdict", "exit_code")}
        return Event(session=session, key=str(row["key"]), order=row["seq"], data={"evicted": True}, **facts)


def captures_from_rows(hub: Hub, rows: list[dict[str, Any]]) -> list[Capture]:
    """Turn stored rows into captures, with what they cost."""
    costs = get_session_costs(hub, [row["id"] for row in rows])
    return [_capture_from_row(hub, row, costs.get(row["id"])) for row in rows]


def _capture_from_row(hub: Hub, row: dict[str, Any], cost: Cost | None) -> Capture:
    return Capture(
        session=lifecycle.to_session(hub, row), outcome=row["corrected"] or row["outcome"],
        confidence=1.0 if row["corrected"] else row["confidence"], events=row["events"], read_bytes=row["read_bytes"],
        began=to_datetime(row["began"]) if row["began"] else None,
        last_at=to_datetime(row["last_at"]) if row["last_at"] else None, title=row["title"], version=row["version"],
        parent=row["parent"], parent_session=row["parent_session"], relation=row["relation"],
        tokens=sum(getattr(cost, name) for name in CLASSES) if cost else 0, money=cost.money if cost else 0.0,
        unpriced=cost.unpriced if cost else (),
    )  # fmt: skip
