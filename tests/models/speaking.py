"""An HTTP server that answers as a test says, in the formats of the two APIs."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Act = Callable[[BaseHTTPRequestHandler], None]


class Api:
    """The requests received and the answers to give; the last answer is repeated."""

    def __init__(self, *acts: Act) -> None:
        self.acts = list(acts)
        self.asked: list[dict[str, Any]] = []
        self.url = ""
        self.done = threading.Event()

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("content-length") or 0)
        body = json.loads(handler.rfile.read(length)) if length else None
        self.asked.append({"path": handler.path, "headers": dict(handler.headers), "body": body})
        act = self.acts[0] if len(self.acts) == 1 else self.acts.pop(0)
        act(handler)


@contextmanager
def speaking(*acts: Act) -> Iterator[Api]:
    """Serve on a loopback port while the block runs."""
    api = Api(*acts)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            api.handle(self)

        def do_GET(self) -> None:
            api.handle(self)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_: Any) -> None:  # a client that disconnects is not an error
            pass

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield api
    finally:
        api.done.set()
        server.shutdown()
        thread.join()
        server.server_close()


def says(body: Any, status: int = 200, **headers: str) -> Act:
    """Answer with a body."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    def act(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, text in headers.items():
            handler.send_header(name.replace("_", "-"), text)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return act


def message(text: str = "", tool: Any = None, **facts: Any) -> Act:
    """Answer as the Messages API does."""
    content = [{"type": "text", "text": text}] if text else []
    if tool is not None:
        content.append({"type": "tool_use", "id": "t", "name": "answer", "input": tool})
    usage = {"input_tokens": 1000, "output_tokens": 100, "cache_read_input_tokens": 0}
    told = {"type": "message", "model": "claude-haiku-4-5-20251001", "content": content, "stop_reason": "end_turn"}
    return says({**told, "usage": usage, **facts})


def chat(text: str, **facts: Any) -> Act:
    """Answer as chat completions do."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 400}}
    return says({"model": "gpt-4o-mini", "choices": [choice], "usage": usage, **facts})
