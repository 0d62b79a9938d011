"""The door of the HTTP server: whom it lets in."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Protocol

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from engram.errors import Error, Unauthorized


class Misdirected(Error):
    """The Host header does not name this server."""

    code, status = "misdirected", 421


class Foreign(Error):
    """The request comes from a web page of another origin ({header}); only local programs may call."""

    code, status = "foreign_origin", 403


class Pages(Protocol):
    """Who lets people look at pages, where there are any."""

    def is_page(self, method: str, path: str) -> bool:
        """Tell whether an address is for people."""

    def refusal(self, method: str, path: str, headers: Headers) -> Error | None:
        """Say why a request for a page is not answered."""


class Guard:
    """Let a request in only if a local program that knows the secret sent it, or a person who was let in."""

    def __init__(
        self, app: ASGIApp, token: str | None, hosts: frozenset[str], refuse: Callable[[Error, Scope], ASGIApp],
        pages: Pages | None = None,
    ) -> None:  # fmt: skip
        self._app = app
        self._secret = f"Bearer {token}".encode() if token else None
        self._hosts = hosts
        self._refuse = refuse
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # none is offered, so none is let in unchecked
            await WebSocketClose()(scope, receive, send)
            return
        refusal = self._refusal(scope, Headers(scope=scope)) if scope["type"] == "http" else None
        await (self._app if refusal is None else self._refuse(refusal, scope))(scope, receive, send)

    def _refusal(self, scope: Scope, headers: Headers) -> Error | None:
        # Host stops rebinding, Origin and Sec-Fetch-Site stop pages, the secret stops everybody else.
        host = headers.getlist("host")
        if self._hosts and (len(host) != 1 or host[0] not in self._hosts):
            return Misdirected()
        own = f"http://{host[0]}" if self._hosts else None
        if any(origin != own for origin in headers.getlist("origin")):
            return Foreign(header="Origin")
        if self._pages is not None and self._pages.is_page(scope["method"], scope["path"]):
            return self._pages.refusal(scope["method"], scope["path"], headers)
        if any(site not in ("same-origin", "none") for site in headers.getlist("sec-fetch-site")):
            return Foreign(header="Sec-Fetch-Site")
        if self._secret is not None and not self._knows(headers.getlist("authorization")):
            return Unauthorized(reason="Send the token from serve.json as Authorization: Bearer TOKEN.")
        return None

    def _knows(self, given: list[str]) -> bool:
        return len(given) == 1 and secrets.compare_digest(given[0].encode("latin-1"), self._secret or b"")
