"""`engram mcp`: MCP on standard input and output, one JSON message per line.

An agent waits for the first answers before it asks its model, so they come from tables, with little imported. What
needs the store runs in threads of its own: a call that waits for a lock holds up nobody else.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from _thread import allocate_lock

from engram.surfaces.http.decode import from_json
from engram.surfaces.mcp import protocol
from engram.surfaces.mcp.caller import Caller
from engram.surfaces.mcp.patience import Patience
from engram.surfaces.mcp.protocol import Fault, Request
from engram.surfaces.mcp.server import AT_ONCE, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from typing import Any, BinaryIO, NoReturn

    from engram.hub import Hub

_LINE_BYTES = 4 * 1024 * 1024
_GRACE = 3  # seconds for calls under way when the client leaves


def main() -> int:
    """Serve until the client closes our input or a signal asks us to end."""
    os.umask(0o077)
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, _end)
    sink = _only_protocol()
    connection = Connection(sys.stdin.buffer, sink)
    try:
        connection.run()
    except (_Ended, BrokenPipeError):
        pass
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)  # clearing up is not interrupted
    connection.close()
    return 0


class Connection:
    """One client, its questions and the calls it waits for."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source, self._sink = source, sink
        self._writing, self._opening = allocate_lock(), allocate_lock()
        self._server = Server(self._hub)
        self._client = ""
        self._calls: dict[str | int, tuple[threading.Thread, threading.Event]] = {}
        self._clock = Patience()
        self._opened: Hub | None = None

    def run(self) -> None:
        """Answer line by line until there are no more."""
        while line := self._source.readline(_LINE_BYTES + 1):
            if len(line) > _LINE_BYTES and not line.endswith(b"\n"):
                self._skip()
                self._write(protocol.failure(None, Fault(protocol.INVALID, f"A line has {_LINE_BYTES} bytes at most.")))
            elif line.strip():
                self._take(line)

    def close(self) -> None:
        """End what still waits, let what is nearly done finish, and let go of the store."""
        self._clock.ending = True
        for thread, _ in [*self._calls.values()]:
            thread.join(_GRACE)
        if self._opened is not None and not self._calls:
            self._opened.close()

    def _take(self, line: bytes) -> None:
        try:
            message = from_json(line.decode())
        except ValueError as trouble:
            fault = Fault(protocol.UNREADABLE, f"That is not the JSON we read: {trouble}.")
            self._write(protocol.failure(_id_in(line), fault))
            return
        called_off = protocol.cancelled(message)
        if called_off is not None:
            self._call_off(called_off)
        elif isinstance(message, dict) and message.get("method") in AT_ONCE:
            self._write(protocol.respond(message, self._answer))
        else:
            self._aside(message)

    def _call_off(self, request_id: str | int) -> None:
        under_way = self._calls.get(request_id)
        if under_way is not None:
            under_way[1].set()

    def _aside(self, message: Any) -> None:
        """Answer in a thread of its own; what asks for nothing needs none."""
        try:
            request = protocol.read(message)
        except Fault:
            request = None
        if request is None:
            self._write(protocol.respond(message, self._answer))
            return
        import threading

        called_off = threading.Event()
        thread = threading.Thread(target=self._perform, args=(request.id, message, called_off), daemon=True)
        self._calls[request.id] = thread, called_off
        thread.start()

    def _perform(self, request_id: str | int, message: Any, called_off: threading.Event) -> None:
        try:
            self._clock.begin(called_off)
            reply = protocol.respond(message, self._answer)
            if not called_off.is_set():
                self._write(reply)
        except BrokenPipeError:
            pass  # the reader has gone, and the main thread will see it
        finally:
            self._calls.pop(request_id, None)

    def _answer(self, request: Request) -> dict[str, Any]:
        self._client = request.client or self._client
        return self._server.answer(request, Caller(environ=os.environ, client=self._client, meta=request.meta))

    def _hub(self) -> Hub:
        with self._opening:
            if self._opened is None:
                from engram.api import Engram

                self._opened = Engram(clock=self._clock)
            return self._opened

    def _write(self, reply: dict[str, Any] | None) -> None:
        if reply is None:
            return
        line = json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        with self._writing:
            self._sink.write(line + b"\n")
            self._sink.flush()

    def _skip(self) -> None:
        """Read to the end of a line that is too long."""
        while (rest := self._source.readline(_LINE_BYTES)) and not rest.endswith(b"\n"):
            pass


def _id_in(line: bytes) -> str | int | None:
    """Return the id of a message we do not read, if it can be made out: its sender waits for an answer."""
    try:
        return protocol.id_of(json.loads(line))
    except (ValueError, RecursionError):
        return None


class _Ended(BaseException):
    """A signal asked us to end."""


def _end(*_: object) -> NoReturn:
    raise _Ended


def _only_protocol() -> BinaryIO:
    """Keep standard output for the protocol: whatever else is printed goes to standard error."""
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return sink
