"""Access control: programs with the token, and no pages of other origins."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from engram import Engram
from engram.surfaces.http.application import build_application
from tests.surfaces.http.calling import Caller, with_client

TOKEN = "a-token-of-the-right-length-for-a-test-of-it"
PORT = 4242
HOSTS = frozenset({f"127.0.0.1:{PORT}", f"localhost:{PORT}"})
GOOD_TOKEN = f"Bearer {TOKEN}"
TOKENS = (
    None,
    "",
    "Bearer",
    "Bearer ",
    TOKEN,
    f"Basic {TOKEN}",
    f"Bearer {TOKEN}x",
    f"Bearer {TOKEN[:-1]}",
    GOOD_TOKEN,
)
GOOD_HOSTS = tuple(sorted(HOSTS))
BAD_HOSTS = ("evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", f"127.0.0.1.evil:{PORT}")
ORIGINS = ("none", "own", "null", "http://evil.example", f"https://127.0.0.1:{PORT}", f"http://127.0.0.1:{PORT + 1}")


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Engram]:
    with Engram(tmp_path / "home", serving=True) as opened:
        yield opened


def expected(token: str | None, host: str, origin: str) -> int | None:
    """Return the expected refusal, or None if the request is accepted."""
    if host not in GOOD_HOSTS:
        return 421
    if origin not in ("none", "own"):
        return 403
    return None if token == GOOD_TOKEN else 401


def test_no_route_accepts_a_request_it_should_refuse(local: Engram) -> None:
    app = build_application(local, token=TOKEN, hosts=HOSTS)
    ours = [route.path for route in app.routes if isinstance(route, Route)]
    paths = [path for path in ours if path.startswith(("/api", "/mcp"))] + ["/api/nonsense", "/mcp/nonsense"]
    # Every kind of caller for every route, and every variant of each kind for some routes.
    few = itertools.product(
        (None, TOKENS[6], GOOD_TOKEN), (GOOD_HOSTS[0], BAD_HOSTS[1]), ("none", "own", "null", ORIGINS[3])
    )
    cases = [*itertools.product(paths, ("GET", "POST", "OPTIONS"), few)]
    many = itertools.product(TOKENS, GOOD_HOSTS + BAD_HOSTS, ORIGINS)
    cases += itertools.product(("/api", "/api/register", "/api/nowhere"), ("POST",), many)

    async def act(client: httpx.AsyncClient) -> list[Any]:
        wrong = []
        for path, method, (token, host, origin) in cases:
            headers = {"host": host} | ({} if token is None else {"authorization": token})
            if origin != "none":
                headers["origin"] = f"http://{host}" if origin == "own" else origin
            answer = await client.request(method, path, headers=headers)
            refusal = answer.status_code if answer.status_code in (401, 403, 421) else None
            if refusal != expected(token, host, origin) or not sealed(answer):
                wrong.append((path, method, token, host, origin, answer.status_code))
        return wrong

    assert with_client(app, act) == []
    assert local.stats().total_sessions == 0


def sealed(answer: httpx.Response) -> bool:
    """Return whether a response has the protective headers."""
    kept = (answer.headers.get("cache-control"), answer.headers.get("x-content-type-options"))
    return kept == ("no-store", "nosniff") and not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize(
    ("extra", "status"),
    [
        ([("sec-fetch-site", "cross-site")], 403),
        ([("sec-fetch-site", "same-site")], 403),
        ([("sec-fetch-site", "something new")], 403),
        ([("sec-fetch-site", "same-origin")], 200),
        ([("sec-fetch-site", "none")], 200),
        ([("host", "evil.example")], 421),
        ([("authorization", GOOD_TOKEN)], 401),
        ([("origin", f"http://127.0.0.1:{PORT}"), ("origin", "http://evil.example")], 403),
        (
            [("x-forwarded-host", "evil.example"), ("forwarded", "host=evil.example"), ("x-forwarded-for", "8.8.8.8")],
            200,
        ),
    ],
)
def test_further_headers_cannot_talk_the_door_open(local: Engram, extra: list[tuple[str, str]], status: int) -> None:
    headers = [("host", f"127.0.0.1:{PORT}"), ("authorization", GOOD_TOKEN), *extra]

    async def act(client: httpx.AsyncClient) -> int:
        return (await client.get("/api/stats", headers=headers)).status_code

    assert with_client(build_application(local, token=TOKEN, hosts=HOSTS), act) == status


def test_a_forwarded_host_does_not_stand_in_for_the_real_one(local: Engram) -> None:
    headers = {"host": "evil.example", "x-forwarded-host": f"127.0.0.1:{PORT}", "authorization": GOOD_TOKEN}

    async def act(client: httpx.AsyncClient) -> int:
        return (await client.get("/api/stats", headers=headers)).status_code

    assert with_client(build_application(local, token=TOKEN, hosts=HOSTS), act) == 421


def test_on_a_socket_any_host_will_do_and_no_page(local: Engram) -> None:
    call = Caller(local)
    assert call.send("GET", "/api", headers={"host": "anything"}).status_code == 200
    for origin in ("null", "http://engram", "http://localhost", ""):
        assert call.send("GET", "/api", headers={"origin": origin}).status_code == 403
    assert call.send("GET", "/api", headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_websockets_are_refused(local: Engram) -> None:
    said: list[Any] = []

    async def send(message: Any) -> None:
        said.append(message["type"])

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def welcome(socket: WebSocket) -> None:
        await socket.accept()

    app = build_application(local, token=TOKEN, hosts=HOSTS)
    app.router.routes.append(WebSocketRoute("/live", welcome))
    scope = {"type": "websocket", "path": "/live", "headers": [], "query_string": b"", "subprotocols": []}
    asyncio.run(app(scope, receive, send))
    assert said == ["websocket.close"]


@pytest.mark.parametrize(("token", "hosts"), [(TOKEN, frozenset()), (None, HOSTS), ("", HOSTS)])
def test_token_and_hosts_are_needed_together(local: Engram, token: str | None, hosts: frozenset[str]) -> None:
    with pytest.raises(ValueError, match="token"):
        build_application(local, token=token, hosts=hosts)
