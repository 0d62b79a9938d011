"""The MCP wire protocol, old and new."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.surfaces.mcp import protocol
from engram.surfaces.mcp.protocol import LEGACY, MODERN, Fault, McpRequest, respond
from tests.surfaces.mcp.talking import META

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
METHODS = st.sampled_from(["initialize", "server/discover", "tools/list", "tools/call", "notifications/cancelled", "x"])
ALMOST = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | ANY_JSON,
        "id": st.integers() | st.text() | ANY_JSON,
        "method": METHODS | ANY_JSON,
        "params": st.fixed_dictionaries({"_meta": st.dictionaries(st.sampled_from([*META]), ANY_JSON)}) | ANY_JSON,
    },
)


def message(method: str = "tools/list", **facts: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, **facts}


def echo(request: McpRequest) -> dict[str, Any]:
    return {"method": request.method}


def code(found: Any) -> Any:
    reply = respond(found, echo)
    assert isinstance(reply, dict)
    return reply["error"]["code"]


@given(ANY_JSON | ALMOST)
def test_any_json_gets_a_valid_reply_or_none(found: Any) -> None:
    replies = respond(found, echo)
    for reply in replies if isinstance(replies, list) else [replies] if replies else []:
        assert reply["jsonrpc"] == "2.0"
        assert ("result" in reply) != ("error" in reply)
        known = [each.get("id") for each in protocol.split_batch(found) if isinstance(each, dict)]
        assert reply["id"] is None or reply["id"] in known
        json.dumps(reply)


@given(ANY_JSON | ALMOST)
def test_whatever_calls_off_names_a_request_or_nothing(found: Any) -> None:
    assert isinstance(protocol.find_cancelled_id(found), str | int | None)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (7, protocol.INVALID),
        ([], protocol.INVALID),
        ([message()] * 101, protocol.INVALID),
        ({"id": 1, "method": "ping"}, protocol.INVALID),
        ({"jsonrpc": "2.0", "id": 1}, protocol.INVALID),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, protocol.INVALID),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, protocol.INVALID),
        (message(params=[1]), protocol.BAD_PARAMS),
        (message("server/discover"), protocol.BAD_PARAMS),
        (message(params={"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}), protocol.BAD_PARAMS),
        (message(params={"_meta": {**META, "io.modelcontextprotocol/protocolVersion": 7}}), protocol.BAD_PARAMS),
    ],
)
def test_an_invalid_request_is_refused_with_its_code(found: Any, expected: int) -> None:
    assert code(found) == expected


@pytest.mark.parametrize(
    "found",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/whatever", "params": 7},
        {"jsonrpc": "2.0", "id": 4, "result": {}},
        {"jsonrpc": "2.0", "id": 4, "error": {"code": 1, "message": "no"}},
    ],
)
def test_what_asks_nothing_is_not_answered(found: Any) -> None:
    assert respond(found, echo) is None


def test_a_batch_gets_the_replies_of_its_requests() -> None:
    notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    replies = respond([message(id=1), notice, message("no/such", id="b"), 7, [message(id=3)]], echo)
    assert isinstance(replies, list)
    assert [reply["id"] for reply in replies] == [1, "b", None, None]
    assert [reply["error"]["code"] for reply in replies[2:]] == [protocol.INVALID] * 2
    assert respond([notice], echo) is None


@pytest.mark.parametrize("alone", [message("initialize"), message("server/discover"), message(params={"_meta": META})])
def test_what_stands_alone_is_refused_in_a_batch(alone: Any) -> None:
    replies = respond([alone], echo)
    assert isinstance(replies, list)
    assert replies[0]["error"]["code"] == protocol.INVALID


def test_an_internal_error_is_reported_without_its_details() -> None:
    def fail(_: McpRequest) -> dict[str, Any]:
        raise RuntimeError("the secret path")

    reply = respond(message(), fail)
    assert isinstance(reply, dict)
    assert reply["error"]["code"] == protocol.INTERNAL
    assert "secret" not in json.dumps(reply)


@pytest.mark.parametrize("version", LEGACY)
def test_a_known_version_of_the_older_era_is_agreed_to(version: str) -> None:
    request = protocol.parse_request(message("initialize", params={"protocolVersion": version}))
    assert request is not None
    assert protocol.build_greeting(request, {}, "")["protocolVersion"] == version


@pytest.mark.parametrize("version", ["1999-01-01", MODERN, None, 7, [LEGACY[0]]])
def test_an_unknown_version_is_answered_with_our_newest_of_that_era(version: Any) -> None:
    request = protocol.parse_request(message("initialize", params={"protocolVersion": version}))
    assert request is not None
    assert protocol.build_greeting(request, {}, "")["protocolVersion"] == LEGACY[-1]


def test_the_newer_era_gets_a_result_type_our_name_and_how_long_to_keep_it() -> None:
    reply = respond(message(params={"_meta": META}), echo)
    assert isinstance(reply, dict)
    assert (reply["result"]["resultType"], reply["result"]["cacheScope"]) == ("complete", "private")
    assert reply["result"]["ttlMs"] >= 0
    assert reply["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "engram"


def test_the_older_protocol_gets_none_of_that() -> None:
    assert respond(message(params={"_meta": {"progressToken": 1}}), echo) == {
        "jsonrpc": "2.0", "id": 1, "result": {"method": "tools/list"},
    }  # fmt: skip


def test_a_version_to_come_is_refused_with_those_we_know() -> None:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    reply = respond(message(params={"_meta": meta}), echo)
    assert isinstance(reply, dict)
    assert reply["error"]["code"] == protocol.UNSUPPORTED
    assert reply["error"]["data"] == {"supported": [MODERN], "requested": "2031-01-01"}


def test_a_fault_carries_its_facts() -> None:
    assert protocol.build_failure("a", Fault(-1, "why", {"x": 1})) == {
        "jsonrpc": "2.0", "id": "a", "error": {"code": -1, "message": "why", "data": {"x": 1}},
    }  # fmt: skip
