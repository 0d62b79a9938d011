"""Qwen Code.

Where: `~/.qwen/projects/<slug>/chats/<session>.jsonl` (`QWEN_HOME`, or only for these `QWEN_RUNTIME_DIR`, moves it); a
subagent's is `subagents/<parent session>/agent-<id>.jsonl` with a `.meta.json`, and carries its parent's `sessionId`.

Records: a tree like Claude Code's (uuid, parentUuid, sessionId, cwd, version, gitBranch) around Google's parts, one
JSON object per line, only ever appended to. `type` is user, assistant, tool_result or system; `subtype` tells a
person's words from what was put there (notification, cron, goal …), and newer versions say it in `provenance`. System
records: chat_compression, ui_telemetry (repeats usage and calls), slash_command, custom_title, parent_session, rewind,
turn_result, snapshots. A command that failed is a `success` with `Exit Code:` in its text. A branch copies its parent's
records with the same uuids and says so in `forkedFrom`.

Usage: `usageMetadata` of an assistant record, once per uuid: cached is inside the prompt, and thoughts inside the
candidates unless the total says otherwise. Compression, titles and memory are only in the telemetry, so totals are a
floor.

Seen: 0.15.10, 0.18.1, 0.21.11, 0.24.4. Not seen: a branch, a rewind, a cancelled call or turn, a slash command.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from functools import partial
from typing import Any

from engram.adapters.adapter import Item, Mark, Place, as_text, mapping, microseconds, number, user_home, whole, words
from engram.adapters.document import document
from engram.adapters.records import Record, followed, looks_like, opaque, record_key
from engram.adapters.shapes import exit_code, outcome, part_text, parts_of, response_text, small, told
from engram.model import Event, Usage

_TYPES = ("user", "assistant", "tool_result", "system")
_OWN = (None, "mid_turn_user_message", "at_command")  # subtypes of what a person says
_LIFE = {
    "agent_bootstrap", "agent_launch_prompt", "agent_retry", "at_command", "background_task_completed",
    "branch_checkpoint", "cron", "file_history_snapshot", "goal_runtime", "goal_state", "goal_turn_end",
    "notification", "omni_recall", "realtime_message", "rewind", "session_approval_mode", "session_artifact_event",
    "session_artifact_snapshot", "session_execution_engine", "session_model", "session_notes", "session_source",
    "session_sources_snapshot", "user_text_elements",
}  # fmt: skip
_QUIET = {"agent_session_ready", "attribution_snapshot", "custom_title", "parent_session"}
_REPEATED = {"qwen-code.api_response", "qwen-code.tool_call"}
_STATES = {"cancelled": "interrupted", "error": "error"}


class Qwen:
    """The adapter of Qwen Code."""

    flavor = "qwen"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Qwen Code keeps its transcripts."""
        moved = environ.get("QWEN_RUNTIME_DIR") or environ.get("QWEN_HOME")
        root = moved or os.path.join(user_home(environ), ".qwen")
        yield Place(root=os.path.join(root, "projects"), endings=(".jsonl",))

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell whether a file is a transcript of Qwen Code."""
        return looks_like(head, _is_ours)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield what a transcript says after a mark."""
        whose = partial(_session_of, path, {})
        yield from followed(path, since.offset, deepcopy(since.state or {}), partial(_read, path), whose)


def _is_ours(record: dict[str, Any]) -> bool:
    """Tell our records from Claude's, whose messages have `content` where these have `parts`."""
    if "uuid" not in record or "sessionId" not in record or record.get("type") not in _TYPES:
        return False
    return isinstance(mapping(record.get("message")).get("parts"), list) or "systemPayload" in record


def _session_of(path: str, value: dict[str, Any], state: dict[str, Any]) -> str:
    """Return the session a record belongs to; a subagent is a session under its parent's."""
    session = words(value.get("sessionId"))
    if session is None:
        named = os.path.basename(path).removesuffix(".zst").removesuffix(".jsonl")
        return str(state.get("session") or named)
    agent = words(value.get("agentId"))
    if agent or value.get("isSidechain"):
        session = f"{session}/{agent or 'sidechain'}"
    state["session"] = session
    return session


