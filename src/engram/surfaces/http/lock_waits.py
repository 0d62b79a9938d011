"""Calls that wait for a lock until their client disconnects."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from engram.clock import Clock
from engram.surfaces.errors import Interrupted
from engram.surfaces.http.responses import build_error_response

WAITING_CALLS = 32  # separate threads: waiting calls must not block the calls that release locks

_caller_gone: ContextVar[threading.Event | None] = ContextVar("gone", default=None)


class CallerClock(Clock):
    """A clock whose sleep raises Interrupted if the client has disconnected or the server is stopping."""

    def __init__(self) -> None:
        self.stopping: Callable[[], bool] = bool

    def sleep(self, seconds: float) -> None:
        """Sleep, then raise Interrupted if the answer is no longer wanted."""
        super().sleep(seconds)
        gone = _caller_gone.get()
        if self.stopping() or (gone is not None and gone.is_set()):
            raise Interrupted


async def run_cancellable(request: Request, call: Callable[[], Response], waiting: anyio.CapacityLimiter) -> Response:
    """Run a call that may wait for a lock; cancel it when the client disconnects, so that no lock is left behind."""
    answer: Response = build_error_response(Interrupted())
    gone = threading.Event()
    _caller_gone.set(gone)

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
