"""HTTP: every operation as JSON, for programs in any language."""

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

import engram.api  # brings every operation into the registry
from engram import text
from engram.api import Engram
from engram.coordination import messages, sessions
from engram.errors import Error, InvalidInput, NotFound
from engram.hub import Hub
from engram.operation import Operation, operations
from engram.surfaces import signature
from engram.surfaces.dashboard import routes as dashboard
from engram.surfaces.dashboard.entrance import Entrance, kept_key
from engram.surfaces.http import mcp
from engram.surfaces.http.answer import Answer, Unexpected, refused
from engram.surfaces.http.body import read_body
from engram.surfaces.http.decode import from_json
from engram.surfaces.http.guard import Guard
from engram.surfaces.http.waiting import WAITING_CALLS, patiently

LONGEST_WAIT = 60  # seconds; longer and clients or proxies give up first
_NAMES_A_SESSION = ("session_id", "sender", "updated_by")
_ALSO = {"get_situation_report": "sitrep"}  # what the older Engram called it
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}

_log = logging.getLogger("engram.serve")


class NotAllowed(Error):
    """{method} is not offered here; use {allowed}."""

    code, status = "method_not_allowed", 405


def application(
    hub: Engram,
    *,
    token: str | None = None,
    hosts: frozenset[str] = frozenset(),
    stopping: Callable[[], bool] = bool,
) -> Starlette:
    """Offer a hub's operations; without token and hosts only for a socket that files already protect.

    People reach a server through a port, so only there it has pages.
    """
    if bool(token) != bool(hosts):
        raise ValueError("A server on TCP needs a token and the names it answers to.")
    waiting = anyio.CapacityLimiter(WAITING_CALLS)
    operations = [_route(hub, each, waiting, each.name) for each in offered()]
    operations += [_route(hub, each, waiting, _ALSO[each.name]) for each in offered() if each.name in _ALSO]
    entrance = Entrance(kept_key(hub.settings.home)) if token else None
    pages = dashboard.routes(hub, entrance, stopping) if entrance else ()
    guard = Middleware(Guard, token=token, hosts=hosts, refuse=dashboard.refuse, pages=entrance)
    app = Starlette(
        routes=[Route("/api", _describe, methods=["GET"]), mcp.route(hub, waiting), *operations, *pages],
        middleware=[guard],
        exception_handlers={Error: _refuse, HTTPException: _astray, Exception: _fail},
    )
    app.router.redirect_slashes = False
    return app


def offered() -> list[Operation]:
    """Return the operations that HTTP offers."""
    return [each for each in operations() if each.agent]


async def _describe(_: Request) -> Response:
    return Answer({"version": engram.__version__, "operations": [_description(each) for each in offered()]})


def _description(operation: Operation) -> dict[str, Any]:
    asked = [
        {
            "name": parameter.name,
            "type": _TYPES.get(parameter.type, "any"),
            "required": parameter.required,
            "default": parameter.default,
            "help": parameter.help,
        }
        for parameter in signature.parameters(operation)
    ]
    return {"name": operation.name, "summary": operation.summary, "writes": operation.writes, "parameters": asked}


def _route(hub: Hub, operation: Operation, waiting: anyio.CapacityLimiter, name: str) -> Route:
    async def answer(request: Request) -> Response:
        if request.method == "POST":
            arguments = await run_in_threadpool(_arguments, operation, await read_body(request))
        else:
            arguments = _within_limits(operation, _query(operation, request.query_params))
        call = partial(_perform, hub, operation, arguments)
        return await (patiently(request, call, waiting) if arguments.get("wait") else run_in_threadpool(call))

    methods = ["POST"] if operation.writes else ["GET", "POST"]
    return Route(f"/api/{name}", answer, methods=methods, name=name)


def _perform(hub: Hub, operation: Operation, arguments: dict[str, Any]) -> Answer:
    try:
        return Answer(operation.call(hub, **arguments), headers=_news(hub, arguments))
    except Error as refusal:
        return refused(refusal, _news(hub, arguments))
    except Exception:
        _log.exception("%s failed", operation.name)
        return refused(Unexpected())


def _news(hub: Hub, arguments: dict[str, Any]) -> dict[str, str]:
    """Say how much the calling session has not been told yet."""
    named = next((arguments[name] for name in _NAMES_A_SESSION if arguments.get(name)), None)
    try:
        return {"Engram-Unread": str(messages.unread_count(hub, sessions.require(hub, named)["id"]))} if named else {}
    except Error:  # no session of that name; or a busy store, which must not undo an answer already given
        return {}


def _arguments(operation: Operation, body: bytes) -> dict[str, Any]:
    try:
        given = from_json(body.decode())
    except ValueError as trouble:
        raise InvalidInput(field="body", reason=f"it is not the JSON we read: {trouble}.") from trouble
    if not isinstance(given, dict):
        raise InvalidInput(field="body", reason=f"expected an object of named arguments, got {type(given).__name__}.")
    return _within_limits(operation, given)


def _query(operation: Operation, query: QueryParams) -> dict[str, Any]:
    kinds = {parameter.name: parameter.type for parameter in signature.parameters(operation)}
    return {name: _converted(name, kinds.get(name), query.getlist(name)) for name in query}


def _converted(name: str, kind: Any, words: list[str]) -> Any:
    if kind is list:
        return words
    if len(words) > 1:
        raise InvalidInput(field=name, reason="it is given more than once.")
    if kind not in (int, float, bool):
        return words[0]
    try:
        return from_json(words[0])
    except ValueError:
        wanted = _TYPES[kind]
        raise InvalidInput(field=name, reason=f"expected {wanted}, got {text.one_line(words[0])!r}.") from None


def _within_limits(operation: Operation, given: dict[str, Any]) -> dict[str, Any]:
    arguments = signature.bind(operation, given)
    if (arguments.get("wait") or 0) > LONGEST_WAIT:
        raise InvalidInput(field="wait", reason=f"over HTTP a call waits {LONGEST_WAIT} seconds at most; call again.")
    return arguments


def _refuse(_: Request, error: Exception) -> Response:
    assert isinstance(error, Error)
    return refused(error)


def _astray(request: Request, error: Exception) -> Response:
    """Answer what the router does not know in our own words."""
    assert isinstance(error, HTTPException)
    if error.status_code == NotAllowed.status:
        allowed = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
        return refused(NotAllowed(method=request.method, allowed=allowed), {"Allow": allowed})
    return refused(NotFound(kind="operation", id=text.one_line(request.url.path, 200), hint="GET /api lists them."))


def _fail(*_: object) -> Response:
    return refused(Unexpected())  # starlette hands the exception on to the server's log
