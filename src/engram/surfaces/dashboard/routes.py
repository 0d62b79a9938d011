"""All routes of the dashboard."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from engram.api import Engram
from engram.errors import Error, NotFound
from engram.platform import text
from engram.surfaces.dashboard import agent_colours, layout
from engram.surfaces.dashboard.layout import PageAddress, PageRequest
from engram.surfaces.dashboard.page_auth import LINK, PageAuth
from engram.surfaces.dashboard.pages import (
    dreams,
    editor,
    health,
    now,
    patterns,
    search,
    sessions,
    stream,
    timeline,
    transcript,
    wiki,
)
from engram.surfaces.errors import NotInvited
from engram.surfaces.http.responses import ApiResponse, build_error_response

# The editor comes before the wiki, which matches every path below /wiki.
_PAGES = (now, sessions, transcript, search, health, timeline, dreams, patterns, editor, wiki)
_STATIC = os.path.join(os.path.dirname(__file__), "static")


def build_routes(engram: Engram, page_auth: PageAuth, stopping: Callable[[], bool]) -> list[BaseRoute]:
    """Return the routes of all pages."""
    addresses = (_FRONT_PAGE, *(address for page_module in _PAGES for address in page_module.ADDRESSES), _UNKNOWN_PAGE)
    return [
        Route(LINK, partial(_redeem_link, page_auth), methods=["GET"]),
        Route(LINK, lambda _: ApiResponse({"path": page_auth.create_link()}), methods=["POST"]),
        Route(agent_colours.ADDRESS, agent_colours.style_sheet, methods=["GET"]),
        Mount("/static", _DashboardFiles(directory=_STATIC)),
        stream.build_route(engram, stopping),
        *(layout.build_route(engram, page_auth, address) for address in addresses),
    ]


def _raise_not_found(request: PageRequest) -> Response:
    raise NotFound(
        kind="page", id=text.to_one_line(request.http_request.url.path, 200), hint="Use the menu to find a page."
    )


_FRONT_PAGE, _UNKNOWN_PAGE = (
    PageAddress("/", lambda ask: ask.redirect("/now")),
    PageAddress("/{anything:path}", _raise_not_found),
)


def refuse_request(error: Error, scope: Scope) -> Response:
    """Refuse a request: with a page for browsers, with JSON for programs."""
    if not PageAuth.is_page(scope["method"], scope["path"]):
        return build_error_response(error)
    query = scope.get("query_string", b"").decode("latin-1")
    path = quote("/" + scope["path"].lstrip("/\\"))  # two slashes would name another server
    return layout.render_sign_in(error, path + (f"?{query}" if query else ""))


def _redeem_link(page_auth: PageAuth, request: Request) -> Response:
    if not page_auth.redeem_ticket(request.query_params.get("ticket", "")):
        return layout.render_sign_in(NotInvited(), "/")
    answer = RedirectResponse("/", 303, headers={"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})
    answer.headers["Set-Cookie"] = page_auth.build_cookie(request.headers["host"])
    return answer


class _DashboardFiles(StaticFiles):
    """Static files that browsers revalidate on every request."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        answer = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        answer.headers.update({"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"})
        return answer
