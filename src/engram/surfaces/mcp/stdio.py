"""`engram mcp`: MCP over standard input and output, one JSON message per line.

An agent waits for the first answers before it calls its model, so they use few imports and no store. Calls that need
the store run in their own threads: one that waits for a lock does not block the others.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from _thread import allocate_lock

from engram.surfaces.http.strict_json import from_json
from engram.surfaces.mcp import protocol
from engram.surfaces.mcp.caller import Caller
from engram.surfaces.mcp.protocol import Fault, McpRequest
from engram.surfaces.mcp.server import IMMEDIATE_METHODS, McpServer
from engram.surfaces.mcp.waiting import CancellableClock

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from typing import Any, BinaryIO, NoReturn

    from engram.hub import Hub

    Reply = dict[str, Any] | list[dict[str, Any]] | None

_LINE_BYTES = 4 * 1024 * 1024
_GRACE_SECONDS = 3  # for running calls when the client disconnects


def main() -> int:
    """Serve until standard input closes or a signal arrives."""
    os.umask(0o077)
    for stop_signal in (signal.SIGTERM, signal.SIGINT):
        signal.signal(stop_signal, _raise_stop)
    sink = _reserve_stdout()
    connection = StdioConnection(sys.stdin.buffer, sink)
    try:
        connection.run()
    except (_StdioStopped, BrokenPipeError):
        pass
    for stop_signal in (signal.SIGTERM, signal.SIGINT):
        signal.signal(stop_signal, signal.SIG_IGN)  # do not interrupt the cleanup
    connection.close()
    return 0


class StdioConnection:
    """The connection to one client, with its running calls."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source, self._sink = source, sink
        self._writing, self._opening = allocate_lock(), allocate_lock()
        self._server = McpServer(self._open_hub)
        self._client = ""
        self._calls: dict[str | int, tuple[threading.Thread, threading.Event]] = {}
        self._clock = CancellableClock()
        self._opened: Hub | None = None

    def run(self) -> None:
        """Answer messages line by line until the input ends."""
        while line := self._source.readline(_LINE_BYTES + 1):
            if len(line) > _LINE_BYTES and not line.endswith(b"\n"):
                self._skip_line()
                self._write_reply(
                    protocol.build_failure(
                        None, Fault(protocol.INVALID, f"A line may have at most {_LINE_BYTES} bytes.")
                    )
                )
            elif line.strip():
                self._handle_line(line)

    def close(self) -> None:
        """Cancel waiting calls, give running ones a moment to finish, and close the store."""
        self._clock.ending = True
        for thread, _ in [*self._calls.values()]:
            thread.join(_GRACE_SECONDS)
        if self._opened is not None and not self._calls:
            self._opened.close()

    def _handle_line(self, line: bytes) -> None:
        try:
            message = from_json(line.decode())
        except ValueError as error:
            fault = Fault(protocol.UNREADABLE, f"Invalid JSON: {error}.")
            self._write_reply(protocol.build_failure(_find_id(line), fault))
            return
        for part in protocol.split_batch(message):
            cancelled = protocol.find_cancelled_id(part)
            if cancelled is not None:
                self._cancel_call(cancelled)
        if isinstance(message, dict) and message.get("method") in IMMEDIATE_METHODS:
            self._write_reply(protocol.respond(message, self._answer_request))
        else:
            self._answer_in_thread(message)

    def _cancel_call(self, request_id: str | int) -> None:
        running_call = self._calls.get(request_id)
        if running_call is not None:
            running_call[1].set()

    def _answer_in_thread(self, message: Any) -> None:
        """Answer a request, or the requests of a batch, in their own thread; handle everything else here."""
        request_ids = protocol.list_request_ids(message)
        if not request_ids:
            self._write_reply(protocol.respond(message, self._answer_request))
            return
        import threading

        calls = {request_id: threading.Event() for request_id in request_ids}
        thread = threading.Thread(target=self._run_calls, args=(message, calls), daemon=True)
        self._calls.update({request_id: (thread, cancelled) for request_id, cancelled in calls.items()})
        thread.start()

    def _run_calls(self, message: Any, calls: dict[str | int, threading.Event]) -> None:
        def answer(request: McpRequest) -> dict[str, Any]:
            self._clock.register_call(calls[request.id])
            return self._answer_request(request)

        try:
            self._write_reply(_drop_cancelled(protocol.respond(message, answer), calls))
        except BrokenPipeError:
            pass  # the client has gone; the main thread notices it too
        finally:
            for request_id in calls:
                self._calls.pop(request_id, None)

    def _answer_request(self, request: McpRequest) -> dict[str, Any]:
        self._client = request.client or self._client
        return self._server.answer(request, Caller(environ=os.environ, client=self._client, meta=request.meta))

    def _open_hub(self) -> Hub:
        with self._opening:
            if self._opened is None:
                from engram.api import Engram

                self._opened = Engram(clock=self._clock)
            return self._opened

    def _write_reply(self, reply: Reply) -> None:
        if reply is None:
            return
        line = json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        with self._writing:
            self._sink.write(line + b"\n")
            self._sink.flush()

    def _skip_line(self) -> None:
        """Discard the rest of a line that is too long."""
        while (rest := self._source.readline(_LINE_BYTES)) and not rest.endswith(b"\n"):
            pass


def _find_id(line: bytes) -> str | int | None:
    """Return the id of a message that strict parsing refused, if it can be read, so that its sender gets an answer."""
    try:
        return protocol.find_message_id(json.loads(line))
    except (ValueError, RecursionError):
        return None


def _drop_cancelled(reply: Reply, calls: dict[str | int, threading.Event]) -> Reply:
    """Return a reply without what answers cancelled requests."""
    cancelled_ids = [request_id for request_id, cancelled in calls.items() if cancelled.is_set()]
    if isinstance(reply, list):
        return [part for part in reply if part["id"] not in cancelled_ids] or None
    return None if reply is None or reply["id"] in cancelled_ids else reply


class _StdioStopped(BaseException):
    """A signal asked the server to stop."""


def _raise_stop(*_: object) -> NoReturn:
    raise _StdioStopped


def _reserve_stdout() -> BinaryIO:
    """Reserve standard output for the protocol and send other output to standard error."""
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return sink
