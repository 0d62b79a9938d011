"""The page of sessions: the list with its filters."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from engram.digests.digest import OUTCOMES
from engram.errors import InvalidInput
from engram.surfaces.dashboard import words
from engram.surfaces.dashboard.frame import Address, Ask

_MANY, _MOST = 50, 1000  # sessions that are shown at once, and when one comes back to a list
_FILTERS = ("project", "flavor", "outcome", "since", "until", "min_cost", "subagents")


def listed(ask: Ask) -> Response:
    """Draw the list of sessions, or more of it."""
    chosen = {name: ask.given(name) or "" for name in _FILTERS}
    given = {name: said for name, said in chosen.items() if said}
    after = ask.number("after", 0)
    many = _MANY if after else max(_MANY, min(ask.number("shown", _MANY), _MOST))
    found = ask.engram.list_sessions(**_arguments(given), limit=many + 1, after=after)
    more = f"/sessions?{urlencode({**given, 'after': after + many})}" if len(found) > many else ""
    facts: dict[str, Any] = {
        "sessions": found[:many],
        "more": more,
        "chosen": chosen,
        "is_filtered": bool(given),
        "after": after,
    }
    if ask.is_part and after:  # who goes on and comes back finds all rows there again
        here = f"/sessions?{urlencode({**given, 'shown': after + many})}"
        return ask.draw("sessions/_session_rows.html", headers={"HX-Replace-Url": here}, **facts)
    if ask.is_part:
        return ask.draw("sessions/_sessions.html", **facts)
    places = ask.engram.list_projects()
    flavors = sorted({flavor for place in places for flavor in place.flavors})
    projects = words.places(each.project for each in places if each.project)
    return ask.draw("sessions/sessions.html", **facts, projects=projects, flavors=flavors, outcomes=OUTCOMES)


def _arguments(chosen: dict[str, str]) -> dict[str, Any]:
    """Return the filters as the operation takes them."""
    found: dict[str, Any] = {**chosen, "subagents": "subagents" in chosen}
    if "min_cost" in chosen:
        try:
            found["min_cost"] = float(chosen["min_cost"])
        except ValueError:
            raise InvalidInput(field="min_cost", reason=f"{chosen['min_cost']!r} is no sum in dollars.") from None
    return found


ADDRESSES = (Address("/sessions", listed),)
