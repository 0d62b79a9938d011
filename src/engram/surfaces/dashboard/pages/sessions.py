"""The Sessions page: the list with its filters."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from engram.errors import InvalidInput
from engram.surfaces.dashboard import template_filters
from engram.surfaces.dashboard.layout import PageAddress, PageRequest
from engram.types import OUTCOMES

_PAGE_SIZE, _MAX_SESSIONS = 50, 1000  # sessions per page, and the maximum when a list is restored
_FILTERS = ("project", "flavor", "outcome", "since", "until", "min_cost", "subagents")


def show_sessions(request: PageRequest) -> Response:
    """Render the list of sessions, or its next rows."""
    chosen = {name: request.get_query(name) or "" for name in _FILTERS}
    filters = {name: filter_text for name, filter_text in chosen.items() if filter_text}
    after = request.get_number("after", 0)
    limit = _PAGE_SIZE if after else max(_PAGE_SIZE, min(request.get_number("shown", _PAGE_SIZE), _MAX_SESSIONS))
    sessions = request.engram.list_sessions(**_parse_filters(filters), limit=limit + 1, after=after)
    more = f"/sessions?{urlencode({**filters, 'after': after + limit})}" if len(sessions) > limit else ""
    facts: dict[str, Any] = {
        "sessions": sessions[:limit],
        "more": more,
        "chosen": chosen,
        "is_filtered": bool(filters),
        "after": after,
    }
    if request.is_part and after:  # the back button then shows all loaded rows again
        list_address = f"/sessions?{urlencode({**filters, 'shown': after + limit})}"
        return request.render("sessions/_session_rows.html", headers={"HX-Replace-Url": list_address}, **facts)
    if request.is_part:
        return request.render("sessions/_sessions.html", **facts)
    project_list = request.engram.list_projects()
    flavors = sorted({flavor for project_seen in project_list for flavor in project_seen.flavors})
    projects = template_filters.name_projects(project_list)
    return request.render("sessions/sessions.html", **facts, projects=projects, flavors=flavors, outcomes=OUTCOMES)


def _parse_filters(chosen: dict[str, str]) -> dict[str, Any]:
    """Return the filters as arguments of the operation."""
    arguments: dict[str, Any] = {**chosen, "subagents": "subagents" in chosen}
    if "min_cost" in chosen:
        try:
            arguments["min_cost"] = float(chosen["min_cost"])
        except ValueError:
            raise InvalidInput(field="min_cost", reason=f"{chosen['min_cost']!r} is not a dollar amount.") from None
    return arguments


ADDRESSES = (PageAddress("/sessions", show_sessions),)
