"""Claude Code.

Where: `~/.claude/projects/<slug>/<session>.jsonl` (`CLAUDE_CONFIG_DIR` moves it, `~/.config/claude` is also used). A
subagent's records have its parent's `sessionId`; they were inline (`isSidechain`, before 2.0), then in
`agent-<id>.jsonl` beside the session, now in `<session>/subagents/…`. From 2.1.12 to 2.1.79 the parent repeats them
in `agent_progress` records, the only trace if the subagent's file is gone.

Records: one JSON object per line; `type` is user, assistant, system, progress, attachment, file-history-snapshot,
summary, custom-title, ai-title, queue-operation, last-prompt, mode, pr-link … and new ones every few weeks. Linked
by `uuid` and `parentUuid`; some have neither, nor a timestamp. Times may go backwards: file order counts.

Usage: a reply is written as one record per content block, each with a copy of the reply's usage whose
output may still be growing: a reply counts once, by `message.id` and `requestId`, with its largest output. A fork
(`--fork-session`) repeats the chain under a new session id and the old message ids. Titles, web searches and
compactions are never logged, so totals are a floor. `speed` is standard or fast, which costs more.

Seen: 2025-06 inline sidechains, and 2.0.64 to 2.1.219.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.agents.transcripts.adapter import (
    HEAD_BYTES,
    Item,
    Mark,
    Place,
    extract_text,
    get_user_home,
    int_or_none,
    text_or_none,
    to_count,
    to_dict,
    to_microseconds,
    to_text,
)
from engram.agents.transcripts.formats.bounded_file import Bytes, open_unpacked
from engram.agents.transcripts.formats.json_lines import (
    TranscriptRecord,
    any_record_matches,
    build_opaque_event,
    build_record_key,
    follow_records,
)
from engram.types import About, Event, Usage

_RECORD_SIGNS = (
    ("progress", "toolUseID"), ("attachment", "parentUuid"), ("summary", "leafUuid"), ("queue-operation", "operation"),
    ("file-history-snapshot", "messageId"),
)  # fmt: skip
_PROGRESS, _OF_AGENT = b'"type":"progress"', b'"agent_progress"'
_SESSION = re.compile(rb'"sessionId": ?"([\w.-]{1,80})"')
_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (\d+)")
_DENIED = ("The user doesn't want to proceed", "The user doesn't want to take this action", "Permission to use")
_COMMAND = "<command-name>"  # typed by the user, but for the program and not the agent
_COMMAND_STARTS, _COMMAND_READ = ("<command-name>", "<command-message>"), 400
_INTERRUPTED = "[Request interrupted by user"
_INJECTED = re.compile(
    r"\s*(?:<(?:local-command|command-message|bash-std|system-reminder|task-notification|user-prompt-submit-hook|"
    r"teammate-message|ide_|post-tool-use)|Caveat: |This session is being continued)"
)
_BULK_FIELDS = {
    "originalFile",
    "originalFileContents",
    "content",
    "stdout",
    "stderr",
    "oldString",
    "newString",
    "prompt",
    "file",
}
_SESSION_FACTS = ("cwd", "branch", "version", "model", "entrypoint", "title")
_PLAIN_FIELDS = {  # records with one small fact, and the field it is in
    "queue-operation": "operation", "mode": "mode", "permission-mode": "permissionMode", "last-prompt": "leafUuid",
    "pr-link": "prUrl", "frame-link": "url",
}  # fmt: skip


class ClaudeAdapter:
    """The adapter for Claude Code."""

    flavor = "claude"
    version = 1
    forks_unnamed = True

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Claude Code keeps its transcripts."""
        home = get_user_home(environ)
        configured = [directory for directory in environ.get("CLAUDE_CONFIG_DIR", "").split(",") if directory]
        for root in configured or [os.path.join(home, ".claude"), os.path.join(home, ".config", "claude")]:
            yield Place(root=os.path.join(root, "projects"), endings=(".jsonl",), left_out=("journal.jsonl",))

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file is a transcript of Claude Code."""
        cut = b"\n" not in head and b'"parentUuid":' in head and b'"sessionId":' in head
        return cut or any_record_matches(head, _is_claude_record)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield the items of a transcript after a mark."""
        state = dict(since.state or {"session": _find_session_id(path)})
        yield from follow_records(
            path, since.offset, state, _read_record, lambda known: str(known["session"]), _is_screen_progress
        )