def _read(path: str, record: Record, value: dict[str, Any], state: dict[str, Any]) -> Iterator[Item]:
    session = _session_of(path, value, state)
    yield from _about(session, value, state, path)
    kind = value.get("type")
    if kind == "assistant":
        yield from _assistant(session, record, value, state)
    elif kind == "user":
        yield from _user(session, record, value)
    elif kind == "tool_result":
        yield from _results(session, record, value)
    elif kind == "system":
        yield from _system(session, record, value)
    else:
        yield opaque(session, record, microseconds(value.get("timestamp")), words(kind))


def _about(session: str, value: dict[str, Any], state: dict[str, Any], path: str) -> Iterator[Item]:
    """Yield what has changed about the session."""
    payload, (parent, _, child) = mapping(value.get("systemPayload")), session.partition("/")
    forked, sent = words(mapping(value.get("forkedFrom")).get("sessionId")), words(payload.get("parentSessionId"))
    model = words(value.get("model")) or words(payload.get("modelId"))
    title = words(payload.get("customTitle"))
    if child and mapping(state.get("told")).get("of") != session:
        meta = _meta(path)
        model, title = model or words(meta.get("model")), words(meta.get("description"))
    yield from told(
        session, state, cwd=words(value.get("cwd")), branch=words(value.get("gitBranch")), model=model, title=title,
        version=words(value.get("version")), parent=(parent if child else None) or sent or forked,
        relation="subagent" if child or sent else "fork" if forked else None,
    )  # fmt: skip


def _meta(path: str) -> dict[str, Any]:
    """Return what lies beside a subagent's transcript."""
    return mapping(document(path.removesuffix(".jsonl") + ".meta.json"))


def _event(session: str, record: Record, value: dict[str, Any], place: int, **facts: Any) -> Event:
    uuid = words(value.get("uuid")) or record_key(value)
    return Event(
        session=session, key=f"{uuid}:{place}" if place else uuid, order=(record.start << 8) + place,
        at=microseconds(value.get("timestamp")), parent=words(value.get("parentUuid")), **facts,
    )  # fmt: skip


def _parts(value: dict[str, Any]) -> list[dict[str, Any]]:
    return parts_of(mapping(value.get("message")).get("parts"))


def _assistant(session: str, record: Record, value: dict[str, Any], state: dict[str, Any]) -> Iterator[Item]:
    for place, part in enumerate(_parts(value)):
        call = mapping(part.get("functionCall"))
        if call:
            yield _event(
                session, record, value, place, kind="call", role="assistant", name=words(call.get("name")),
                call_id=words(call.get("id")), arguments=call.get("args"),
            )  # fmt: skip
        elif part_text(part):
            kind = "thinking" if part.get("thought") else "message"
            yield _event(session, record, value, place, kind=kind, role="assistant", text=part_text(part))
    usage, uuid = mapping(value.get("usageMetadata")), words(value.get("uuid"))
    if usage and uuid:
        model = words(value.get("model")) or words(mapping(state.get("told")).get("model")) or ""
        yield _usage(session, value, uuid, model, usage)


def _usage(session: str, value: dict[str, Any], uuid: str, model: str, usage: dict[str, Any]) -> Usage:
    names = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount")
    prompt, output, thoughts, total = (number(usage.get(name)) for name in names)
    cached = number(usage.get("cachedContentTokenCount"))
    apart = thoughts if total >= prompt + output + thoughts else 0
    return Usage(
        session=session, key=uuid, model=model, at=microseconds(value.get("timestamp")),
        input=max(prompt - cached, 0), output=output + apart, cache_read=cached, basis="floor",
    )  # fmt: skip


