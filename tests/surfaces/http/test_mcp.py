"""MCP over HTTP: what the transport adds to the protocol."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from engram import Engram
from engram.surfaces.mcp import protocol
from tests.surfaces.http.calling import Caller
from tests.surfaces.mcp.talking import HELLO, META


@pytest.fixture
def caller(tmp_path: Path) -> Iterator[Caller]:
    with Engram(tmp_path / "home", serving=True) as hub:
        yield Caller(hub)


def older(caller: Caller, method: str, headers: dict[str, str] | None = None, **params: Any) -> httpx.Response:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return caller.send("POST", "/mcp", json=body, headers=headers or {})


def newer(caller: Caller, method: str, headers: dict[str, str], **params: Any) -> httpx.Response:
    stated = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **headers}
    meant = {name: value for name, value in stated.items() if value}
    return older(caller, method, meant, **params, _meta=META)


def code(answer: httpx.Response) -> tuple[int, int]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_greeting_and_a_request_need_no_session_between_them(caller: Caller) -> None:
    hello = older(caller, "initialize", None, **HELLO)
    assert (hello.status_code, hello.json()["result"]["protocolVersion"]) == (200, "2025-06-18")
    assert "mcp-session-id" not in hello.headers
    assert len(older(caller, "tools/list", {"MCP-Protocol-Version": "2025-06-18"}).json()["result"]["tools"]) == 9


def test_a_notification_is_accepted_without_a_word(caller: Caller) -> None:
    answer = caller.send("POST", "/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (answer.status_code, answer.content) == (202, b"")


def test_a_batch_is_answered_in_the_versions_that_have_them(caller: Caller) -> None:
    notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    calls = [{"jsonrpc": "2.0", "id": n, "method": "tools/list"} for n in (1, 2)]
    answer = caller.send("POST", "/mcp", json=[notice, *calls])
    assert (answer.status_code, [reply["id"] for reply in answer.json()]) == (200, [1, 2])
    assert caller.send("POST", "/mcp", json=[notice]).status_code == 202
    assert code(caller.send("POST", "/mcp", json=[])) == (400, protocol.INVALID)
    for version, status in (("2025-03-26", 200), ("2025-06-18", 400), ("2026-07-28", 400)):
        headers = {"MCP-Protocol-Version": version}
        assert caller.send("POST", "/mcp", json=calls, headers=headers).status_code == status


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_only_posts_are_taken(caller: Caller, method: str) -> None:
    answer = caller.send(method, "/mcp")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_the_newer_era_says_the_same_in_headers_and_body(caller: Caller) -> None:
    assert newer(caller, "tools/call", {"Mcp-Name": "sitrep"}, name="sitrep").status_code == 200
    odd = f"=?base64?{base64.b64encode('engram://session/ü'.encode()).decode()}?="
    answer = newer(caller, "resources/read", {"Mcp-Name": odd}, uri="engram://session/ü")
    assert code(answer) == (400, protocol.BAD_PARAMS)  # a valid request for something unknown


@pytest.mark.parametrize(
    "headers",
    [
        {"MCP-Protocol-Version": "2025-06-18"},
        {"MCP-Protocol-Version": ""},
        {"Mcp-Method": "tools/list"},
        {"Mcp-Method": ""},
        {"Mcp-Name": "recall"},
        {"Mcp-Name": ""},
        {"Mcp-Name": "=?base64?%%%?="},
    ],
)
def test_headers_that_say_something_else_are_refused(caller: Caller, headers: dict[str, str]) -> None:
    answer = newer(caller, "tools/call", {"Mcp-Name": "sitrep", **headers}, name="sitrep")
    assert code(answer) == (400, protocol.HEADER_MISMATCH)


def test_a_header_given_twice_is_refused(caller: Caller) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}})
    stated = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list"), ("Mcp-Method", "tools/call")]
    answer = caller.send("POST", "/mcp", content=body, headers=[("Content-Type", "application/json"), *stated])
    assert code(answer) == (400, protocol.HEADER_MISMATCH)


def test_a_newer_header_over_an_older_body_is_refused(caller: Caller) -> None:
    stated = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
    assert code(older(caller, "tools/list", stated)) == (400, protocol.BAD_PARAMS)


def test_an_unknown_version_is_refused_with_the_supported_ones(caller: Caller) -> None:
    answer = older(caller, "tools/list", {"MCP-Protocol-Version": "2031-01-01"})
    assert code(answer) == (400, protocol.UNSUPPORTED)
    assert answer.json()["error"]["data"]["supported"] == ["2026-07-28"]


def test_an_unknown_method_is_not_found_in_the_newer_era_only(caller: Caller) -> None:
    assert code(newer(caller, "no/such", {})) == (404, protocol.UNKNOWN_METHOD)
    assert code(older(caller, "no/such")) == (200, protocol.UNKNOWN_METHOD)


@pytest.mark.parametrize("body", [b"{", b"\xff", b"", b'{"a": NaN}', b"[" * 10_000])
def test_invalid_json_is_refused(caller: Caller, body: bytes) -> None:
    answer = caller.send("POST", "/mcp", content=body, headers={"Content-Type": "application/json"})
    assert code(answer) == (400, protocol.UNREADABLE)


def test_another_kind_of_body_is_refused(caller: Caller) -> None:
    assert caller.send("POST", "/mcp", content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 415


def test_the_header_names_the_session(caller: Caller) -> None:
    me = caller.post("register", session_type="claude", summary="work").json()
    call: dict[str, Any] = {"name": "log", "arguments": {"entry": "over HTTP"}}
    assert older(caller, "tools/call", {"Engram-Session": me}, **call).json()["result"]["isError"] is False
    assert older(caller, "tools/call", None, **call).json()["result"]["isError"] is True
    assert caller.post("get_session_logs", session_id=me).json()[0]["entry"] == "over HTTP"


def test_a_lock_that_is_waited_for_is_refused_in_the_end(caller: Caller) -> None:
    me, you = (caller.post("register", session_type="claude", summary="work").json() for _ in range(2))
    caller.post("lock_resource", session_id=you, resource="db:users")
    call: dict[str, Any] = {"name": "lock", "arguments": {"resources": ["db:users"], "wait": 0.2}}
    answer = older(caller, "tools/call", {"Engram-Session": me}, **call).json()["result"]
    assert answer["isError"] is True
    assert f"locked by {you}" in answer["content"][0]["text"]
