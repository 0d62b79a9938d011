"""The page of one session: its transcript in sections, with outcome and summary."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from engram.capture.digests.transcript import Outline
from engram.clock import to_datetime
from engram.errors import InvalidInput, NotFound
from engram.surfaces.dashboard.drawing.conversation import build_detail, build_items
from engram.surfaces.dashboard.layout import PageAddress, PageRequest, parse_number
from engram.types import OUTCOMES, Capture, Event

STRETCH_EVENTS = 100  # events per section
_MARGIN_EVENTS = 20  # extra events on each side, to match calls with results
_ONLY_FILTERS: dict[str, dict[str, str]] = {"talk": {"kind": "message"}, "failed": {"verdict": "error"}}
_MAX_LOGS, _MAX_LOCKS, _MAX_EXCHANGES = 100, 1000, 200
_MAX_RESULT_DISTANCE = 200  # events searched for the result of a call


def show_session(request: PageRequest) -> Response:
    """Render a session with its outcome, summary and the requested section of the transcript."""
    session = request.engram.get_session(request.get_path_part("id"))
    try:
        capture, outline = request.engram.get_capture(session.id), request.engram.get_outline(session.id)
    except NotFound:
        return _show_remembered(request)
    only = _parse_only(request)
    start = _find_stretch(request, session.id)
    count = _count_events(outline, only)
    return request.render(
        "sessions/session.html",
        session=session,
        capture=capture,
        outline=outline,
        only=only,
        here="sessions",
        digest=_find_digest(request, session.id),
        episodes=request.engram.list_episodes(session.id),
        gist=request.engram.get_summary(session.id),
        outcomes=OUTCOMES,
        children=request.engram.get_children(session.id),
        start=start,
        count=count,
        first=_load_items(request, session.id, start, only) if count else [],
        stretches=max(1, -(-count // STRETCH_EVENTS)),
    )


def show_stretch(request: PageRequest) -> Response:
    """Render one section of a transcript, for scrolling and for expanded subagents."""
    only, place, nested = (
        _parse_only(request),
        _parse_event_number(request.get_path_part("place")),
        bool(request.get_query("nested")),
    )
    session = request.engram.get_session(request.get_path_part("id"))
    rest = _count_events(request.engram.get_outline(session.id), only) - (place + 1) * STRETCH_EVENTS if nested else 0
    return request.render(
        "sessions/_stretch.html", session=session, beats=_load_items(request, session.id, place, only), nested=nested,
        place=place, rest=rest,
    )  # fmt: skip


def show_event(request: PageRequest) -> Response:
    """Render one event in full: a call with its result, or a whole message."""
    session, number = request.get_path_part("id"), _parse_event_number(request.get_path_part("number"))
    place = request.engram.locate_event(session, number)
    events = request.engram.get_events(session, limit=_MAX_RESULT_DISTANCE, after=place)
    event_shown = events[0]
    results = (event for event in events[1:] if event.kind == "result" and event.call_id)
    result = next((event for event in results if event.call_id == event_shown.call_id), None)
    return request.render_page(
        "sessions/event",
        event=event_shown,
        session=session,
        gone=_is_gone(event_shown),
        here="sessions",
        **build_detail(event_shown, result),
    )


def show_mentions(request: PageRequest) -> Response:
    """Render the wiki pages that mention a session."""
    return request.render("sessions/_told.html", mentions=request.engram.get_mentions(request.get_path_part("id")))


def correct_outcome(request: PageRequest) -> Response:
    """Set the outcome of a session."""
    session, outcome = request.get_path_part("id"), request.get_field("outcome") or None
    digest = request.engram.set_outcome(session, outcome)
    if not request.is_part:
        return request.redirect(f"/sessions/{quote(session)}")
    return request.render("sessions/_outcome.html", digest=digest, outcomes=OUTCOMES, session_id=session)


def _show_remembered(request: PageRequest) -> Response:
    """Render a session without a transcript: its log, locks and remembered messages."""
    session = request.engram.get_session(request.get_path_part("id"))
    exchanges = request.engram.history(session.id)
    return request.render(
        "sessions/remembered.html",
        session=session,
        exchanges=exchanges[-_MAX_EXCHANGES:],
        before=len(exchanges[:-_MAX_EXCHANGES]),
        gist=request.engram.get_summary(session.id),
        logs=request.engram.get_session_logs(session.id, limit=_MAX_LOGS),
        locks=[lock for lock in request.engram.list_locks(limit=_MAX_LOCKS) if lock.session_id == session.id],
        here="sessions",
    )


def _load_items(request: PageRequest, session: str, stretch_number: int, only: str | None) -> list[Any]:
    if only is not None:
        events = request.engram.get_events(
            session, limit=STRETCH_EVENTS, after=stretch_number * STRETCH_EVENTS, calls=True, **_ONLY_FILTERS[only]
        )
        return build_items(events, {event.id for event in events if event.id is not None})
    before = min(_MARGIN_EVENTS, stretch_number * STRETCH_EVENTS)
    events = request.engram.get_events(
        session, limit=before + STRETCH_EVENTS + _MARGIN_EVENTS, after=stretch_number * STRETCH_EVENTS - before
    )
    own_events, after = events[before : before + STRETCH_EVENTS], events[before + STRETCH_EVENTS :]
    ids = {event.id for event in own_events if event.id is not None}
    return build_items(
        events, ids, _children_in_stretch(request.engram.get_children(session), stretch_number, own_events, after)
    )


def _children_in_stretch(
    children: Sequence[Capture], stretch_number: int, own_events: Sequence[Event], later_events: Sequence[Event]
) -> list[Capture]:
    """Return the child sessions that began during a section."""
    first, following = _first_time(own_events) if stretch_number else None, _first_time(later_events)
    return [
        child
        for child in children
        if child.began is not None
        and (first is None or child.began >= first)
        and (following is None or child.began < following)
    ]


def _first_time(events: Sequence[Event]) -> datetime | None:
    return next((to_datetime(event.at) for event in events if event.at), None)


def _find_stretch(request: PageRequest, session: str) -> int:
    """Return the section of the linked event, or the section requested by number."""
    event_name = request.get_query("at")
    if event_name is None:
        return request.get_number("stretch", 0)
    return request.engram.locate_event(session, _parse_event_number(event_name.removeprefix("e"))) // STRETCH_EVENTS


def _count_events(outline: Outline, only: str | None) -> int:
    return {"talk": outline.kinds.get("message", 0), "failed": outline.failed}.get(only or "", outline.events)


def _parse_only(request: PageRequest) -> str | None:
    filter_name = request.get_query("only")
    if filter_name is not None and filter_name not in _ONLY_FILTERS:
        raise InvalidInput(
            field="only", reason=f"unknown value {filter_name!r}. Choose one of: {', '.join(_ONLY_FILTERS)}."
        )
    return filter_name


def _parse_event_number(number_text: str) -> int:
    return parse_number("event", number_text, f"{number_text!r} is not an event number.")


def _is_gone(event: Event) -> bool:
    return bool(event.data and event.data.get("evicted"))


def _find_digest(request: PageRequest, session: str) -> Any:
    try:
        return request.engram.get_digest(session)
    except NotFound:
        return None


# Session ids may contain slashes, so the page of the session itself comes last.
ADDRESSES = (
    PageAddress("/sessions/{id:path}/stretch/{place}", show_stretch),
    PageAddress("/sessions/{id:path}/told", show_mentions),
    PageAddress("/sessions/{id:path}/event/{number}", show_event),
    PageAddress("/sessions/{id:path}/outcome", correct_outcome, writes=True),
    PageAddress("/sessions/{id:path}", show_session),
)
