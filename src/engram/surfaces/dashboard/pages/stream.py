"""The live board's stream: one watcher looks for all who listen, and sends the parts that changed."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from engram.api import Engram
from engram.errors import Error
from engram.surfaces.dashboard.pages.board import PARTS, Facts

PATH = "/now/stream"
MOST = 50  # pages that listen at once
_BETWEEN = 1.0  # seconds between two looks
_GLANCE = 0.5  # seconds after which a listener asks whether the server stops
_SILENCE = 15  # seconds after which a word is said, so that nobody between us takes the line for dead
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

_log = logging.getLogger("engram.serve")


class TooManyListeners(Error):
    """{most} pages already show what happens live. Close one of them; this one is as of when it was opened."""

    code, status = "too_many_listeners", 503


class Listener:
    """A page that is open: which parts it has yet to be sent, each only as it is now."""

    def __init__(self) -> None:
        self._parts: dict[str, str] = {}
        self._news = asyncio.Event()

    def tell(self, parts: dict[str, str]) -> None:
        """Leave parts to be sent."""
        self._parts |= parts
        if self._parts:
            self._news.set()

    async def hear(self, seconds: float) -> dict[str, str]:
        """Return the parts to send, as soon as there are any or when the time is over."""
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except TimeoutError:
            return {}
        self._news.clear()
        parts, self._parts = self._parts, {}
        return parts


class Watcher:
    """Looks at the board once a second while anybody listens, and not at all otherwise."""

    def __init__(self, engram: Engram, stopping: Callable[[], bool]) -> None:
        self._engram, self.stopping = engram, stopping
        self._listeners: set[Listener] = set()
        self._task: asyncio.Task[None] | None = None
        self._seen: dict[str, Facts] = {}
        self._drawn: dict[str, str] = {}

    @property
    def is_full(self) -> bool:
        """Tell whether nobody else may listen."""
        return len(self._listeners) >= MOST

    @property
    def is_watching(self) -> bool:
        """Tell whether somebody is told of changes."""
        return self._task is not None

    @contextmanager
    def listening(self) -> Iterator[Listener]:
        """Let somebody listen for the length of a block; the whole board comes first."""
        listener = Listener()
        listener.tell(self._drawn)
        self._listeners.add(listener)
        if self._task is None:
            self._task = asyncio.create_task(self._watch())
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    async def _watch(self) -> None:
        try:
            while self._listeners and not self.stopping():
                changed = await run_in_threadpool(self._look)
                for each in self._listeners:
                    each.tell(changed)
                await asyncio.sleep(_BETWEEN)
        finally:
            self._task = None
            self._seen, self._drawn = {}, {}

    def _look(self) -> dict[str, str]:
        """Return the parts that changed since the last look; a store that cannot be read now is read later."""
        changed: dict[str, str] = {}
        try:
            for part in PARTS.values():
                seen = part.look(self._engram)
                if seen != self._seen.get(part.id):
                    changed[part.id] = part.draw(self._engram, seen)
                    self._seen[part.id] = seen
        except Exception:
            _log.exception("the board could not be looked at")
        self._drawn |= changed
        return changed


class _Stream(StreamingResponse):
    """An answer that goes on until the page is closed or the server stops."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__((), media_type="text/event-stream", headers=_HEADERS)
        self._watcher = watcher

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._watcher.listening() as listener:
            self.body_iterator = _events(listener, self._watcher.stopping)
            await super().__call__(scope, receive, send)


async def _events(listener: Listener, stopping: Callable[[], bool]) -> AsyncIterator[str]:
    silent = 0.0
    while not stopping():
        parts = await listener.hear(_GLANCE)
        silent = 0.0 if parts else silent + _GLANCE
        for name, html in parts.items():
            yield f"event: part\ndata: {json.dumps({'id': name, 'html': html})}\n\n"
        if silent >= _SILENCE:
            silent = 0.0
            yield ": nothing new\n\n"


def route(engram: Engram, stopping: Callable[[], bool]) -> Route:
    """Return the route of the stream."""
    watcher = Watcher(engram, stopping)

    async def answer(_: Request) -> Response:
        if watcher.is_full:
            raise TooManyListeners(most=MOST)
        return _Stream(watcher)

    return Route(PATH, answer, methods=["GET"])
