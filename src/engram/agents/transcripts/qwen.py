"""Qwen Code.

Where: `~/.qwen/projects/<slug>/chats/<session>.jsonl` (`QWEN_HOME`, or only for these `QWEN_RUNTIME_DIR`, moves it); a
subagent's is `subagents/<parent session>/agent-<id>.jsonl` with a `.meta.json`, and has its parent's `sessionId`.

Records: a tree like Claude Code's (uuid, parentUuid, sessionId, cwd, version, gitBranch) around Google's parts, one
JSON object per line, append-only. `type` is user, assistant, tool_result or system; `subtype` distinguishes the
user's text from inserted text (notification, cron, goal …), and newer versions say it in `provenance`. System
records: chat_compression, ui_telemetry (repeats usage and calls), slash_command, custom_title, parent_session, rewind,
turn_result, snapshots. A failed command is a `success` with `Exit Code:` in its text. A branch copies its parent's
records with the same uuids and says so in `forkedFrom`.

Usage: `usageMetadata` of an assistant record, once per uuid: cached is included in the prompt, and thoughts in the
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

from engram.agents.transcripts.adapter import (
    Item,
    Mark,
    Place,
    get_user_home,
    int_or_none,
    text_or_none,
    to_count,
    to_dict,
    to_microseconds,
    to_text,
)
from engram.agents.transcripts.formats.json_document import read_document
from engram.agents.transcripts.formats.json_lines import (
    TranscriptRecord,
    any_record_matches,
    build_opaque_event,
    follow_records,
    hash_record,
)
from engram.agents.transcripts.formats.shared_shapes import (
    get_part_text,
    get_response_text,
    judge_outcome,
    keep_small_facts,
    list_parts,
    parse_exit_code,
    report_new_facts,
)
from engram.types import Event, Usage

_TYPES = ("user", "assistant", "tool_result", "system")
_USER_SUBTYPES = (None, "mid_turn_user_message", "at_command")  # subtypes of the user's own text
_LIFECYCLE_SUBTYPES = {
    "agent_bootstrap", "agent_launch_prompt", "agent_retry", "at_command", "background_task_completed",
    "branch_checkpoint", "cron", "file_history_snapshot", "goal_runtime", "goal_state", "goal_turn_end",
    "notification", "omni_recall", "realtime_message", "rewind", "session_approval_mode", "session_artifact_event",
    "session_artifact_snapshot", "session_execution_engine", "session_model", "session_notes", "session_source",
    "session_sources_snapshot", "user_text_elements",
}  # fmt: skip
_SILENT_SUBTYPES = {"agent_session_ready", "attribution_snapshot", "custom_title", "parent_session"}
_REPEATED = {"qwen-code.api_response", "qwen-code.tool_call"}
_STATE_VERDICTS = {"cancelled": "interrupted", "error": "error"}


class QwenAdapter:
    """The adapter for Qwen Code."""

    flavor = "qwen"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Qwen Code keeps its transcripts."""
        configured = environ.get("QWEN_RUNTIME_DIR") or environ.get("QWEN_HOME")
        root = configured or os.path.join(get_user_home(environ), ".qwen")
        yield Place(root=os.path.join(root, "projects"), endings=(".jsonl",))

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file is a transcript of Qwen Code."""
        return any_record_matches(head, _is_qwen_record)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield the items of a transcript after a mark."""
        get_session = partial(_get_session_id, path, {})
        yield from follow_records(
            path, since.offset, deepcopy(since.state or {}), partial(_read_record, path), get_session
        )


def _is_qwen_record(record: dict[str, Any]) -> bool:
    """Return whether a record is Qwen's, with `parts` where Claude's messages have `content`."""
    if "uuid" not in record or "sessionId" not in record or record.get("type") not in _TYPES:
        return False
    return isinstance(to_dict(record.get("message")).get("parts"), list) or "systemPayload" in record


def _get_session_id(path: str, value: dict[str, Any], state: dict[str, Any]) -> str:
    """Return the session of a record; a subagent is a session below its parent's."""
    session = text_or_none(value.get("sessionId"))
    if session is None:
        file_stem = os.path.basename(path).removesuffix(".zst").removesuffix(".jsonl")
        return str(state.get("session") or file_stem)
    agent = text_or_none(value.get("agentId"))
    if agent or value.get("isSidechain"):
        session = f"{session}/{agent or 'sidechain'}"
    state["session"] = session
    return session


