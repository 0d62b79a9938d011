"""HTTP: every operation as JSON, for programs in any language."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

import engram.api  # brings every operation into the registry
from engram import text
from engram.clock import Clock
from engram.coordination import messages, sessions
from engram.errors import Error, InvalidInput, NotFound, TooLarge, Unauthorized
from engram.hub import Hub
from engram.operation import Operation, operations
from engram.surfaces import signature
from engram.surfaces.encode import problem, to_json
from engram.surfaces.http.decode import from_json
from engram.surfaces.http.guard import Guard

BODY_BYTES = 4 * 1024 * 1024
LONGEST_WAIT = 60  # seconds; longer and clients or proxies give up first
_WAITING_CALLS = 32  # threads of their own: those who wait must not keep out those who let go
_NAMES_A_SESSION = ("session_id", "sender", "updated_by")
_ALWAYS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}

_log = logging.getLogger("engram.serve")
_gone: ContextVar[threading.Event | None] = ContextVar("gone", default=None)


class NotAllowed(Error):
    """{method} is not offered here; use {allowed}."""

    code, status = "method_not_allowed", 405


class NotJson(Error):
    """The body must be JSON in UTF-8, sent as Content-Type: application/json."""

    code, status = "not_json", 415


class Interrupted(Error):
    """The call was given up before it was done, because the server stops or the caller has gone."""

    code, status = "interrupted", 503


class Unexpected(Error):
    """Something went wrong inside Engram; the server's log says what."""

    code, status = "internal", 500


class Answer(Response):
    """A value as JSON that nobody caches or guesses about."""

    media_type = "application/json"

    def __init__(self, content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(to_json(content).encode("utf-8", "replace"), status, {**_ALWAYS, **(headers or {})})


class CallerClock(Clock):
    """The machine's clocks; who sleeps for a caller is woken when the caller has gone or the server stops."""

    def __init__(self) -> None:
        self.stopping: Callable[[], bool] = bool

    def sleep(self, seconds: float) -> None:
        """Let others go first, for as long as somebody still wants the answer."""
        super().sleep(seconds)
        gone = _gone.get()
        if self.stopping() or (gone is not None and gone.is_set()):
            raise Interrupted


def application(hub: Hub, *, token: str | None = None, hosts: frozenset[str] = frozenset()) -> Starlette:
    """Offer a hub's operations; without token and hosts only for a socket that files already protect."""
    if bool(token) != bool(hosts):
        raise ValueError("A server on TCP needs a token and the names it answers to.")
    waiting = anyio.CapacityLimiter(_WAITING_CALLS)
    app = Starlette(
        routes=[Route("/api", _describe, methods=["GET"]), *(_route(hub, each, waiting) for each in offered())],
        middleware=[Middleware(Guard, token=token, hosts=hosts, refuse=refused)],
        exception_handlers={Error: _refuse, HTTPException: _astray, Exception: _fail},
    )
    app.router.redirect_slashes = False
    return app


def offered() -> list[Operation]:
    """Return the operations that HTTP offers."""
    return [each for each in operations() if each.agent]


def refused(error: Error, headers: Mapping[str, str] | None = None) -> Answer:
    """Turn a refusal into its answer."""
    challenge = {"WWW-Authenticate": "Bearer"} if error.status == Unauthorized.status else {}
    return Answer(problem(error), error.status, {**challenge, **(headers or {})})


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


def _route(hub: Hub, operation: Operation, waiting: anyio.CapacityLimiter) -> Route:
    async def answer(request: Request) -> Response:
        if request.method == "POST":
            arguments = await run_in_threadpool(_arguments, operation, await _body(request))
        else:
            arguments = _within_limits(operation, _query(operation, request.query_params))
        call = partial(_perform, hub, operation, arguments)
        return await (_patiently(request, call, waiting) if arguments.get("wait") else run_in_threadpool(call))

    methods = ["POST"] if operation.writes else ["GET", "POST"]
    return Route(f"/api/{operation.name}", answer, methods=methods, name=operation.name)


async def _patiently(request: Request, call: Callable[[], Answer], waiting: anyio.CapacityLimiter) -> Answer:
    """Let a call wait for a lock, and give it up when its caller does: nobody would hold what it gets."""
    answer = refused(Interrupted())
    gone = threading.Event()
    _gone.set(gone)

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        gone.set()
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        answer = await anyio.to_thread.run_sync(call, limiter=waiting)
        group.cancel_scope.cancel()
    return answer


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


async def _body(request: Request) -> bytes:
    kind, _, extras = request.headers.get("content-type", "").lower().partition(";")
    if kind.strip() != "application/json" or extras.strip() not in ("", "charset=utf-8", 'charset="utf-8"'):
        raise NotJson
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > BODY_BYTES:
                raise TooLarge(field="The body", size=len(body), limit=BODY_BYTES, unit="bytes", hint="Send less.")
    except ClientDisconnect:
        raise Interrupted from None
    return bytes(body)


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
