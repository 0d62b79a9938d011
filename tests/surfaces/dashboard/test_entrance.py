"""Signing in: a link that works once, a cookie, exact hosts, and our own forms."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.routing import Route

from engram import Engram
from engram.surfaces.dashboard.page_auth import PageAuth
from engram.surfaces.http.application import build_application
from tests.surfaces.dashboard.looking import HOST, OWN, TOKEN, Looker
from tests.surfaces.http.calling import Caller, with_client

BEARER = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def looker(tmp_path: Path) -> Any:
    with Engram(tmp_path / "home", serving=True) as opened:
        yield Looker(opened)


def addresses(looker: Looker) -> list[tuple[str, str]]:
    """Return every page with its method."""
    routes = [
        route for route in looker.app.routes if isinstance(route, Route) and not route.path.startswith(("/api", "/mcp"))
    ]
    pages = [(method, route.path) for route in routes for method in route.methods or () if method != "HEAD"]
    return [page for page in pages if page[1] != "/enter"]


def test_no_page_shows_itself_to_a_stranger(looker: Looker) -> None:
    strangers = [{}, {"cookie": "engram-4242=wrong"}, {"cookie": "engram-4242="}, {"cookie": f"other={TOKEN}"}, BEARER]
    pages = [(method, path) for method, path in addresses(looker) if not path.startswith("/static/")]
    cases = list(itertools.product(pages, strangers))

    async def act(client: httpx.AsyncClient) -> list[Any]:
        answers = [
            (method, path, await client.request(method, path, headers={**OWN, **stranger}))
            for (method, path), stranger in cases
        ]
        return [(method, path, answer.status_code) for method, path, answer in answers if answer.status_code != 401]

    assert len(cases) > 10
    assert with_client(looker.app, act) == []


def test_the_cookie_of_a_page_does_not_open_what_programs_call(looker: Looker) -> None:
    assert looker.get("/api/stats").status_code == 401
    assert looker.send("POST", "/mcp", json={}).status_code == 401
    assert looker.send("POST", "/enter", headers=OWN).status_code == 401


def test_a_link_works_once(looker: Looker) -> None:
    link = looker.send("POST", "/enter", headers=BEARER).json()["path"]
    first, second = looker.send("GET", link), looker.send("GET", link)
    assert (first.status_code, first.headers["location"]) == (303, "/")
    assert (second.status_code, "set-cookie" in second.headers) == (401, False)


def test_a_link_that_was_left_lying_opens_nothing() -> None:
    time = [0.0]
    entrance = PageAuth("token", clock=lambda: time[0])
    late, soon = entrance.create_link(), entrance.create_link()
    assert entrance.redeem_ticket(soon.partition("=")[2])
    time[0] = 601.0
    assert not entrance.redeem_ticket(late.partition("=")[2])


def test_the_cookie_is_kept_from_scripts_and_other_sites(looker: Looker) -> None:
    link = looker.send("POST", "/enter", headers=BEARER).json()["path"]
    cookie = looker.send("GET", link).headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert TOKEN not in cookie
    assert looker.form not in cookie


@pytest.mark.parametrize("other", ['prefs={"theme":"dark"}', "a", "x=é", "path=/", 'a="' + '\\"' * 30_000, "=;=;"])
def test_whatever_cookies_others_left_ours_is_found(looker: Looker, other: str) -> None:
    header = f"{other}; {looker.cookie}".encode()
    assert looker.send("GET", "/sessions", headers={"cookie": header}).status_code == 200


def test_a_browser_stays_signed_in_when_the_server_restarts(hub: Engram, looker: Looker) -> None:
    again = Looker(hub)
    assert again.cookie == looker.cookie
    key = Path(hub.settings.home) / "dashboard.key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.read_text() not in looker.cookie
    key.write_text("damaged")
    assert Looker(hub).cookie != looker.cookie


@pytest.mark.parametrize("path", ["/%2fevil.example/x", "/%5cevil.example/x", "/\\evil.example"])
def test_the_way_on_stays_on_this_server(looker: Looker, path: str) -> None:
    answer = looker.send("GET", path, headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 403
    assert re.findall(r'href="([^"]*evil[^"]*)"', answer.text) == ["/evil.example" + path.partition(".example")[2]]


@pytest.mark.parametrize("body", [b"\xff\xfe", b"a&" * 5_000])
def test_a_body_that_is_not_a_form_is_refused(looker: Looker, body: bytes) -> None:
    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert looker.send("POST", "/now/message", content=body, headers=OWN | kind).status_code == 415


@pytest.mark.parametrize("host", ["evil.example:4242", "127.0.0.1", "127.0.0.1:4243", "127.0.0.1.evil:4242", ""])
def test_a_page_answers_to_its_own_name_only(looker: Looker, host: str) -> None:
    assert looker.get("/sessions", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("site", ["cross-site", "same-site", "something new"])
def test_a_page_that_another_site_asks_for_is_not_shown(looker: Looker, site: str) -> None:
    answer = looker.get("/sessions?project=secret", headers={"sec-fetch-site": site})
    assert answer.status_code == 403
    assert 'href="/sessions?project=secret"' in answer.text  # the link to continue
    assert "<table" not in answer.text


def test_a_form_needs_our_origin_and_our_secret(looker: Looker) -> None:
    writing = next(path for method, path in addresses(looker) if method == "POST").replace("{", "").replace("}", "")
    form = {"form": looker.form}
    bad = [
        looker.send("POST", writing, data=form),  # no origin at all
        looker.send("POST", writing, data=form, headers=OWN | {"origin": "http://evil.example"}),
        looker.send("POST", writing, data=form, headers=OWN | {"origin": "null"}),
        looker.send("POST", writing, data={"x": "y"}, headers=OWN),
        looker.send("POST", writing, data={"form": TOKEN}, headers=OWN),
        looker.send("POST", writing, data={"form": "é"}, headers=OWN),
    ]
    assert [each.status_code for each in bad] == [403] * len(bad)


def test_a_form_with_invalid_content_is_refused(looker: Looker) -> None:
    writing = next(path for method, path in addresses(looker) if method == "POST").replace("{", "").replace("}", "")
    assert looker.send("POST", writing, json={"form": looker.form}, headers=OWN).status_code == 415


def test_every_page_keeps_to_itself(looker: Looker) -> None:
    for path in ("/now", "/sessions", "/search", "/wiki", "/timeline", "/patterns", "/health", "/nowhere"):
        headers = looker.get(path).headers
        policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"


def test_a_server_on_a_socket_has_no_pages(tmp_path: Path) -> None:
    with Engram(tmp_path / "home", serving=True) as opened:
        assert Caller(opened).get("/sessions").status_code == 404
        assert [route for route in build_application(opened).routes if getattr(route, "path", "") == "/enter"] == []


def test_an_unknown_address_is_reported_as_a_page(looker: Looker) -> None:
    answer = looker.get("/nowhere")
    assert answer.status_code == 404
    assert "text/html" in answer.headers["content-type"]
    assert HOST not in answer.text
