"""Codex with the user's login: one answer, without shell, hooks, servers or transcript."""

from __future__ import annotations

import json
import os
import re
import tempfile
from typing import Any

from engram.errors import Error, ModelRefused, ModelUnavailable
from engram.models import agent_process
from engram.models.provider import Reply, Request, clean_token_count
from engram.platform.text import to_one_line
from engram.settings import Settings

# The prompt quotes text written by others, so the model gets no tools; unknown settings are ignored.
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
        """Make one call."""
        program = agent_process.find_program(self.name, "codex")
        directory = agent_process.ensure_work_folder(self.home)
        with tempfile.TemporaryDirectory(dir=directory, prefix="ask-") as folder:
            answer = os.path.join(folder, "answer.txt")
            argv = [program, *_LEAN, *self._build_arguments(request, folder), "-o", answer, "-"]
            output = agent_process.run_program(
                self.name, argv, request.prompt, directory, agent_process.build_environment(), request.seconds
            )
            return _parse_reply(output, _read_file(answer))

    def reach(self) -> None:
        """Find the program."""
        agent_process.find_program(self.name, "codex")

    def _build_arguments(self, request: Request, folder: str) -> list[str]:
        words = ["-m", self.model] if self.model else []
        if request.system:
            path = _write_file(folder, "system.txt", request.system)
            words += ["-c", f"model_instructions_file={json.dumps(path)}"]
        if request.schema is not None:
            words += ["--output-schema", _write_file(folder, "schema.json", json.dumps(request.schema))]
        return words


def _write_file(folder: str, name: str, text: str) -> str:
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return path


def _read_file(path: str) -> str:
    if not os.path.exists(path):
        return ""
    with open(path, "rb") as file:
        return file.read(agent_process.LARGEST).decode("utf-8", "replace")


def _parse_reply(output: agent_process.ProcessOutput, answer: str) -> Reply:
    events = list(_iter_events(output.out))
    failed = next((event for event in reversed(events) if event.get("type") in ("turn.failed", "error")), None)
    completed = next((event for event in reversed(events) if event.get("type") == "turn.completed"), None)
    if completed is None:
        raise _build_failure(
            _get_error_text(failed) or to_one_line(output.err.decode("utf-8", "replace"), 300), output.status
        )
    usage = completed.get("usage") if isinstance(completed.get("usage"), dict) else {}
    cached = clean_token_count(usage.get("cached_input_tokens"))
    return Reply(
        text=answer,
        input=max(clean_token_count(usage.get("input_tokens")) - cached, 0),
        output=clean_token_count(usage.get("output_tokens")),
        cache_read=cached,
        counted=bool(usage),
    )


def _iter_events(out: bytes) -> Any:
    for line in out.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event


def _get_error_text(event: dict[str, Any] | None) -> str:
    if event is None:
        return ""
    error = event.get("error") or event
    return to_one_line(str(error.get("message") if isinstance(error, dict) else error), 300)


def _build_failure(words: str, code: int) -> Error:
    words = words or f"it exited with status {code}."
    match = _STATUS.search(words)
    status = int(match[1]) if match else None
    if status in (408, 429) or (status or 0) >= 500 or (status is None and _HEALS.search(words)):
        return ModelUnavailable(provider="codex", reason=words, after=None, billed=False)
    return ModelRefused(provider="codex", reason=words, hint="Test it with `codex exec hello`.")


make = CodexCli