def _is_claude_record(record: dict[str, Any]) -> bool:
    """Return whether a record is Claude's, not Qwen's (message.parts) or iFlow's (session id prefix)."""
    if str(record.get("sessionId", "")).startswith("session-") and record.get("userType"):
        return False
    kind, message = record.get("type"), to_dict(record.get("message"))
    if kind in ("user", "assistant"):
        return "content" in message and (kind == "user" or "sessionId" in record or "uuid" in record)
    return any(kind == sign_kind and mark in record for sign_kind, mark in _RECORD_SIGNS)


def _is_screen_progress(line: Bytes) -> bool:
    """Return whether a record only updates the screen: a fifth of all bytes, without any facts."""
    return _PROGRESS in line and _OF_AGENT not in line


def _find_session_id(path: str) -> str:
    """Return the session id of a file: its first records may not contain it."""
    with open_unpacked(path) as file:
        match = _SESSION.search(file.read(HEAD_BYTES))
    stem = os.path.basename(path).removesuffix(".zst").removesuffix(".jsonl")
    return match[1].decode() if match else stem


def _get_session_id(record: dict[str, Any], state: dict[str, Any]) -> str:
    """Return the session of a record; a subagent is a session below its parent's."""
    session = state["session"] = text_or_none(record.get("sessionId")) or state["session"]
    agent = text_or_none(record.get("agentId"))
    if agent or record.get("isSidechain"):
        return f"{session}/{agent or 'sidechain'}"
    return session


def _read_record(record: TranscriptRecord, value: dict[str, Any], state: dict[str, Any]) -> Iterator[Item]:
    kind = value.get("type")
    session = _get_session_id(value, state)
    yield from _read_session_facts(session, value, state)
    if kind == "progress":
        yield from _read_subagent_progress(record, value, state)
    elif kind == "assistant":
        yield from _read_assistant(session, record, value, state)
    elif kind == "user":
        yield from _read_user(session, record, value)
    else:
        yield from _read_other(session, record, value, kind)


def _read_session_facts(session: str, value: dict[str, Any], state: dict[str, Any]) -> Iterator[About]:
    """Yield changed facts about the session; most records change nothing."""
    get, before = value.get, state.get("seen") or [None] * 7
    model = to_dict(get("message")).get("model") if get("type") == "assistant" else None
    title = get("customTitle") or get("aiTitle") or get("summary")
    seen = [
        session,
        get("cwd"),
        get("gitBranch"),
        get("version"),
        model or before[4],
        get("entrypoint"),
        title or before[6],
    ]
    if seen == before:
        return
    state["seen"] = seen
    known = state.setdefault("told", {})
    facts = dict(zip(_SESSION_FACTS, map(text_or_none, seen[1:]), strict=True))
    if facts["model"] == "<synthetic>":
        facts["model"] = None
    if known.get("of") != session:
        known = state["told"] = {"of": session}
    new = {name: fact for name, fact in facts.items() if fact is not None and known.get(name) != fact}
    if not new and "parent" in known:
        return
    known.update(new)
    parent, _, child = session.partition("/")
    known["parent"] = parent if child else None
    yield About(session=session, parent=known["parent"], relation="subagent" if child else None, **new)


def _read_subagent_progress(record: TranscriptRecord, value: dict[str, Any], state: dict[str, Any]) -> Iterator[Item]:
    """Yield a subagent's record that the parent repeats: its own file may be gone."""
    data = to_dict(value.get("data"))
    inner = to_dict(data.get("message"))
    if not inner.get("uuid") or not data.get("agentId"):
        return
    facts = {name: value.get(name) for name in ("sessionId", "cwd", "gitBranch", "version", "entrypoint")}
    whole_record = {**facts, **inner, "agentId": data["agentId"], "isSidechain": True}
    yield from _read_record(record, whole_record, state)


