"""Builders of transcripts as agents write them."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path
from typing import Any

# Beside the checkout; a worktree elsewhere names it.
SHARED = Path(os.environ.get("ENGRAM_TEST_SHARED") or Path(__file__).parents[2].parent / "shared")


class Claude:
    """Writes a Claude Code transcript line by line."""

    def __init__(self, home: Path, session: str | None = None, cwd: str = "/home/me/app") -> None:
        self.session = session or str(uuid.uuid4())
        self.cwd = cwd
        self.path = home / ".claude" / "projects" / "-home-me-app" / f"{self.session}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.clock = 0
        self.last: str | None = None

    def record(self, kind: str, **facts: Any) -> dict[str, Any]:
        """Return the next record of a kind."""
        self.clock += 1
        stamp = f"2026-11-01T10:{self.clock // 60:02}:{self.clock % 60:02}.000Z"
        made = str(uuid.UUID(int=uuid.uuid5(uuid.NAMESPACE_URL, f"{self.session}{self.clock}").int))
        record = {"type": kind, "uuid": made, "parentUuid": self.last, "sessionId": self.session, "timestamp": stamp,
                  "cwd": self.cwd, "gitBranch": "main", "version": "2.1.200", **facts}  # fmt: skip
        self.last = made
        return record

    def write(self, *records: dict[str, Any]) -> None:
        """Append records."""
        with open(self.path, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)

    def says(self, text: str) -> None:
        """Add a user message."""
        self.write(self.record("user", message={"role": "user", "content": text}))

    def answers(
        self, text: str, output: int = 10, message: str | None = None, model: str = "claude-sonnet-4-5", **counts: Any
    ) -> None:
        """Add an agent message, with other counts in its usage if they are given."""
        identity = message or f"msg_{self.session[:8]}_{self.clock}"
        usage = {"input_tokens": 5, "output_tokens": output, "cache_read_input_tokens": 100, **counts}
        body = {"id": identity, "role": "assistant", "model": model, "usage": usage,
                "content": [{"type": "text", "text": text}]}  # fmt: skip
        self.write(self.record("assistant", message=body, requestId=f"req_{identity}"))

    def runs(self, command: str, output: str = "", code: int = 0) -> None:
        """Add a shell command run by the agent."""
        call = f"toolu_{self.session[:8]}_{self.clock}"
        block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        body = {"id": f"msg_{call}", "role": "assistant", "model": "claude-sonnet-4-5", "usage": {"output_tokens": 1},
                "content": [block]}  # fmt: skip
        self.write(self.record("assistant", message=body))
        text = f"Exit code {code}\n{output}" if code else output
        result = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": bool(code)}
        detail = {"stdout": output, "stderr": "", "interrupted": False}
        self.write(self.record("user", message={"role": "user", "content": [result]}, toolUseResult=detail))

    def edits(self, path: str, old: str = "a", new: str = "b") -> None:
        """Add a file edit by the agent."""
        call = f"toolu_{self.session[:8]}_{self.clock}"
        given = {"file_path": path, "old_string": old, "new_string": new}
        body = {"id": f"msg_{call}", "role": "assistant", "model": "claude-sonnet-4-5", "usage": {"output_tokens": 1},
                "content": [{"type": "tool_use", "id": call, "name": "Edit", "input": given}]}  # fmt: skip
        self.write(self.record("assistant", message=body))
        result = {"type": "tool_result", "tool_use_id": call, "content": "The file was updated."}
        detail = {"filePath": path, "originalFile": "whole file\n" * 500}
        self.write(self.record("user", message={"role": "user", "content": [result]}, toolUseResult=detail))
