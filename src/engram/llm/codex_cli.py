"""Codex as the user is logged in to it: one answer, without shell, hooks, servers or transcript."""

from __future__ import annotations

import json
import os
import re
import tempfile
from typing import Any

from engram.errors import Error, ModelRefused, ModelUnavailable
from engram.llm import child
from engram.llm.provider import Reply, Request, count
from engram.settings import Settings
from engram.text import one_line

# What it is asked about was written by others, so it gets nothing to act with; unknown settings are passed over.
_LEAN = (
    "exec", "--ephemeral", "--disable", "hooks", "--skip-git-repo-check", "--sandbox", "read-only", "--json",
    *(word for name in ("shell_tool", "unified_exec", "plugins", "apps", "goals", "multi_agent", "view_image")
      for word in ("-c", f"features.{name}=false")),
    "-c", "mcp_servers={}", "-c", "notify=[]", "-c", 'web_search="disabled"', "-c", "project_doc_max_bytes=0",
)  # fmt: skip
_STATUS = re.compile(r"\b(?:status:? )([45]\d\d)\b")
_HEALS = re.compile(r"usage limit|rate.?limit|overloaded|timed? ?out|disconnected|connection", re.IGNORECASE)


class CodexCli:
    """The user's own `codex`."""

    name = "codex"
    priced = True
    overhead = 4000

    def __init__(self, settings: Settings) -> None:
        self.model = settings.model_name
        self.home = settings.home

    def ask(self, request: Request) -> Reply:
        """Answer once."""
        program = child.program(self.name, "codex")
        directory = child.place(self.home)
        with tempfile.TemporaryDirectory(dir=directory, prefix="ask-") as folder:
            answer = os.path.join(folder, "answer.txt")
            argv = [program, *_LEAN, *self._chosen(request, folder), "-o", answer, "-"]
            said = child.run(self.name, argv, request.prompt, directory, child.environment(), request.seconds)
            return _reply(said, _read(answer))

    def reach(self) -> None:
        """Look for the program."""
        child.program(self.name, "codex")

    def _chosen(self, request: Request, folder: str) -> list[str]:
        words = ["-m", self.model] if self.model else []
        if request.system:
            path = _written(folder, "system.txt", request.system)
            words += ["-c", f"model_instructions_file={json.dumps(path)}"]
        if request.schema is not None:
            words += ["--output-schema", _written(folder, "schema.json", json.dumps(request.schema))]
        return words


def _written(folder: str, name: str, text: str) -> str:
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return path


def _read(path: str) -> str:
    if not os.path.exists(path):
        return ""
    with open(path, "rb") as file:
        return file.read(child.LARGEST).decode("utf-8", "replace")


def _reply(said: child.Said, answer: str) -> Reply:
    events = list(_events(said.out))
    failed = next((each for each in reversed(events) if each.get("type") in ("turn.failed", "error")), None)
    ended = next((each for each in reversed(events) if each.get("type") == "turn.completed"), None)
    if ended is None:
        raise _failure(_words(failed) or one_line(said.err.decode("utf-8", "replace"), 300), said.status)
    usage = ended.get("usage") if isinstance(ended.get("usage"), dict) else {}
    cached = count(usage.get("cached_input_tokens"))
    return Reply(
        text=answer, input=max(count(usage.get("input_tokens")) - cached, 0), output=count(usage.get("output_tokens")),
        cache_read=cached, counted=bool(usage),
    )  # fmt: skip


def _events(out: bytes) -> Any:
    for line in out.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event


def _words(event: dict[str, Any] | None) -> str:
    if event is None:
        return ""
    told = event.get("error") or event
    return one_line(str(told.get("message") if isinstance(told, dict) else told), 300)


def _failure(words: str, code: int) -> Error:
    words = words or f"it ended with status {code}."
    told = _STATUS.search(words)
    status = int(told[1]) if told else None
    if status in (408, 429) or (status or 0) >= 500 or (status is None and _HEALS.search(words)):
        return ModelUnavailable(provider="codex", reason=words, after=None, billed=False)
    return ModelRefused(provider="codex", reason=words, hint="Try `codex exec hello` yourself.")


make = CodexCli
