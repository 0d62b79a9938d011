"""MCP over HTTP: one POST, one JSON reply; nothing is kept between them."""

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
from engram.surfaces.http.answer import Answer
from engram.surfaces.http.body import read_body
from engram.surfaces.http.decode import from_json
from engram.surfaces.http.waiting import patiently
from engram.surfaces.mcp import protocol
from engram.surfaces.mcp.caller import Caller
from engram.surfaces.mcp.protocol import Fault
from engram.surfaces.mcp.server import Server

SESSION = "engram-session"  # the header in which a caller names its session
_VERSION, _METHOD, _NAME = "mcp-protocol-version", "mcp-method", "mcp-name"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_BASE64 = ("=?base64?", "?=")  # how a name is written that a header cannot carry
_STATUS = {protocol.UNKNOWN_METHOD: 404, protocol.INTERNAL: 200, protocol.NO_RESOURCE: 200}


def route(hub: Hub, waiting: anyio.CapacityLimiter) -> Route:
    """Return the route under which a hub is offered to MCP clients."""
    server = Server(lambda: hub)

    async def answer(request: Request) -> Response:
        body = await read_body(request)
        try:
            message = from_json(body.decode())
            _check(message, request.headers)
        except ValueError as trouble:
            return _failed(None, Fault(protocol.UNREADABLE, f"The body is not the JSON we read: {trouble}."))
        except Fault as fault:
            return _failed(message, fault)
        caller = Caller(environ={}, named=request.headers.get(SESSION), local=False)
        call = partial(_perform, server, caller, message)
        return await (patiently(request, call, waiting) if _waits(message) else run_in_threadpool(call))

    return Route("/mcp", answer, methods=["POST"], name="mcp")


def _perform(server: Server, caller: Caller, message: Any) -> Response:
    reply = protocol.respond(message, lambda request: server.answer(request, caller))
    if reply is None:
        return Response(status_code=202)
    return Answer(reply, _status(message, reply))


def _failed(message: Any, fault: Fault) -> Answer:
    return Answer(protocol.failure(protocol.id_of(message), fault), 400)


def _status(message: Any, reply: dict[str, Any]) -> int:
    """Return the status that goes with a reply: before 2026-07-28 an answered request is a success."""
    if "error" not in reply:
        return 200
    code = reply["error"]["code"]
    if protocol.version_of(message) is None and code not in (protocol.INVALID, protocol.UNREADABLE):
        return 200
    return _STATUS.get(code, 400)


def _waits(message: Any) -> bool:
    params = message.get("params") if isinstance(message, dict) else None
    given = params.get("arguments") if isinstance(params, dict) else None
    return isinstance(given, dict) and bool(given.get("wait"))


def _check(message: Any, headers: Headers) -> None:
    """Refuse a request whose headers say something else than its body: whoever routes by them would be misled."""
    version, stated = protocol.version_of(message), headers.get(_VERSION)
    twice = [name for name in (_VERSION, _METHOD, _NAME) if len(headers.getlist(name)) > 1]
    if twice:
        raise Fault(protocol.HEADER_MISMATCH, f"The header {twice[0]} is given more than once.")
    if version is None and (stated is None or stated in protocol.LEGACY):
        return
    if version is None and stated != protocol.MODERN:
        raise protocol.unsupported(str(stated))
    if isinstance(message, dict) and "id" in message:
        _check_names(message, headers, version)


def _check_names(message: dict[str, Any], headers: Headers, version: Any) -> None:
    params = message.get("params")
    named = params.get(_NAMED.get(str(message.get("method")), "")) if isinstance(params, dict) else None
    stated = {_VERSION: version, _METHOD: message.get("method"), **({} if named is None else {_NAME: named})}
    for header, meant in stated.items():
        if meant is not None and _decoded(headers.get(header)) != meant:
            raise Fault(protocol.HEADER_MISMATCH, f"The header {header} does not say what the body says.")
    if version is None:
        raise Fault(protocol.BAD_PARAMS, "params._meta must name the protocol version, as the header does.")


def _decoded(given: str | None) -> str | None:
    """Return a header's value; None if it is damaged."""
    before, after = _BASE64
    if given is None or not (given.startswith(before) and given.endswith(after)):
        return given
    try:
        return base64.b64decode(given[len(before) : -len(after)], validate=True).decode()
    except (binascii.Error, ValueError):
        return None
