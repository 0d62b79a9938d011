"""The event stream of the live board: one watcher polls the store for all open pages."""

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
from engram.surfaces.dashboard.pages.live_board import PARTS, Facts
from engram.surfaces.errors import TooManyListeners

PATH = "/now/stream"
MAX_LISTENERS = 50  # open streams
_LOOK_SECONDS = 1.0  # between two polls of the store
_POLL_SECONDS = 0.5  # how often a stream checks whether the server is stopping
_SILENT_SECONDS = 15  # a keep-alive is sent after this time, so that proxies keep the connection
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

_log = logging.getLogger("engram.serve")


class StreamListener:
    """An open page and the parts to send to it; only the latest version of each part is kept."""

    def __init__(self) -> None:
        self._parts: dict[str, str] = {}
        self._news = asyncio.Event()

    def add_parts(self, parts: dict[str, str]) -> None:
        """Queue parts to be sent."""
        self._parts |= parts
        if self._parts:
            self._news.set()

    async def wait_for_parts(self, seconds: float) -> dict[str, str]:
        """Return the queued parts as soon as there are any, or nothing after the timeout."""
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except TimeoutError:
            return {}
        self._news.clear()
        parts, self._parts = self._parts, {}
        return parts


class BoardWatcher:
    """Polls the board once a second while at least one page is open."""

    def __init__(self, engram: Engram, stopping: Callable[[], bool]) -> None:
        self._engram, self.stopping = engram, stopping
        self._listeners: set[StreamListener] = set()
        self._task: asyncio.Task[None] | None = None
        self._last_facts: dict[str, Facts] = {}
        self._last_html: dict[str, str] = {}

    @property
    def is_full(self) -> bool:
        """Return whether the maximum number of streams is open."""
        return len(self._listeners) >= MAX_LISTENERS

    @property
    def is_watching(self) -> bool:
        """Return whether the watcher is polling."""
        return self._task is not None

    @contextmanager
    def register_listener(self) -> Iterator[StreamListener]:
        """Register a listener for the length of a block; it gets the whole board first."""
        listener = StreamListener()
        listener.add_parts(self._last_html)
        self._listeners.add(listener)
        if self._task is None:
            self._task = asyncio.create_task(self._watch_board())
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    async def _watch_board(self) -> None:
        try:
            while self._listeners and not self.stopping():
                changed = await run_in_threadpool(self._find_changes)
                for listener in self._listeners:
                    listener.add_parts(changed)
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            self._task = None
            self._last_facts, self._last_html = {}, {}

    def _find_changes(self) -> dict[str, str]:
        """Return the parts that changed since the last poll; on errors, the next poll tries again."""
        changed: dict[str, str] = {}
        try:
            for part in PARTS.values():
                facts = part.load(self._engram)
                if facts != self._last_facts.get(part.id):
                    changed[part.id] = part.render(self._engram, facts)
                    self._last_facts[part.id] = facts
        except Exception:
            _log.exception("Loading the live board failed")
        self._last_html |= changed
        return changed


class _BoardStream(StreamingResponse):
    """A response that ends when the page is closed or the server stops."""

    def __init__(self, watcher: BoardWatcher) -> None:
        super().__init__((), media_type="text/event-stream", headers=_HEADERS)
        self._watcher = watcher

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._watcher.register_listener() as listener:
            self.body_iterator = _format_events(listener, self._watcher.stopping)
            await super().__call__(scope, receive, send)


async def _format_events(listener: StreamListener, stopping: Callable[[], bool]) -> AsyncIterator[str]:
    silent_seconds = 0.0
    while not stopping():
        parts = await listener.wait_for_parts(_POLL_SECONDS)
        silent_seconds = 0.0 if parts else silent_seconds + _POLL_SECONDS
        for name, html in parts.items():
            yield f"event: part\ndata: {json.dumps({'id': name, 'html': html})}\n\n"
        if silent_seconds >= _SILENT_SECONDS:
            silent_seconds = 0.0
            yield ": keep-alive\n\n"


def build_route(engram: Engram, stopping: Callable[[], bool]) -> Route:
    """Return the route for the stream."""
    watcher = BoardWatcher(engram, stopping)

    async def answer(_: Request) -> Response:
        if watcher.is_full:
            raise TooManyListeners(most=MAX_LISTENERS)
        return _BoardStream(watcher)

    return Route(PATH, answer, methods=["GET"])
