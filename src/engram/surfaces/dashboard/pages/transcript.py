"""The page of one session: its transcript stretch by stretch, and what came of it beside."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from engram.clock import moment
from engram.digests.digest import OUTCOMES
from engram.digests.transcript import Outline
from engram.errors import InvalidInput, NotFound
from engram.model import Capture, Event
from engram.surfaces.dashboard.drawing.beats import beats, detail
from engram.surfaces.dashboard.frame import Address, Ask, whole

STRETCH = 100  # events that are fetched at once
_AROUND = 20  # events on each side that may join a call with its result
_ONLY: dict[str, dict[str, str]] = {"talk": {"kind": "message"}, "failed": {"verdict": "error"}}
_LOGS, _LOCKS, _EXCHANGES = 100, 1000, 200
_FAR = 200  # events in which the result of a call is looked for


def shown(ask: Ask) -> Response:
    """Draw a session: its head, what came of it, and the stretch that is asked for."""
    session = ask.engram.get_session(ask.path("id"))
    try:
        capture, outline = ask.engram.get_capture(session.id), ask.engram.get_outline(session.id)
    except NotFound:
        return _remembered(ask)
    only = _only(ask)
    start = _stretch_of(ask, session.id)
    count = _count(outline, only)
    return ask.draw(
        "sessions/session.html", session=session, capture=capture, outline=outline, only=only, here="sessions",
        digest=_digest(ask, session.id), gist=ask.engram.get_summary(session.id), outcomes=OUTCOMES,
        children=ask.engram.get_children(session.id), start=start, count=count,
        first=_beats(ask, session.id, start, only) if count else [], stretches=max(1, -(-count // STRETCH)),
    )  # fmt: skip


def stretch(ask: Ask) -> Response:
    """Draw some hundred events of a session, for a page that is being scrolled or a session that is unfolded."""
    only, place, nested = _only(ask), _number(ask.path("place")), bool(ask.given("nested"))
    session = ask.engram.get_session(ask.path("id"))
    rest = _count(ask.engram.get_outline(session.id), only) - (place + 1) * STRETCH if nested else 0
    return ask.draw(
        "sessions/_stretch.html", session=session, beats=_beats(ask, session.id, place, only), nested=nested,
        place=place, rest=rest,
    )  # fmt: skip


def event(ask: Ask) -> Response:
    """Draw all of one event: what a call was given and what it brought, or a message to its end."""
    session, number = ask.path("id"), _number(ask.path("number"))
    place = ask.engram.locate_event(session, number)
    found = ask.engram.get_events(session, limit=_FAR, after=place)
    one = found[0]
    results = (each for each in found[1:] if each.kind == "result" and each.call_id)
    result = next((each for each in results if each.call_id == one.call_id), None)
    return ask.show(
        "sessions/event", event=one, session=session, gone=_is_gone(one), here="sessions", **detail(one, result)
    )


def told(ask: Ask) -> Response:
    """Draw where the wiki tells of a session."""
    return ask.draw("sessions/_told.html", mentions=ask.engram.get_mentions(ask.path("id")))


def correct(ask: Ask) -> Response:
    """Take a person's word on how a session ended."""
    session, outcome = ask.path("id"), ask.said("outcome") or None
    digest = ask.engram.set_outcome(session, outcome)
    if not ask.is_part:
        return ask.go(f"/sessions/{quote(session)}")
    return ask.draw("sessions/_outcome.html", digest=digest, outcomes=OUTCOMES, session_id=session)


def _remembered(ask: Ask) -> Response:
    """Draw a session that has no transcript yet: what it announced, logged, holds and was told to remember."""
    session = ask.engram.get_session(ask.path("id"))
    said = ask.engram.history(session.id)
    return ask.draw(
        "sessions/remembered.html", session=session, exchanges=said[-_EXCHANGES:], before=len(said[:-_EXCHANGES]),
        gist=ask.engram.get_summary(session.id), logs=ask.engram.get_session_logs(session.id, limit=_LOGS),
        locks=[each for each in ask.engram.list_locks(limit=_LOCKS) if each.session_id == session.id], here="sessions",
    )  # fmt: skip


def _beats(ask: Ask, session: str, place: int, only: str | None) -> list[Any]:
    if only is not None:
        found = ask.engram.get_events(session, limit=STRETCH, after=place * STRETCH, calls=True, **_ONLY[only])
        return beats(found, {each.id for each in found if each.id is not None})
    before = min(_AROUND, place * STRETCH)
    found = ask.engram.get_events(session, limit=before + STRETCH + _AROUND, after=place * STRETCH - before)
    own, after = found[before : before + STRETCH], found[before + STRETCH :]
    ids = {each.id for each in own if each.id is not None}
    return beats(found, ids, _begun(ask.engram.get_children(session), place, own, after))


def _begun(children: Sequence[Capture], place: int, own: Sequence[Event], after: Sequence[Event]) -> list[Capture]:
    """Return the sessions that began while a stretch went on."""
    first, following = _first_time(own) if place else None, _first_time(after)
    return [
        each
        for each in children
        if each.began is not None
        and (first is None or each.began >= first)
        and (following is None or each.began < following)
    ]


def _first_time(found: Sequence[Event]) -> datetime | None:
    return next((moment(each.at) for each in found if each.at), None)


def _stretch_of(ask: Ask, session: str) -> int:
    """Return the stretch of the event that a link names, or the one that is asked for by its number."""
    said = ask.given("at")
    if said is None:
        return ask.number("stretch", 0)
    return ask.engram.locate_event(session, _number(said.removeprefix("e"))) // STRETCH


def _count(outline: Outline, only: str | None) -> int:
    return {"talk": outline.kinds.get("message", 0), "failed": outline.failed}.get(only or "", outline.events)


def _only(ask: Ask) -> str | None:
    said = ask.given("only")
    if said is not None and said not in _ONLY:
        raise InvalidInput(field="only", reason=f"{said!r} is none of {', '.join(_ONLY)}.")
    return said


def _number(said: str) -> int:
    return whole("event", said, f"{said!r} is not its number.")


def _is_gone(event: Event) -> bool:
    return bool(event.data and event.data.get("evicted"))


def _digest(ask: Ask, session: str) -> Any:
    try:
        return ask.engram.get_digest(session)
    except NotFound:
        return None


# An id that somebody chose may hold slashes, so the page of a session itself comes last.
ADDRESSES = (
    Address("/sessions/{id:path}/stretch/{place}", stretch), Address("/sessions/{id:path}/told", told),
    Address("/sessions/{id:path}/event/{number}", event),
    Address("/sessions/{id:path}/outcome", correct, writes=True), Address("/sessions/{id:path}", shown),
)  # fmt: skip
