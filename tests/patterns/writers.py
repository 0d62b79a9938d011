"""Write transcripts of three agents in their own formats, line by line."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)


class Writer:
    """What all transcripts have in common: a session, a project, a clock."""

    flavor = ""

    def __init__(self, home: Path, name: str, project: str = "/home/me/app", start: datetime = START) -> None:
        self.session = str(uuid.uuid5(uuid.NAMESPACE_URL, name))
        self.project, self.now, self.count = project, start, 0
        self.path = self.place(home)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.begin()

    def place(self, home: Path) -> Path:
        """Return the path of the transcript."""
        raise NotImplementedError

    def begin(self) -> None:
        """Write the records before the first message."""

    def tick(self, seconds: int = 20) -> str:
        """Advance the time and return it."""
        self.now += timedelta(seconds=seconds)
        self.count += 1
        return self.now.isoformat().replace("+00:00", "Z")

    def write(self, record: dict[str, Any]) -> None:
        """Append a record."""
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def named(self, path: str) -> str:
        """Return a path as the agent writes it."""
        return path if path.startswith("/") else f"{self.project}/{path}"


class Claude(Writer):
    """Claude Code."""

    flavor = "claude"

    def place(self, home: Path) -> Path:
        return home / ".claude" / "projects" / self.project.replace("/", "-") / f"{self.session}.jsonl"

    def record(self, kind: str, **facts: Any) -> None:
        stamp = self.tick()
        self.write({
            "type": kind, "uuid": str(uuid.uuid5(uuid.UUID(self.session), str(self.count))), "timestamp": stamp,
            "sessionId": self.session, "cwd": self.project, "version": "2.1.200", **facts,
        })  # fmt: skip

    def says(self, text: str) -> None:
        self.record("user", message={"role": "user", "content": text})

    def answers(self, text: str, tokens: int = 50) -> None:
        self._assistant({"type": "text", "text": text}, tokens)

    def _assistant(self, block: dict[str, Any], tokens: int = 50) -> None:
        body = {"id": f"msg_{self.session[:8]}_{self.count}", "role": "assistant", "model": "claude-sonnet-4-5",
                "usage": {"input_tokens": 5, "output_tokens": tokens}, "content": [block]}  # fmt: skip
        self.record("assistant", message=body)

    def call(self, name: str, given: dict[str, Any], output: str, error: bool = False) -> None:
        """Call a tool."""
        call = f"toolu_{self.session[:8]}_{self.count}"
        self._assistant({"type": "tool_use", "id": call, "name": name, "input": given})
        result = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": error}
        self.record("user", message={"role": "user", "content": [result]})

    def runs(self, command: str, output: str = "", code: int = 0) -> None:
        self.call("Bash", {"command": command}, f"Exit code {code}\n{output}" if code else output, bool(code))

    def reads(self, path: str, content: str = "x = 1\n", part: int = 0) -> None:
        place = {"offset": part * 200 + 1, "limit": 200} if part else {}
        self.call("Read", {"file_path": self.named(path), **place}, content)

    def edits(self, path: str, old: str, new: str) -> None:
        given = {"file_path": self.named(path), "old_string": old, "new_string": new}
        self.call("Edit", given, "The file has been updated.")

    def misses(self, path: str) -> None:
        """Edit a text that is not in the file."""
        given = {"file_path": self.named(path), "old_string": "no such line here", "new_string": "another line"}
        wrong = "<tool_use_error>String to replace not found in file.\nString: no such line here</tool_use_error>"
        self.call("Edit", given, wrong, error=True)

    def refused(self, command: str, said: str = "") -> None:
        """Request a command that the user denies."""
        more = f"To tell you how to proceed, the user said:\n{said}" if said else "STOP what you are doing and wait."
        no = f"The user doesn't want to proceed with this tool use. The tool use was rejected. {more}"
        self.call("Bash", {"command": command}, no, error=True)

    def interrupted(self) -> None:
        self.record(
            "user", message={"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]}
        )

    def compacts(self) -> None:
        self.record(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            compactMetadata={"trigger": "auto", "preTokens": 170000},
        )


class Codex(Writer):
    """Codex CLI."""

    flavor = "codex"

    def place(self, home: Path) -> Path:
        return home / ".codex" / "sessions" / "2026" / "11" / "01" / f"rollout-2026-11-01T09-00-00-{self.session}.jsonl"

    def begin(self) -> None:
        self.total = 0
        self.payload("session_meta", {"id": self.session, "cwd": self.project, "cli_version": "0.142.0"})
        self.payload("turn_context", {"model": "gpt-5-codex", "cwd": self.project})

    def payload(self, kind: str, payload: dict[str, Any]) -> None:
        self.write({"timestamp": self.tick(), "type": kind, "payload": payload})

    def says(self, text: str) -> None:
        self._message("user", "input_text", text)

    def answers(self, text: str, tokens: int = 50) -> None:
        self._message("assistant", "output_text", text)
        self._spent(tokens)

    def _message(self, role: str, kind: str, text: str) -> None:
        self.payload("response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]})

    def _spent(self, tokens: int) -> None:
        self.total += tokens
        last = {"input_tokens": 0, "output_tokens": tokens, "total_tokens": tokens}
        info = {
            "last_token_usage": last,
            "total_token_usage": {"output_tokens": self.total, "total_tokens": self.total},
        }
        self.payload("event_msg", {"type": "token_count", "info": info})

    def call(self, name: str, given: Any, output: str) -> None:
        call = f"call_{self.session[:8]}_{self.count}"
        self.payload(
            "response_item", {"type": "function_call", "name": name, "call_id": call, "arguments": json.dumps(given)}
        )
        self.payload("response_item", {"type": "function_call_output", "call_id": call, "output": output})
        self._spent(50)

    def runs(self, command: str, output: str = "", code: int = 0) -> None:
        head = f"Chunk ID: ab12cd\nWall time: 0.5 seconds\nProcess exited with code {code}\nOriginal token count: 9"
        told = f"{head}\nOutput:\n{output}"
        self.call("exec_command", {"cmd": command}, told)

    def reads(self, path: str, content: str = "x = 1\n", part: int = 0) -> None:
        self.runs(f"sed -n '{part * 200 + 1},{part * 200 + 200}p' {path}", content)

    def edits(self, path: str, old: str, new: str) -> None:
        self._patch(path, old, new, '{"output":"Success. Updated the following files:\\nM","metadata":{"exit_code":0}}')

    def _patch(self, path: str, old: str, new: str, output: str) -> None:
        lines = "".join(f"-{line}\n" for line in old.splitlines()) + "".join(f"+{line}\n" for line in new.splitlines())
        self.call(
            "apply_patch", {"input": f"*** Begin Patch\n*** Update File: {path}\n@@\n{lines}*** End Patch"}, output
        )

    def misses(self, path: str) -> None:
        wrong = "apply_patch verification failed: Failed to find expected lines in file:\\nno such line here"
        self._patch(path, "no such line here", "another line", f'{{"output":"{wrong}","metadata":{{"exit_code":1}}}}')

    def refused(self, command: str, said: str = "") -> None:
        self.call("exec_command", {"cmd": command}, "exec command rejected by user")
        if said:
            self.says(said)

    def interrupted(self) -> None:
        self.payload("event_msg", {"type": "turn_aborted", "reason": "interrupted"})

    def compacts(self) -> None:
        self.payload("compacted", {"message": "The conversation so far, in short."})


class Gemini(Writer):
    """Gemini CLI."""

    flavor = "gemini"

    def place(self, home: Path) -> Path:
        return home / ".gemini" / "tmp" / "app" / "chats" / f"session-2026-11-01T09-00-{self.session[:8]}.jsonl"

    def begin(self) -> None:
        self.write({"sessionId": self.session, "projectHash": "a" * 64, "startTime": self.tick(), "kind": "main"})

    def message(self, kind: str, content: Any, **facts: Any) -> None:
        self.write(
            {
                "id": f"{self.session[:8]}-{self.count}",
                "timestamp": self.tick(),
                "type": kind,
                "content": content,
                **facts,
            }
        )

    def says(self, text: str) -> None:
        self.message("user", [{"text": text}])

    def answers(self, text: str, tokens: int = 50) -> None:
        self.message("gemini", text, tokens={"input": 0, "output": tokens}, model="gemini-3-pro")

    def call(self, name: str, given: dict[str, Any], output: str, status: str = "success") -> None:
        call = f"{name}-{self.session[:8]}-{self.count}"
        said = {"error": output} if status == "error" else {"output": output}
        result = [{"functionResponse": {"id": call, "name": name, "response": said}}]
        made = {"id": call, "name": name, "args": given, "result": result, "status": status, "timestamp": self.tick()}
        self.message("gemini", "", toolCalls=[made], tokens={"input": 0, "output": 50}, model="gemini-3-pro")

    def runs(self, command: str, output: str = "", code: int = 0) -> None:
        told = f"Output: {output}\nExit Code: {code}" if code else f"Output: {output}"
        self.call("run_shell_command", {"command": command}, told)

    def reads(self, path: str, content: str = "x = 1\n", part: int = 0) -> None:
        place = {"offset": part * 200, "limit": 200} if part else {}
        self.call("read_file", {"absolute_path": self.named(path), **place}, content)

    def edits(self, path: str, old: str, new: str) -> None:
        self.call(
            "replace",
            {"file_path": self.named(path), "old_string": old, "new_string": new},
            "Successfully modified file",
        )

    def misses(self, path: str) -> None:
        wrong = "Failed to edit, 0 occurrences found for old_string (no such line here). No edits made."
        given = {"file_path": self.named(path), "old_string": "no such line here", "new_string": "another line"}
        self.call("replace", given, wrong, status="error")

    def refused(self, command: str, said: str = "") -> None:
        self.call(
            "run_shell_command",
            {"command": command},
            "[Operation Cancelled] Reason: User did not allow tool call",
            status="error",
        )
        if said:
            self.says(said)

    def interrupted(self) -> None:
        self.message("info", "Request cancelled.")


WRITERS: tuple[type[Writer], ...] = (Claude, Codex, Gemini)
