"""Access control of the HTTP server."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Protocol

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from engram.errors import Error, Unauthorized
from engram.surfaces.errors import ForeignOrigin, Misdirected


class PageAccess(Protocol):
    """The access check for dashboard pages."""

    def is_page(self, method: str, path: str) -> bool:
        """Return whether a path is a dashboard page."""

    def find_refusal(self, method: str, path: str, headers: Headers) -> Error | None:
        """Return why a request for a page is refused, or None."""


class AccessGuard:
    """ASGI middleware that accepts only programs with the token and browsers that signed in."""

    def __init__(
        self, app: ASGIApp, token: str | None, hosts: frozenset[str], refuse: Callable[[Error, Scope], ASGIApp],
        pages: PageAccess | None = None,
    ) -> None:  # fmt: skip
        self._app = app
        self._secret = f"Bearer {token}".encode() if token else None
        self._hosts = hosts
        self._refuse = refuse
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # we serve none, so refuse it before any other check
            await WebSocketClose()(scope, receive, send)
            return
        refusal = self._find_refusal(scope, Headers(scope=scope)) if scope["type"] == "http" else None
        await (self._app if refusal is None else self._refuse(refusal, scope))(scope, receive, send)

    def _find_refusal(self, scope: Scope, headers: Headers) -> Error | None:
        # Host stops DNS rebinding, Origin and Sec-Fetch-Site stop web pages, the token stops everything else.
        host = headers.getlist("host")
        if self._hosts and (len(host) != 1 or host[0] not in self._hosts):
            return Misdirected()
        own_origin = f"http://{host[0]}" if self._hosts else None
        if any(origin != own_origin for origin in headers.getlist("origin")):
            return ForeignOrigin(header="Origin")
        if self._pages is not None and self._pages.is_page(scope["method"], scope["path"]):
            return self._pages.find_refusal(scope["method"], scope["path"], headers)
        if any(site not in ("same-origin", "none") for site in headers.getlist("sec-fetch-site")):
            return ForeignOrigin(header="Sec-Fetch-Site")
        if self._secret is not None and not self._has_token(headers.getlist("authorization")):
            return Unauthorized(reason="Send the token from serve.json as Authorization: Bearer TOKEN.")
        return None

    def _has_token(self, authorization: list[str]) -> bool:
        return len(authorization) == 1 and secrets.compare_digest(
            authorization[0].encode("latin-1"), self._secret or b""
        )