def _build_event(session: str, record: TranscriptRecord, value: dict[str, Any], index: int, **facts: Any) -> Event:
    uuid = text_or_none(value.get("uuid")) or build_record_key(record)
    return Event(
        session=session, key=f"{uuid}:{index}" if index else uuid, order=record.start << 8 | min(index, 255),
        at=to_microseconds(value.get("timestamp")), parent=text_or_none(value.get("parentUuid")), **facts,
    )  # fmt: skip


def _read_assistant(
    session: str, record: TranscriptRecord, value: dict[str, Any], state: dict[str, Any]
) -> Iterator[Item]:
    message = to_dict(value.get("message"))
    if value.get("isApiErrorMessage"):
        text = extract_text(message.get("content"))
        yield _build_event(session, record, value, 0, kind="lifecycle", name="api_error", verdict="error", text=text)
        return
    content = message.get("content")
    for index, block in enumerate(content if isinstance(content, list) else [{"type": "text", "text": content}]):
        facts = _read_block(to_dict(block))
        if facts:
            yield _build_event(session, record, value, index, **facts)
    if isinstance(message.get("usage"), dict):
        yield from _read_usage(session, value, message, state)


def _read_block(block: dict[str, Any]) -> dict[str, Any] | None:
    """Return the event for one block of a reply."""
    kind = block.get("type")
    if kind == "text":
        return {"kind": "message", "role": "assistant", "text": to_text(block.get("text"))}
    if kind == "thinking":
        thought = to_text(block.get("thinking"))
        return {"kind": "thinking", "role": "assistant", "text": thought} if thought else None
    if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        return {
            "kind": "call",
            "role": "assistant",
            "name": text_or_none(block.get("name")),
            "call_id": text_or_none(block.get("id")),
            "arguments": block.get("input"),
        }
    if "tool_use_id" in block:
        return _read_result(block, {})
    return {"kind": "message", "role": "assistant", "text": extract_text(block)}


def _read_usage(session: str, value: dict[str, Any], message: dict[str, Any], state: dict[str, Any]) -> Iterator[Usage]:
    usage, model = message["usage"], text_or_none(message.get("model")) or ""
    identity = text_or_none(message.get("id")) or text_or_none(value.get("uuid"))
    if model == "<synthetic>" or identity is None:
        return
    request = text_or_none(value.get("requestId"))
    counted = [session, identity, request, usage.get("output_tokens")]
    if counted == state.get("counted"):  # another block of the same reply
        return
    state["counted"] = counted
    long_cache = to_count(to_dict(usage.get("cache_creation")).get("ephemeral_1h_input_tokens"))
    yield Usage(
        session=session, key=f"{identity}:{request}" if request else identity, model=model,
        at=to_microseconds(value.get("timestamp")), input=to_count(usage.get("input_tokens")),
        output=to_count(usage.get("output_tokens")), cache_read=to_count(usage.get("cache_read_input_tokens")),
        cache_write=max(to_count(usage.get("cache_creation_input_tokens")) - long_cache, 0),
        cache_write_long=long_cache, basis="floor", speed="fast" if usage.get("speed") == "fast" else "",
    )  # fmt: skip


def _read_user(session: str, record: TranscriptRecord, value: dict[str, Any]) -> Iterator[Item]:
    content = to_dict(value.get("message")).get("content")
    if not isinstance(content, list):
        yield _build_user_event(session, record, value, 0, extract_text(content))
        return
    for index, block in enumerate(content):
        if isinstance(block, dict) and block.get("type") == "tool_result":
            yield _build_event(session, record, value, index, **_read_result(block, value))
        else:
            yield _build_user_event(session, record, value, index, extract_text(block))


