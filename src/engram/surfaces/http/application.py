"""The HTTP application: every operation as JSON, for programs in any language."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import engram.api  # registers every operation
from engram.api import Engram
from engram.errors import Error, InvalidInput, NotFound
from engram.hub import Hub
from engram.operation import Operation, list_operations
from engram.platform import text
from engram.sessions import lifecycle, messages
from engram.surfaces import signature
from engram.surfaces.dashboard import routes
from engram.surfaces.dashboard.page_auth import PageAuth, load_key
from engram.surfaces.errors import InternalError, NotAllowed
from engram.surfaces.http import mcp
from engram.surfaces.http.access import AccessGuard
from engram.surfaces.http.lock_waits import WAITING_CALLS, run_cancellable
from engram.surfaces.http.request_body import read_body
from engram.surfaces.http.responses import ApiResponse, build_error_response
from engram.surfaces.http.strict_json import from_json

LONGEST_WAIT = 60  # seconds; clients and proxies give up on longer calls
_SESSION_ARGUMENTS = ("session_id", "sender", "updated_by")
_OLD_NAMES = {"get_situation_report": "sitrep"}  # names in the older Engram
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}

_log = logging.getLogger("engram.serve")


def build_application(
    hub: Engram,
    *,
    token: str | None = None,
    hosts: frozenset[str] = frozenset(),
    stopping: Callable[[], bool] = bool,
) -> Starlette:
    """Build the application of a hub; leave out token and hosts only for a Unix socket, which file permissions protect.

    Browsers need a port, so only a server on a port has dashboard pages.
    """
    if bool(token) != bool(hosts):
        raise ValueError("A server on TCP needs a token and host names.")
    waiting = anyio.CapacityLimiter(WAITING_CALLS)
    operations = [_build_route(hub, operation, waiting, operation.name) for operation in list_offered()]
    operations += [
        _build_route(hub, operation, waiting, _OLD_NAMES[operation.name])
        for operation in list_offered()
        if operation.name in _OLD_NAMES
    ]
    page_auth = PageAuth(load_key(hub.settings.home)) if token else None
    pages = routes.build_routes(hub, page_auth, stopping) if page_auth else ()
    guard = Middleware(AccessGuard, token=token, hosts=hosts, refuse=routes.refuse_request, pages=page_auth)
    app = Starlette(
        routes=[Route("/api", _describe_api, methods=["GET"]), mcp.build_route(hub, waiting), *operations, *pages],
        middleware=[guard],
        exception_handlers={Error: _handle_error, HTTPException: _handle_http_error, Exception: _handle_exception},
    )
    app.router.redirect_slashes = False
    return app


def list_offered() -> list[Operation]:
    """Return the operations that HTTP offers."""
    return [operation for operation in list_operations() if operation.agent]


async def _describe_api(_: Request) -> Response:
    return ApiResponse(
        {"version": engram.__version__, "operations": [_describe_operation(operation) for operation in list_offered()]}
    )


def _describe_operation(operation: Operation) -> dict[str, Any]:
    parameters_described = [
        {
            "name": parameter.name,
            "type": _TYPES.get(parameter.type, "any"),
            "required": parameter.required,
            "default": parameter.default,
            "help": parameter.help,
        }
        for parameter in signature.list_parameters(operation)
    ]
    return {
        "name": operation.name,
        "summary": operation.summary,
        "writes": operation.writes,
        "parameters": parameters_described,
    }


def _build_route(hub: Hub, operation: Operation, waiting: anyio.CapacityLimiter, name: str) -> Route:
    async def answer(request: Request) -> Response:
        if request.method == "POST":
            arguments = await run_in_threadpool(_parse_body, operation, await read_body(request))
        else:
            arguments = _bind_arguments(operation, _parse_query(operation, request.query_params))
        call = partial(_call_operation, hub, operation, arguments)
        return await (run_cancellable(request, call, waiting) if arguments.get("wait") else run_in_threadpool(call))

    methods = ["POST"] if operation.writes else ["GET", "POST"]
    return Route(f"/api/{name}", answer, methods=methods, name=name)


def _call_operation(hub: Hub, operation: Operation, arguments: dict[str, Any]) -> ApiResponse:
    try:
        return ApiResponse(operation.call(hub, **arguments), headers=_build_unread_header(hub, arguments))
    except Error as refusal:
        return build_error_response(refusal, _build_unread_header(hub, arguments))
    except Exception:
        _log.exception("%s failed", operation.name)
        return build_error_response(InternalError())


def _build_unread_header(hub: Hub, arguments: dict[str, Any]) -> dict[str, str]:
    """Return a header with the number of unread messages of the calling session."""
    session_name = next((arguments[name] for name in _SESSION_ARGUMENTS if arguments.get(name)), None)
    try:
        return (
            {"Engram-Unread": str(messages.count_unread(hub, lifecycle.require_session(hub, session_name)["id"]))}
            if session_name
            else {}
        )
    except Error:  # unknown session or busy store; the operation has already run
        return {}


def _parse_body(operation: Operation, body: bytes) -> dict[str, Any]:
    try:
        arguments_sent = from_json(body.decode())
    except ValueError as error:
        raise InvalidInput(field="body", reason=f"invalid JSON: {error}.") from error
    if not isinstance(arguments_sent, dict):
        raise InvalidInput(
            field="body", reason=f"expected an object of named arguments, got {type(arguments_sent).__name__}."
        )
    return _bind_arguments(operation, arguments_sent)


def _parse_query(operation: Operation, query: QueryParams) -> dict[str, Any]:
    kinds = {parameter.name: parameter.type for parameter in signature.list_parameters(operation)}
    return {name: _convert_value(name, kinds.get(name), query.getlist(name)) for name in query}


def _convert_value(name: str, kind: Any, words: list[str]) -> Any:
    if kind is list:
        return words
    if len(words) > 1:
        raise InvalidInput(field=name, reason="given more than once.")
    if kind not in (int, float, bool):
        return words[0]
    try:
        return from_json(words[0])
    except ValueError:
        type_name = _TYPES[kind]
        raise InvalidInput(field=name, reason=f"expected {type_name}, got {text.to_one_line(words[0])!r}.") from None


def _bind_arguments(operation: Operation, arguments_sent: dict[str, Any]) -> dict[str, Any]:
    arguments = signature.bind_arguments(operation, arguments_sent)
    if (arguments.get("wait") or 0) > LONGEST_WAIT:
        raise InvalidInput(
            field="wait", reason=f"over HTTP a call waits at most {LONGEST_WAIT} seconds. Call again to wait longer."
        )
    return arguments


def _handle_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, Error)
    return build_error_response(error)


def _handle_http_error(request: Request, error: Exception) -> Response:
    """Return a JSON error for unknown paths and methods."""
    assert isinstance(error, HTTPException)
    if error.status_code == NotAllowed.status:
        allowed = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
        return build_error_response(NotAllowed(method=request.method, allowed=allowed), {"Allow": allowed})
    return build_error_response(
        NotFound(kind="operation", id=text.to_one_line(request.url.path, 200), hint="GET /api lists them.")
    )


def _handle_exception(*_: object) -> Response:
    return build_error_response(InternalError())  # starlette logs the exception