def _user(session: str, record: Record, value: dict[str, Any]) -> Iterator[Event]:
    """Yield what stands where a person speaks; with a hook's context beside it, what they typed is kept apart."""
    typed = words(mapping(value.get("systemPayload")).get("displayText"))
    injected = value.get("subtype") not in _OWN or value.get("provenance") not in (None, "real_user")
    name = "injected" if injected else "prompt" if "/" in session else None
    text = "\n".join(filter(None, map(part_text, _parts(value))))
    own = text if injected or not typed else typed
    role = "system" if name else "user"
    yield _event(session, record, value, 0, kind="message", role=role, name=name, text=own)
    if own != text and text.replace(own, "").strip():
        yield _event(session, record, value, 1, kind="message", name="injected", text=text.replace(own, "").strip())


def _results(session: str, record: Record, value: dict[str, Any]) -> Iterator[Event]:
    told_result = mapping(value.get("toolCallResult"))
    for place, part in enumerate(part for part in _parts(value) if "functionResponse" in part):
        response = mapping(part["functionResponse"])
        text = response_text(part)
        display = mapping(told_result.get("resultDisplay"))
        code = whole(display.get("exitCode")) if "exitCode" in display else exit_code(text)
        status = told_result.get("status") or ("error" if "error" in mapping(response.get("response")) else None)
        facts = small({**display, **told_result, "callId": "", "status": ""})
        yield _event(
            session, record, value, place, kind="result", role="tool", text=text, exit_code=code,
            call_id=words(response.get("id")) or words(told_result.get("callId")),
            verdict=outcome(status, text, code), data=facts or None,
        )  # fmt: skip


def _system(session: str, record: Record, value: dict[str, Any]) -> Iterator[Event]:
    name, payload = words(value.get("subtype")), mapping(value.get("systemPayload"))
    if name == "chat_compression":
        history = payload.get("compressedHistory")
        summary = mapping(history[0]) if isinstance(history, list) and history else {}
        text = "\n".join(map(part_text, parts_of(summary.get("parts"))))
        facts = small(mapping(payload.get("info")))
        yield _event(session, record, value, 0, kind="compaction", name="summary", text=text, data=facts or None)
    elif name == "slash_command":
        yield _command(session, record, value, payload)
    elif name == "turn_result":
        verdict = _STATES.get(as_text(payload.get("state")))
        kind = "interrupt" if verdict == "interrupted" else "lifecycle"
        text = as_text(mapping(payload.get("error")).get("message"))
        yield _event(session, record, value, 0, kind=kind, name=name, text=text, verdict=verdict)
    elif name == "ui_telemetry":
        yield from _telemetry(session, record, value, mapping(payload.get("uiEvent")))
    elif name in _LIFE:
        yield _event(session, record, value, 0, kind="lifecycle", name=name, text=as_text(payload)[:8192])
    elif name not in _QUIET:
        yield opaque(session, record, microseconds(value.get("timestamp")), name)


def _command(session: str, record: Record, value: dict[str, Any], payload: dict[str, Any]) -> Event:
    """Return a command a person typed, or what came of it."""
    text = as_text(payload.get("rawCommand"))
    if payload.get("phase") == "invocation":
        return _event(session, record, value, 0, kind="message", role="user", name="command", text=text)
    shown = as_text(payload.get("outputHistoryItems"))[:8192]
    return _event(session, record, value, 0, kind="lifecycle", name="slash_command", text=f"{text}\n{shown}")


def _telemetry(session: str, record: Record, value: dict[str, Any], told_event: dict[str, Any]) -> Iterator[Event]:
    """Yield what the telemetry says that no other record does."""
    name = words(told_event.get("event.name"))
    if name in _REPEATED:
        return
    error = words(told_event.get("error")) or words(told_event.get("error_message"))
    yield _event(
        session, record, value, 0, kind="lifecycle", name=name or "ui_telemetry", text=error or "",
        verdict="error" if error or name == "qwen-code.api_error" else None, data=small(told_event) or None,
    )  # fmt: skip


adapter = Qwen()