def _build_user_event(session: str, record: TranscriptRecord, value: dict[str, Any], index: int, text: str) -> Event:
    """Return the event of a user record: the user's text, or text inserted for them."""
    if text.startswith(_INTERRUPTED):
        return _build_event(session, record, value, index, kind="interrupt", role="user", text=text)
    if value.get("isCompactSummary"):
        return _build_event(session, record, value, index, kind="compaction", name="summary", text=text)
    if _COMMAND in text[:_COMMAND_READ] and text.startswith(_COMMAND_STARTS):
        return _build_event(session, record, value, index, kind="message", role="user", name="command", text=text)
    injected = value.get("isMeta") or _INJECTED.match(text)
    name = "prompt" if "/" in session else "injected" if injected else None
    return _build_event(
        session, record, value, index, kind="message", role="system" if name else "user", name=name, text=text
    )


def _read_result(block: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a call, without copies of whole files."""
    text = extract_text(block.get("content"))
    detail = value.get("toolUseResult")
    facts = _keep_small_facts(detail) if isinstance(detail, dict) else {}
    code = _EXIT_CODE.match(text)
    verdict = "error" if block.get("is_error") else "ok"
    if value.get("toolDenialKind") or (verdict == "error" and text.startswith(_DENIED)):
        verdict = "denied"
    elif facts.get("interrupted") or text.startswith(_INTERRUPTED):
        verdict = "interrupted"
    exit_code = int(code[1][:9]) if code and verdict == "error" else int_or_none(facts.get("exitCode"))
    if exit_code is None and verdict == "ok" and isinstance(detail, dict) and "stdout" in detail:
        exit_code = 0
    return {
        "kind": "result",
        "role": "tool",
        "text": text,
        "call_id": text_or_none(block.get("tool_use_id")),
        "verdict": verdict,
        "exit_code": exit_code,
        "data": facts or None,
    }


def _keep_small_facts(detail: dict[str, Any]) -> dict[str, Any]:
    """Return the small facts of a structured result."""
    facts = {
        name: fact
        for name, fact in detail.items()
        if name not in _BULK_FIELDS
        and isinstance(fact, str | int | float)
        and len(str(fact)) <= 300
        and fact is not False
    }
    patch = detail.get("structuredPatch")
    hunks = [to_dict(hunk).get("lines") for hunk in patch] if isinstance(patch, list) else []
    lines = [line for hunk in hunks if isinstance(hunk, list) for line in hunk]
    if lines:
        facts["added"] = sum(1 for line in lines if str(line).startswith("+"))
        facts["removed"] = sum(1 for line in lines if str(line).startswith("-"))
    return facts


def _read_other(session: str, record: TranscriptRecord, value: dict[str, Any], kind: Any) -> Iterator[Event]:
    if kind == "system":
        yield _build_system_event(session, record, value)
    elif kind == "file-history-snapshot":
        files = to_dict(to_dict(value.get("snapshot")).get("trackedFileBackups"))
        yield _build_event(session, record, value, 0, kind="lifecycle", name=kind, text="\n".join(files))
    elif kind == "attachment":
        inner = to_dict(value.get("attachment"))
        text = extract_text(inner.get("content")) or to_text({k: v for k, v in inner.items() if k != "type"})
        yield _build_event(
            session, record, value, 0, kind="lifecycle", name=f"attachment {inner.get('type')}", text=text[:8192]
        )
    elif kind in _PLAIN_FIELDS:
        yield _build_event(
            session, record, value, 0, kind="lifecycle", name=kind, text=to_text(value.get(_PLAIN_FIELDS[kind]))
        )
    elif kind not in ("summary", "custom-title", "ai-title"):
        yield build_opaque_event(session, record, to_microseconds(value.get("timestamp")), text_or_none(kind))


def _build_system_event(session: str, record: TranscriptRecord, value: dict[str, Any]) -> Event:
    name = text_or_none(value.get("subtype")) or "system"
    compacts = name in ("compact_boundary", "microcompact_boundary")
    detail = to_dict(value.get("compactMetadata")) or to_dict(value.get("microcompactMetadata"))
    if name == "turn_duration":
        detail = {"durationMs": value.get("durationMs")}
    return _build_event(
        session, record, value, 0, kind="compaction" if compacts else "lifecycle", name=name,
        text=to_text(value.get("content"))[:8192], data=_keep_small_facts(detail) or None,
        verdict="error" if name == "api_error" else None,
    )  # fmt: skip


adapter = ClaudeAdapter()
