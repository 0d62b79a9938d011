"""A client of `engram mcp`: a real process, one JSON message per line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tester", "version": "1"}}


class Talk:
    """A running server and the messages sent to it."""

    def __init__(self, directory: Path, command: list[str] | None = None, **env: str) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command or [sys.executable, "-m", "engram", "mcp"], cwd=directory, env={**os.environ, **env},
            stdin=pipe, stdout=pipe, stderr=pipe,
        )  # fmt: skip
        self.number = -1  # the first request has id 0, as with Claude Code
        self.early: dict[Any, dict[str, Any]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def say(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> int:
        """Send a request and return its id."""
        self.number += 1
        self.say(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}).encode())
        return self.number

    def notify(self, method: str, **params: Any) -> None:
        self.say(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def hear(self) -> dict[str, Any]:
        """Return the next message."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, (self.process.stderr.read() if self.process.stderr else b"").decode()
        data: dict[str, Any] = json.loads(line)
        return data

    def reply(self, number: int) -> dict[str, Any]:
        """Return the reply to one request, skipping others."""
        while number not in self.early:
            result = self.hear()
            self.early[result["id"]] = result
        return self.early.pop(number)

    def result(self, method: str, **params: Any) -> dict[str, Any]:
        reply = self.reply(self.ask(method, **params))
        assert "result" in reply, reply
        result: dict[str, Any] = reply["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.result("tools/call", name=tool, arguments=arguments)

    def leave(self) -> tuple[int, bytes]:
        """Close the server's input; return its exit status and remaining output."""
        said, _ = self.process.communicate(timeout=60)
        return self.process.returncode, said
