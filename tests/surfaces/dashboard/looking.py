"""A browser without a window or scripts: sends what clicks send and returns the response."""

from __future__ import annotations

import re
from typing import Any

import httpx

from engram import Engram
from engram.surfaces.http.application import build_application
from tests.surfaces.http.calling import with_client

TOKEN = "a-token-of-the-right-length-for-a-test-of-it"
HOST = "127.0.0.1:4242"
OWN = {"host": HOST, "origin": f"http://{HOST}"}
PART = {"hx-request": "true"}


class Looker:
    """A signed-in browser."""

    def __init__(self, engram: Engram) -> None:
        self.app = build_application(engram, token=TOKEN, hosts=frozenset({HOST}))
        self.cookie = self._entered()

    def get(self, path: str, part: bool = False, headers: dict[str, str] | None = None) -> httpx.Response:
        """Open a page, or fetch a part of it as an open page does."""
        return self.send("GET", path, headers=(PART if part else {}) | (headers or {}))

    def page(self, path: str, part: bool = False) -> str:
        """Return a page that must exist."""
        answer = self.get(path, part)
        assert answer.status_code == 200, (answer.status_code, answer.text[-2000:])
        return answer.text

    def post(self, path: str, part: bool = False, **form: str) -> httpx.Response:
        """Send a form with our form token."""
        body = {"form": self.form, **form}
        return self.send("POST", path, data=body, headers=OWN | (PART if part else {}))

    def send(self, method: str, path: str, **facts: Any) -> httpx.Response:
        """Send anything."""
        headers = {"host": HOST, "cookie": self.cookie, **facts.pop("headers", {})}

        async def act(client: httpx.AsyncClient) -> httpx.Response:
            return await client.request(method, path, headers=headers, **facts)

        return with_client(self.app, act)

    @property
    def form(self) -> str:
        """Return the form token from a page."""
        match = re.search(r'<meta name="form" content="(\w+)">', self.page("/sessions"))
        assert match is not None
        return match[1]

    def _entered(self) -> str:
        async def act(client: httpx.AsyncClient) -> httpx.Response:
            link = await client.post("/enter", headers={"host": HOST, "authorization": f"Bearer {TOKEN}"})
            return await client.get(link.json()["path"], headers={"host": HOST})

        answer = with_client(self.app, act)
        assert answer.status_code == 303, answer.text
        return answer.headers["set-cookie"].partition(";")[0]
