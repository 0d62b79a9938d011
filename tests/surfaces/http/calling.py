"""A client of the HTTP application, without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx
from starlette.applications import Starlette

from engram import Engram
from engram.surfaces.http.application import build_application

T = TypeVar("T")
JSON = {"content-type": "application/json"}


class Caller:
    """A client of the server."""

    def __init__(self, hub: Engram) -> None:
        self.app = build_application(hub)

    def post(self, operation: str, **arguments: Any) -> httpx.Response:
        return self.send("POST", f"/api/{operation}", json=arguments)

    def get(self, path: str) -> httpx.Response:
        return self.send("GET", path)

    def send(self, method: str, path: str, **facts: Any) -> httpx.Response:
        async def act(client: httpx.AsyncClient) -> httpx.Response:
            return await client.request(method, path, **facts)

        return with_client(self.app, act)


def with_client(app: Starlette, act: Callable[[httpx.AsyncClient], Awaitable[T]]) -> T:
    """Run something that calls an application many times."""

    async def run() -> T:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://engram", timeout=60) as client:
            return await act(client)

    return asyncio.run(run())
