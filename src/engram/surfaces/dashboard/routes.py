"""Every address of the dashboard."""

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

from engram import text
from engram.api import Engram
from engram.errors import Error, NotFound
from engram.surfaces.dashboard import frame
from engram.surfaces.dashboard.entrance import LINK, Entrance, NotInvited
from engram.surfaces.dashboard.frame import Address, Ask
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
from engram.surfaces.http.answer import Answer, refused

# The editor stands before the wiki, which takes every address below its own for a page.
_PAGES = (now, sessions, transcript, search, health, timeline, dreams, patterns, editor, wiki)
_STATIC = os.path.join(os.path.dirname(__file__), "static")


def routes(engram: Engram, entrance: Entrance, stopping: Callable[[], bool]) -> list[BaseRoute]:
    """Return the routes of all pages."""
    addresses = (_FRONT, *(each for one in _PAGES for each in one.ADDRESSES), _REST)
    return [
        Route(LINK, partial(_enter, entrance), methods=["GET"]),
        Route(LINK, lambda _: Answer({"path": entrance.link()}), methods=["POST"]),
        Mount("/static", _Static(directory=_STATIC)),
        stream.route(engram, stopping),
        *(frame.route(engram, entrance, each) for each in addresses),
    ]


def _astray(ask: Ask) -> Response:
    raise NotFound(kind="page", id=text.one_line(ask.request.url.path, 200), hint="The menu above has them all.")


_FRONT, _REST = Address("/", lambda ask: ask.go("/now")), Address("/{anything:path}", _astray)


def refuse(error: Error, scope: Scope) -> Response:
    """Say why somebody is not let in: to people as a page, to programs as JSON."""
    if not Entrance.is_page(scope["method"], scope["path"]):
        return refused(error)
    query = scope.get("query_string", b"").decode("latin-1")
    path = quote("/" + scope["path"].lstrip("/\\"))  # two of them would name another server
    return frame.stranger(error, path + (f"?{query}" if query else ""))


def _enter(entrance: Entrance, request: Request) -> Response:
    if not entrance.redeem(request.query_params.get("ticket", "")):
        return frame.stranger(NotInvited(), "/")
    answer = RedirectResponse("/", 303, headers={"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})
    answer.headers["Set-Cookie"] = entrance.cookie(request.headers["host"])
    return answer


class _Static(StaticFiles):
    """Our own scripts and styles; a browser asks each time whether they changed."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        answer = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        answer.headers.update({"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"})
        return answer