def _read_record(path: str, record: TranscriptRecord, value: dict[str, Any], state: dict[str, Any]) -> Iterator[Item]:
    session = _get_session_id(path, value, state)
    yield from _read_session_facts(session, value, state, path)
    kind = value.get("type")
    if kind == "assistant":
        yield from _read_assistant(session, record, value, state)
    elif kind == "user":
        yield from _read_user(session, record, value)
    elif kind == "tool_result":
        yield from _read_results(session, record, value)
    elif kind == "system":
        yield from _read_system(session, record, value)
    else:
        yield build_opaque_event(session, record, to_microseconds(value.get("timestamp")), text_or_none(kind))


def _read_session_facts(session: str, value: dict[str, Any], state: dict[str, Any], path: str) -> Iterator[Item]:
    """Yield changed facts about the session."""
    payload, (parent, _, child) = to_dict(value.get("systemPayload")), session.partition("/")
    fork_parent, spawn_parent = (
        text_or_none(to_dict(value.get("forkedFrom")).get("sessionId")),
        text_or_none(payload.get("parentSessionId")),
    )
    model = text_or_none(value.get("model")) or text_or_none(payload.get("modelId"))
    title = text_or_none(payload.get("customTitle"))
    if child and to_dict(state.get("told")).get("of") != session:
        meta = _read_meta(path)
        model, title = model or text_or_none(meta.get("model")), text_or_none(meta.get("description"))
    yield from report_new_facts(
        session,
        state,
        cwd=text_or_none(value.get("cwd")),
        branch=text_or_none(value.get("gitBranch")),
        model=model,
        title=title,
        version=text_or_none(value.get("version")),
        parent=(parent if child else None) or spawn_parent or fork_parent,
        relation="subagent" if child or spawn_parent else "fork" if fork_parent else None,
    )


def _read_meta(path: str) -> dict[str, Any]:
    """Return the metadata beside a subagent's transcript."""
    return to_dict(read_document(path.removesuffix(".jsonl") + ".meta.json"))


def _build_event(session: str, record: TranscriptRecord, value: dict[str, Any], index: int, **facts: Any) -> Event:
    uuid = text_or_none(value.get("uuid")) or hash_record(value)
    return Event(
        session=session, key=f"{uuid}:{index}" if index else uuid, order=(record.start << 8) + index,
        at=to_microseconds(value.get("timestamp")), parent=text_or_none(value.get("parentUuid")), **facts,
    )  # fmt: skip


def _list_parts(value: dict[str, Any]) -> list[dict[str, Any]]:
    return list_parts(to_dict(value.get("message")).get("parts"))


def _read_assistant(
    session: str, record: TranscriptRecord, value: dict[str, Any], state: dict[str, Any]
) -> Iterator[Item]:
    for index, part in enumerate(_list_parts(value)):
        call = to_dict(part.get("functionCall"))
        if call:
            yield _build_event(
                session, record, value, index, kind="call", role="assistant", name=text_or_none(call.get("name")),
                call_id=text_or_none(call.get("id")), arguments=call.get("args"),
            )  # fmt: skip
        elif get_part_text(part):
            kind = "thinking" if part.get("thought") else "message"
            yield _build_event(session, record, value, index, kind=kind, role="assistant", text=get_part_text(part))
    usage, uuid = to_dict(value.get("usageMetadata")), text_or_none(value.get("uuid"))
    if usage and uuid:
        model = text_or_none(value.get("model")) or text_or_none(to_dict(state.get("told")).get("model")) or ""
        yield _build_usage(session, value, uuid, model, usage)


def _build_usage(session: str, value: dict[str, Any], uuid: str, model: str, usage: dict[str, Any]) -> Usage:
    names = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount")
    prompt, output, thoughts, total = (to_count(usage.get(name)) for name in names)
    cached = to_count(usage.get("cachedContentTokenCount"))
    apart = thoughts if total >= prompt + output + thoughts else 0
    return Usage(
        session=session, key=uuid, model=model, at=to_microseconds(value.get("timestamp")),
        input=max(prompt - cached, 0), output=output + apart, cache_read=cached, basis="floor",
    )  # fmt: skip


