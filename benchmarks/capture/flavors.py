"""The agents whose transcripts are read, and their reference token counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from benchmarks.capture.corpus import Corpus, Piece, claude_pieces, codex_pieces
from benchmarks.capture.running import TOKENS


@dataclass(frozen=True)
class Flavor:
    """What the benchmark needs to know about the transcripts of an agent."""

    name: str
    pieces: Callable[[], list[Piece]]
    truth: Callable[[Corpus], dict[str, int]]
    line: Callable[..., str]  # makes a record from a prompt and a session id


def claude_line(text: str, session: str = "00000000-0000-4000-8000-00000000000b") -> str:
    """Return a record with a user prompt."""
    record = {
        "type": "user", "sessionId": session, "uuid": _uuid(text), "parentUuid": None, "cwd": "/bench",
        "timestamp": "2026-06-01T10:00:00.000Z", "message": {"role": "user", "content": text},
    }  # fmt: skip
    return json.dumps(record) + "\n"


def codex_line(text: str, _session: str = "") -> str:
    """Return a record with a user prompt; only the first line of a rollout names the session."""
    content = [{"type": "input_text", "text": text}]
    payload = {"type": "message", "role": "user", "content": content}
    return json.dumps({"timestamp": "2026-06-01T10:00:00.000Z", "type": "response_item", "payload": payload}) + "\n"


def _uuid(text: str) -> str:
    digest = blake2b(text.encode(), digest_size=16).hexdigest()
    return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:]))


def records(corpus: Corpus) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield every valid record."""
    for path in corpus.files:
        with path.open("rb") as file:
            for line in file:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue
                if isinstance(record, dict):
                    yield path, record


def claude_truth(corpus: Corpus) -> dict[str, int]:
    """Count tokens once per message and request, at its largest output, including subagents."""
    answers: dict[tuple[str, str], dict[str, Any]] = {}
    for _, record in records(corpus):
        inner = _inner(record)
        message = inner.get("message")
        if not isinstance(message, dict) or not message.get("id") or message.get("model") == "<synthetic>":
            continue
        usage, key = message.get("usage"), (message["id"], inner.get("requestId") or "")
        if isinstance(usage, dict) and usage.get("output_tokens", 0) > answers.get(key, {}).get("output_tokens", -1):
            answers[key] = usage
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    sums = (sum(usage.get(name) or 0 for usage in answers.values()) for name in names)
    return dict(zip(TOKENS, sums, strict=True))


def _inner(record: dict[str, Any]) -> dict[str, Any]:
    """Return the subagent record inside a progress record, or the record itself."""
    data = record.get("data")
    if record.get("type") != "progress" or not isinstance(data, dict) or data.get("type") != "agent_progress":
        return record
    inner = data.get("message")
    return inner if isinstance(inner, dict) else {}


def codex_truth(corpus: Corpus) -> dict[str, int]:
    """Count tokens by the running totals of each rollout: add the last total before each reset."""
    total = dict.fromkeys(TOKENS, 0)
    last: dict[Path, dict[str, Any]] = {}
    for path, record in records(corpus):
        payload = record.get("payload")
        info = payload.get("info") if isinstance(payload, dict) and payload.get("type") == "token_count" else None
        running = info.get("total_token_usage") if isinstance(info, dict) else None
        if not isinstance(running, dict):
            continue
        if running.get("total_tokens", 0) < last.get(path, {}).get("total_tokens", 0):
            _add_running(total, last[path])
        last[path] = running
    for running in last.values():
        _add_running(total, running)
    return total


def _add_running(total: dict[str, int], running: dict[str, Any]) -> None:
    cached = running.get("cached_input_tokens") or 0
    total["input"] += (running.get("input_tokens") or 0) - cached
    total["output"] += running.get("output_tokens") or 0
    total["cache_read"] += cached


CLAUDE = Flavor("claude", claude_pieces, claude_truth, claude_line)
CODEX = Flavor("codex", codex_pieces, codex_truth, codex_line)


def one_long_line(flavor: Flavor, path: Path, size: int) -> Path:
    """Write a session with one line of about `size` bytes of real text."""
    files = (file for piece in flavor.pieces() for file in piece.files.values())
    text = b"".join(file.read_bytes() for file in files).decode(errors="replace")
    text *= size // len(text) + 1
    half = len(flavor.line(text[: size // 2]))  # quotes and newlines take two bytes each
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(map(flavor.line, ("before", text[: int(size * size / 2 / half)], "after"))))
    return path
