"""MCP over HTTP: one JSON reply per POST, without state between requests."""

from __future__ import annotations

import base64
import binascii
from functools import partial
from typing import Any

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engram.hub import Hub
from engram.surfaces.http.lock_waits import run_cancellable
from engram.surfaces.http.request_body import read_body
from engram.surfaces.http.responses import ApiResponse
from engram.surfaces.http.strict_json import from_json
from engram.surfaces.mcp import protocol
from engram.surfaces.mcp.caller import Caller
from engram.surfaces.mcp.protocol import Fault
from engram.surfaces.mcp.server import McpServer

SESSION_HEADER = "engram-session"  # holds the caller's session id
_VERSION, _METHOD, _NAME = "mcp-protocol-version", "mcp-method", "mcp-name"
_NAME_PARAMS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_BASE64 = ("=?base64?", "?=")  # encoding of names that are not valid in a header
_STATUS_BY_CODE = {protocol.UNKNOWN_METHOD: 404, protocol.INTERNAL: 200, protocol.NO_RESOURCE: 200}


def build_route(hub: Hub, waiting: anyio.CapacityLimiter) -> Route:
    """Return the route for MCP clients."""
    server = McpServer(lambda: hub)

    async def answer(request: Request) -> Response:
        body = await read_body(request)
        try:
            message = from_json(body.decode())
            _check_headers(message, request.headers)
        except ValueError as error:
            return _build_failure(None, Fault(protocol.UNREADABLE, f"The body is not valid JSON: {error}."))
        except Fault as fault:
            return _build_failure(message, fault)
        caller = Caller(environ={}, header_session=request.headers.get(SESSION_HEADER), is_local=False)
        is_waiting = any(map(_is_waiting_call, protocol.split_batch(message)))
        call = partial(_answer_message, server, caller, message)
        return await (run_cancellable(request, call, waiting) if is_waiting else run_in_threadpool(call))

    return Route("/mcp", answer, methods=["POST"], name="mcp")


def _answer_message(server: McpServer, caller: Caller, message: Any) -> Response:
    reply = protocol.respond(message, lambda request: server.answer(request, caller))
    if reply is None:
        return Response(status_code=202)
    return ApiResponse(reply, _choose_status(message, reply))


def _build_failure(message: Any, fault: Fault) -> ApiResponse:
    return ApiResponse(protocol.build_failure(protocol.find_message_id(message), fault), 400)


def _choose_status(message: Any, reply: dict[str, Any] | list[dict[str, Any]]) -> int:
    """Return the HTTP status of a reply; before 2026-07-28 error replies have status 200."""
    if isinstance(reply, list) or "error" not in reply:
        return 200
    code = reply["error"]["code"]
    if protocol.find_message_version(message) is None and code not in (protocol.INVALID, protocol.UNREADABLE):
        return 200
    return _STATUS_BY_CODE.get(code, 400)


def _is_waiting_call(message: Any) -> bool:
    params = message.get("params") if isinstance(message, dict) else None
    arguments = params.get("arguments") if isinstance(params, dict) else None
    return isinstance(arguments, dict) and bool(arguments.get("wait"))


def _check_headers(message: Any, headers: Headers) -> None:
    """Refuse a request whose headers contradict its body, because proxies route by the headers."""
    version, stated = protocol.find_message_version(message), headers.get(_VERSION)
    repeated = [name for name in (_VERSION, _METHOD, _NAME) if len(headers.getlist(name)) > 1]
    if repeated:
        raise Fault(protocol.HEADER_MISMATCH, f"The header {repeated[0]} is given more than once.")
    if isinstance(message, list) and stated not in (None, *protocol.BATCHED):
        raise Fault(protocol.INVALID, f"Version {stated} of the protocol has no batches. Send one message at a time.")
    if version is None and (stated is None or stated in protocol.LEGACY):
        return
    if version is None and stated != protocol.MODERN:
        raise protocol.build_version_fault(str(stated))
    if isinstance(message, dict) and "id" in message:
        _check_names(message, headers, version)


def _check_names(message: dict[str, Any], headers: Headers, version: Any) -> None:
    params = message.get("params")
    name_in_body = params.get(_NAME_PARAMS.get(str(message.get("method")), "")) if isinstance(params, dict) else None
    stated = {
        _VERSION: version,
        _METHOD: message.get("method"),
        **({} if name_in_body is None else {_NAME: name_in_body}),
    }
    for header, expected in stated.items():
        if expected is not None and _decode_header(headers.get(header)) != expected:
            raise Fault(protocol.HEADER_MISMATCH, f"The header {header} does not match the body.")
    if version is None:
        raise Fault(protocol.BAD_PARAMS, "params._meta must name the protocol version, as the header does.")


def _decode_header(header_text: str | None) -> str | None:
    """Return the decoded value of a header, or None if it is invalid."""
    before, after = _BASE64
    if header_text is None or not (header_text.startswith(before) and header_text.endswith(after)):
        return header_text
    try:
        return base64.b64decode(header_text[len(before) : -len(after)], validate=True).decode()
    except (binascii.Error, ValueError):
        return None
