"""Calls that wait for a lock, for as long as their caller does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from engram.clock import Clock
from engram.errors import Error
from engram.surfaces.http.answer import refused

WAITING_CALLS = 32  # threads of their own: those who wait must not keep out those who let go

_gone: ContextVar[threading.Event | None] = ContextVar("gone", default=None)


class Interrupted(Error):
    """The call was given up before it was done, because the server stops or the caller has gone."""

    code, status = "interrupted", 503


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


async def patiently(request: Request, call: Callable[[], Response], waiting: anyio.CapacityLimiter) -> Response:
    """Let a call wait for a lock, and give it up when its caller does: nobody would hold what it gets."""
    answer: Response = refused(Interrupted())
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
