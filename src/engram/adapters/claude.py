"""Claude Code.

Where: `~/.claude/projects/<slug>/<session>.jsonl` (`CLAUDE_CONFIG_DIR` moves it, `~/.config/claude` is also seen). A
subagent's records carry its parent's `sessionId`; they lay inline (`isSidechain`, before 2.0), then in
`agent-<id>.jsonl` beside the session, now in `<session>/subagents/…`. From 2.1.12 to 2.1.79 the parent repeats them
in `agent_progress` records, the only trace when the subagent's file is gone.

Records: one JSON object per line; `type` is user, assistant, system, progress, attachment, file-history-snapshot,
summary, custom-title, ai-title, queue-operation, last-prompt, mode, pr-link … and new ones every few weeks. Chained
by `uuid` and `parentUuid`; some have neither, nor a timestamp. Times step backwards: file order leads.

Usage: an answer is written as one record per content block, each with a copy of the answer's usage in which the
output may still be growing: an answer counts once, by `message.id` and `requestId`, with its largest output. A fork
(`--fork-session`) repeats the chain under a new session id and the old message ids. Titles, web searches and
compaction are never logged, so totals are a floor.

Seen: 2025-06 inline sidechains, and 2.0.64 to 2.1.219.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.adapters.adapter import (
    HEAD,
    Item,
    Mark,
    Place,
    as_text,
    mapping,
    microseconds,
    number,
    text_of,
    user_home,
    whole,
    words,
)
from engram.adapters.bounded import Bytes, opened
from engram.adapters.records import Record, followed, looks_like, opaque, place_key
from engram.model import About, Event, Usage

_SIGNS = (
    ("progress", "toolUseID"), ("attachment", "parentUuid"), ("summary", "leafUuid"), ("queue-operation", "operation"),
    ("file-history-snapshot", "messageId"),
)  # fmt: skip
_PROGRESS, _OF_AGENT = b'"type":"progress"', b'"agent_progress"'
_SESSION = re.compile(rb'"sessionId": ?"([\w.-]{1,80})"')
_EXIT = re.compile(r"(?:Error: )?Exit code (\d+)")
_DENIED = ("The user doesn't want to proceed", "The user doesn't want to take this action", "Permission to use")
_COMMAND = "<command-name>"  # a person's, but to the program and not to the agent
_INTERRUPTED = "[Request interrupted by user"
_INJECTED = re.compile(
    r"\s*(?:<(?:local-command|command-message|bash-std|system-reminder|task-notification|user-prompt-submit-hook|"
    r"teammate-message|ide_|post-tool-use)|Caveat: |This session is being continued)"
)
_BULK = {
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
_TOLD = ("cwd", "branch", "version", "model", "entrypoint", "title")
_PLAIN = {  # records that say one small thing, and where they say it
    "queue-operation": "operation", "mode": "mode", "permission-mode": "permissionMode", "last-prompt": "leafUuid",
    "pr-link": "prUrl", "frame-link": "url",
}  # fmt: skip


class Claude:
    """The adapter of Claude Code."""

    flavor = "claude"
    version = 1
    forks_unnamed = True

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Claude Code keeps its transcripts."""
        home = user_home(environ)
        moved = [each for each in environ.get("CLAUDE_CONFIG_DIR", "").split(",") if each]
        for root in moved or [os.path.join(home, ".claude"), os.path.join(home, ".config", "claude")]:
            yield Place(root=os.path.join(root, "projects"), endings=(".jsonl",), left_out=("journal.jsonl",))

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell whether a file is a transcript of Claude Code."""
        cut = b"\n" not in head and b'"parentUuid":' in head and b'"sessionId":' in head
        return cut or looks_like(head, _is_ours)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield what a transcript says after a mark."""
        state = dict(since.state or {"session": _first_session(path)})
        yield from followed(path, since.offset, state, _read, lambda known: str(known["session"]), _skipped)


def _is_ours(record: dict[str, Any]) -> bool:
    """Tell our records from Qwen's (message.parts) and iFlow's (session ids that start so), which borrow the shape."""
    if str(record.get("sessionId", "")).startswith("session-") and record.get("userType"):
        return False
    kind, message = record.get("type"), mapping(record.get("message"))
    if kind in ("user", "assistant"):
        return "content" in message and (kind == "user" or "sessionId" in record or "uuid" in record)
    return any(kind == each and mark in record for each, mark in _SIGNS)


def _skipped(line: Bytes) -> bool:
    """Skip what only moves on the screen: a fifth of all bytes, and no fact among them."""
    return _PROGRESS in line and _OF_AGENT not in line


def _first_session(path: str) -> str:
    """Return whose transcript a file is: its first records may not say so themselves."""
    with opened(path) as file:
        found = _SESSION.search(file.read(HEAD))
    stem = os.path.basename(path).removesuffix(".zst").removesuffix(".jsonl")
    return found[1].decode() if found else stem