def _read_user(session: str, record: TranscriptRecord, value: dict[str, Any]) -> Iterator[Event]:
    """Yield the items of a user record; text typed by the user is separated from a hook's context."""
    typed_text = text_or_none(to_dict(value.get("systemPayload")).get("displayText"))
    is_injected = value.get("subtype") not in _USER_SUBTYPES or value.get("provenance") not in (None, "real_user")
    name = "injected" if is_injected else "prompt" if "/" in session else None
    text = "\n".join(filter(None, map(get_part_text, _list_parts(value))))
    user_text = text if is_injected or not typed_text else typed_text
    role = "system" if name else "user"
    yield _build_event(session, record, value, 0, kind="message", role=role, name=name, text=user_text)
    if user_text != text and text.replace(user_text, "").strip():
        yield _build_event(
            session, record, value, 1, kind="message", name="injected", text=text.replace(user_text, "").strip()
        )


def _read_results(session: str, record: TranscriptRecord, value: dict[str, Any]) -> Iterator[Event]:
    tool_result = to_dict(value.get("toolCallResult"))
    for index, part in enumerate(part for part in _list_parts(value) if "functionResponse" in part):
        response = to_dict(part["functionResponse"])
        text = get_response_text(part)
        display = to_dict(tool_result.get("resultDisplay"))
        code = int_or_none(display.get("exitCode")) if "exitCode" in display else parse_exit_code(text)
        status = tool_result.get("status") or ("error" if "error" in to_dict(response.get("response")) else None)
        facts = keep_small_facts({**display, **tool_result, "callId": "", "status": ""})
        yield _build_event(
            session, record, value, index, kind="result", role="tool", text=text, exit_code=code,
            call_id=text_or_none(response.get("id")) or text_or_none(tool_result.get("callId")),
            verdict=judge_outcome(status, text, code), data=facts or None,
        )  # fmt: skip


def _read_system(session: str, record: TranscriptRecord, value: dict[str, Any]) -> Iterator[Event]:
    name, payload = text_or_none(value.get("subtype")), to_dict(value.get("systemPayload"))
    if name == "chat_compression":
        history = payload.get("compressedHistory")
        summary = to_dict(history[0]) if isinstance(history, list) and history else {}
        text = "\n".join(map(get_part_text, list_parts(summary.get("parts"))))
        facts = keep_small_facts(to_dict(payload.get("info")))
        yield _build_event(session, record, value, 0, kind="compaction", name="summary", text=text, data=facts or None)
    elif name == "slash_command":
        yield _build_command(session, record, value, payload)
    elif name == "turn_result":
        verdict = _STATE_VERDICTS.get(to_text(payload.get("state")))
        kind = "interrupt" if verdict == "interrupted" else "lifecycle"
        text = to_text(to_dict(payload.get("error")).get("message"))
        yield _build_event(session, record, value, 0, kind=kind, name=name, text=text, verdict=verdict)
    elif name == "ui_telemetry":
        yield from _read_telemetry(session, record, value, to_dict(payload.get("uiEvent")))
    elif name in _LIFECYCLE_SUBTYPES:
        yield _build_event(session, record, value, 0, kind="lifecycle", name=name, text=to_text(payload)[:8192])
    elif name not in _SILENT_SUBTYPES:
        yield build_opaque_event(session, record, to_microseconds(value.get("timestamp")), name)


def _build_command(session: str, record: TranscriptRecord, value: dict[str, Any], payload: dict[str, Any]) -> Event:
    """Return a command the user typed, or its result."""
    text = to_text(payload.get("rawCommand"))
    if payload.get("phase") == "invocation":
        return _build_event(session, record, value, 0, kind="message", role="user", name="command", text=text)
    output = to_text(payload.get("outputHistoryItems"))[:8192]
    return _build_event(session, record, value, 0, kind="lifecycle", name="slash_command", text=f"{text}\n{output}")


def _read_telemetry(
    session: str, record: TranscriptRecord, value: dict[str, Any], ui_event: dict[str, Any]
) -> Iterator[Event]:
    """Yield what only the telemetry has."""
    name = text_or_none(ui_event.get("event.name"))
    if name in _REPEATED:
        return
    error = text_or_none(ui_event.get("error")) or text_or_none(ui_event.get("error_message"))
    yield _build_event(
        session, record, value, 0, kind="lifecycle", name=name or "ui_telemetry", text=error or "",
        verdict="error" if error or name == "qwen-code.api_error" else None, data=keep_small_facts(ui_event) or None,
    )  # fmt: skip


adapter = QwenAdapter()