def _session_of(record: dict[str, Any], state: dict[str, Any]) -> str:
    """Return the session a record belongs to; a subagent is a session under its parent's."""
    session = state["session"] = words(record.get("sessionId")) or state["session"]
    agent = words(record.get("agentId"))
    if agent or record.get("isSidechain"):
        return f"{session}/{agent or 'sidechain'}"
    return session


def _read(record: Record, value: dict[str, Any], state: dict[str, Any]) -> Iterator[Item]:
    kind = value.get("type")
    session = _session_of(value, state)
    yield from _about(session, value, state)
    if kind == "progress":
        yield from _of_subagent(record, value, state)
    elif kind == "assistant":
        yield from _assistant(session, record, value, state)
    elif kind == "user":
        yield from _user(session, record, value)
    else:
        yield from _other(session, record, value, kind)


def _about(session: str, value: dict[str, Any], state: dict[str, Any]) -> Iterator[About]:
    """Yield what has changed about the session; most records change nothing."""
    get, before = value.get, state.get("seen") or [None] * 7
    model = mapping(get("message")).get("model") if get("type") == "assistant" else None
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
    told = state.setdefault("told", {})
    facts = dict(zip(_TOLD, map(words, seen[1:]), strict=True))
    if facts["model"] == "<synthetic>":
        facts["model"] = None
    if told.get("of") != session:
        told = state["told"] = {"of": session}
    new = {name: each for name, each in facts.items() if each is not None and told.get(name) != each}
    if not new and "parent" in told:
        return
    told.update(new)
    parent, _, child = session.partition("/")
    told["parent"] = parent if child else None
    yield About(session=session, parent=told["parent"], relation="subagent" if child else None, **new)


def _of_subagent(record: Record, value: dict[str, Any], state: dict[str, Any]) -> Iterator[Item]:
    """Yield the subagent's record a parent repeats: its own file may be gone."""
    data = mapping(value.get("data"))
    inner = mapping(data.get("message"))
    if not inner.get("uuid") or not data.get("agentId"):
        return
    facts = {name: value.get(name) for name in ("sessionId", "cwd", "gitBranch", "version", "entrypoint")}
    whole_record = {**facts, **inner, "agentId": data["agentId"], "isSidechain": True}
    yield from _read(record, whole_record, state)


def _event(session: str, record: Record, value: dict[str, Any], place: int, **facts: Any) -> Event:
    uuid = words(value.get("uuid")) or place_key(record)
    return Event(
        session=session, key=f"{uuid}:{place}" if place else uuid, order=record.start << 8 | min(place, 255),
        at=microseconds(value.get("timestamp")), parent=words(value.get("parentUuid")), **facts,
    )  # fmt: skip


def _assistant(session: str, record: Record, value: dict[str, Any], state: dict[str, Any]) -> Iterator[Item]:
    message = mapping(value.get("message"))
    if value.get("isApiErrorMessage"):
        text = text_of(message.get("content"))
        yield _event(session, record, value, 0, kind="lifecycle", name="api_error", verdict="error", text=text)
        return
    content = message.get("content")
    for place, block in enumerate(content if isinstance(content, list) else [{"type": "text", "text": content}]):
        facts = _block(mapping(block))
        if facts:
            yield _event(session, record, value, place, **facts)
    if isinstance(message.get("usage"), dict):
        yield from _usage(session, value, message, state)


def _block(block: dict[str, Any]) -> dict[str, Any] | None:
    """Return what one block of an answer says."""
    kind = block.get("type")
    if kind == "text":
        return {"kind": "message", "role": "assistant", "text": as_text(block.get("text"))}
    if kind == "thinking":
        thought = as_text(block.get("thinking"))
        return {"kind": "thinking", "role": "assistant", "text": thought} if thought else None
    if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        return {
            "kind": "call", "role": "assistant", "name": words(block.get("name")), "call_id": words(block.get("id")),
            "arguments": block.get("input"),
        }  # fmt: skip
    if "tool_use_id" in block:
        return _result(block, {})
    return {"kind": "message", "role": "assistant", "text": text_of(block)}


def _usage(session: str, value: dict[str, Any], message: dict[str, Any], state: dict[str, Any]) -> Iterator[Usage]:
    usage, model = message["usage"], words(message.get("model")) or ""
    identity = words(message.get("id")) or words(value.get("uuid"))
    if model == "<synthetic>" or identity is None:
        return
    request = words(value.get("requestId"))
    counted = [session, identity, request, usage.get("output_tokens")]
    if counted == state.get("counted"):  # one more block of the same answer
        return
    state["counted"] = counted
    long_cache = number(mapping(usage.get("cache_creation")).get("ephemeral_1h_input_tokens"))
    yield Usage(
        session=session, key=f"{identity}:{request}" if request else identity, model=model,
        at=microseconds(value.get("timestamp")), input=number(usage.get("input_tokens")),
        output=number(usage.get("output_tokens")), cache_read=number(usage.get("cache_read_input_tokens")),
        cache_write=max(number(usage.get("cache_creation_input_tokens")) - long_cache, 0),
        cache_write_long=long_cache, basis="floor",
    )  # fmt: skip


def _user(session: str, record: Record, value: dict[str, Any]) -> Iterator[Item]:
    content = mapping(value.get("message")).get("content")
    if not isinstance(content, list):
        yield _said(session, record, value, 0, text_of(content))
        return
    for place, block in enumerate(content):
        if isinstance(block, dict) and block.get("type") == "tool_result":
            yield _event(session, record, value, place, **_result(block, value))
        else:
            yield _said(session, record, value, place, text_of(block))


def _said(session: str, record: Record, value: dict[str, Any], place: int, text: str) -> Event:
    """Return what stands where a person speaks: their words, or what was put there for them."""
    if text.startswith(_INTERRUPTED):
        return _event(session, record, value, place, kind="interrupt", role="user", text=text)
    if value.get("isCompactSummary"):
        return _event(session, record, value, place, kind="compaction", name="summary", text=text)
    if text.startswith(_COMMAND):
        return _event(session, record, value, place, kind="message", role="user", name="command", text=text)
    injected = value.get("isMeta") or _INJECTED.match(text)
    name = "prompt" if "/" in session else "injected" if injected else None
    return _event(
        session, record, value, place, kind="message", role="system" if name else "user", name=name, text=text
    )


def _result(block: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a call, without the copies of whole files that lie beside it."""
    text = text_of(block.get("content"))
    detail = value.get("toolUseResult")
    facts = _small(detail) if isinstance(detail, dict) else {}
    code = _EXIT.match(text)
    verdict = "error" if block.get("is_error") else "ok"
    if value.get("toolDenialKind") or (verdict == "error" and text.startswith(_DENIED)):
        verdict = "denied"
    elif facts.get("interrupted") or text.startswith(_INTERRUPTED):
        verdict = "interrupted"
    exit_code = int(code[1][:9]) if code and verdict == "error" else whole(facts.get("exitCode"))
    if exit_code is None and verdict == "ok" and isinstance(detail, dict) and "stdout" in detail:
        exit_code = 0
    return {
        "kind": "result", "role": "tool", "text": text, "call_id": words(block.get("tool_use_id")), "verdict": verdict,
        "exit_code": exit_code, "data": facts or None,
    }  # fmt: skip


def _small(detail: dict[str, Any]) -> dict[str, Any]:
    """Keep the small facts of a structured result."""
    facts = {
        name: each for name, each in detail.items()
        if name not in _BULK and isinstance(each, str | int | float) and len(str(each)) <= 300 and each is not False
    }  # fmt: skip
    patch = detail.get("structuredPatch")
    hunks = [mapping(hunk).get("lines") for hunk in patch] if isinstance(patch, list) else []
    lines = [line for hunk in hunks if isinstance(hunk, list) for line in hunk]
    if lines:
        facts["added"] = sum(1 for line in lines if str(line).startswith("+"))
        facts["removed"] = sum(1 for line in lines if str(line).startswith("-"))
    return facts


def _other(session: str, record: Record, value: dict[str, Any], kind: Any) -> Iterator[Event]:
    if kind == "system":
        yield _system(session, record, value)
    elif kind == "file-history-snapshot":
        files = mapping(mapping(value.get("snapshot")).get("trackedFileBackups"))
        yield _event(session, record, value, 0, kind="lifecycle", name=kind, text="\n".join(files))
    elif kind == "attachment":
        inner = mapping(value.get("attachment"))
        text = text_of(inner.get("content")) or as_text({k: v for k, v in inner.items() if k != "type"})
        yield _event(
            session, record, value, 0, kind="lifecycle", name=f"attachment {inner.get('type')}", text=text[:8192]
        )
    elif kind in _PLAIN:
        yield _event(session, record, value, 0, kind="lifecycle", name=kind, text=as_text(value.get(_PLAIN[kind])))
    elif kind not in ("summary", "custom-title", "ai-title"):
        yield opaque(session, record, microseconds(value.get("timestamp")), words(kind))


def _system(session: str, record: Record, value: dict[str, Any]) -> Event:
    name = words(value.get("subtype")) or "system"
    compacts = name in ("compact_boundary", "microcompact_boundary")
    detail = mapping(value.get("compactMetadata")) or mapping(value.get("microcompactMetadata"))
    if name == "turn_duration":
        detail = {"durationMs": value.get("durationMs")}
    return _event(
        session, record, value, 0, kind="compaction" if compacts else "lifecycle", name=name,
        text=as_text(value.get("content"))[:8192], data=_small(detail) or None,
        verdict="error" if name == "api_error" else None,
    )  # fmt: skip


adapter = Claude()
