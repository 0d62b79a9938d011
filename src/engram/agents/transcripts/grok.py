"""Grok Build, xAI's own agent (`@xai-official/grok`).

Where: `~/.grok/sessions/<url-encoded cwd>/<session>/` (`GROK_HOME` moves it). A session is a directory; the older
community CLI keeps its database in the same home.

Records: `updates.jsonl` is the main file: `{timestamp in seconds, method, params: {sessionId, update, _meta}}`, in
old files the bare notification that is now in `params`. `update.sessionUpdate` names the kind: chunks of what the
user, the agent and its thoughts say, tool_call, tool_call_update, plan (all of the Agent Client Protocol), and xAI's
own. It is append-only: a rewind is a marker, a compaction a checkpoint in a file beside it. `_meta.eventId` starts
over when a session is resumed, so it identifies a record only together with `_meta.agentTimestampMs`.
`chat_history.jsonl` is a cache, read if there are no updates. A call's status is `completed` even if the command
failed; how it ended is in `rawOutput.exit_code` and, by call id, in `events.jsonl`. `summary.json` has cwd, model,
title, branch and origin; a subagent's parent is named only in the parent's `subagents/<id>/meta.json`.

Usage: `turn_completed.usage`, per turn, with cached tokens included in the input. A fork repeats its parent's turns
under the same prompt ids. A parent's turn includes its subagents' tokens, and the child repeats them: those are not
counted.

Seen: 1.0.41, and chat histories of versions 0 and 1. Not seen: a rewind, a cancelled turn, byte-wise `output_delta`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
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
from engram.agents.transcripts.formats.bounded_file import open_unpacked
from engram.agents.transcripts.formats.json_lines import (
    TranscriptRecord,
    any_record_matches,
    build_damage_event,
    build_opaque_event,
    iter_records,
)
from engram.agents.transcripts.formats.shared_shapes import keep_small_facts, report_new_facts
from engram.agents.transcripts.grok_chat import is_chat_record, read_chat, split_user_query
from engram.agents.transcripts.grok_folder import get_sibling_path, read_session_facts, read_summary, read_verdicts
from engram.platform.value import value
from engram.types import Event, Usage

TICKS_PER_DOLLAR = 1e10
_CHUNK_KINDS = {
    "user_message_chunk": ("message", "user"), "agent_message_chunk": ("message", "assistant"),
    "agent_thought_chunk": ("thinking", "assistant"),
}  # fmt: skip
_SCREEN_KINDS = {  # only updates the screen
    "available_commands_update", "subagent_progress", "tool_call_delta_chunk", "hooks_changed", "plugins_changed",
    "memory_files", "pending_interaction", "interaction_resolved", "session_recap_unavailable",
}  # fmt: skip
_LIFECYCLE_KINDS = {
    "auto_compact_cancelled", "auto_compact_completed", "auto_compact_failed", "auto_compact_started",
    "auto_continue_completed", "auto_recovery_exhausted", "auto_recovery_started", "background_tasks",
    "current_mode_update", "feedback_request", "goal_updated", "hook_annotation", "hook_execution",
    "image_compressed", "image_dropped", "memory_dream_completed", "memory_flush_completed", "memory_flush_started",
    "memory_session_saved", "model_auto_switched", "model_changed", "monitor_event", "plan",
    "plugin_updates_installed", "retry_state", "rewind_marker", "scheduled_task_created", "scheduled_task_deleted",
    "scheduled_task_fired", "session_recap", "session_summary_generated", "subagent_finished", "subagent_spawned",
    "task_backgrounded", "task_completed", "workflow_updated",
}  # fmt: skip
_TEXT_FIELDS = (
    "message",
    "error",
    "reason",
    "output",
    "description",
    "summary",
    "session_summary",
    "event_text",
    "result",
)
_ANSWER_FIELDS = ("output_for_prompt", "tool_output_for_prompt", "OkayOutput", "output", "content", "error", "message")


@value
class GrokUpdate:
    """One record of the transcript, and its key."""

    session: str
    key: str
    order: int
    at: int | None
    kind: str
    body: dict[str, Any]
    stream: tuple[Any, ...]  # chunks with the same one form one message


class GrokAdapter:
    """The adapter for Grok Build."""

    flavor = "grok"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Grok keeps its transcripts."""
        home = environ.get("GROK_HOME") or os.path.join(get_user_home(environ), ".grok")
        endings = ("updates.jsonl", "chat_history.jsonl")
        yield Place(root=os.path.join(home, "sessions"), endings=endings, depth=4)

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file is a transcript of Grok."""
        return any_record_matches(head, _is_update) or any_record_matches(head, is_chat_record)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield the items of a transcript after a mark."""
        state = deepcopy(since.state or {})
        facts = read_session_facts(path)
        is_subagent = facts["relation"] == "subagent"
        is_chat_file = _is_chat_history(path)
        if not is_chat_file:
            yield from report_new_facts(**facts, state=state)
            yield from _UpdateReader(path, state, facts["session"], is_subagent).read(since.offset)
        elif not _has_updates(path):
            yield from report_new_facts(**facts, state=state)
            yield from read_chat(path, facts["session"], is_subagent)
        if is_chat_file:
            yield Mark(offset=0, state=state)


def _is_chat_history(path: str) -> bool:
    """Return whether a file is a chat history, by its content, or by its name if nothing can be read."""
    with open_unpacked(path) as file:
        head = file.read(HEAD_BYTES)
    has_chat_name = os.path.basename(path).startswith("chat_history")
    return not any_record_matches(head, _is_update) and (any_record_matches(head, is_chat_record) or has_chat_name)


def _has_updates(path: str) -> bool:
    try:
        return os.path.getsize(get_sibling_path(path, "updates.jsonl")) > 0
    except OSError:
        return False


def _is_update(record: dict[str, Any]) -> bool:
    params = record.get("params") if str(record.get("method")).endswith("session/update") else record
    return "sessionId" in to_dict(params) and "sessionUpdate" in to_dict(to_dict(params).get("update"))


class _UpdateReader:
    """Reads a transcript; a message in chunks stays open until something else follows."""

    def __init__(self, path: str, state: dict[str, Any], session: str, is_subagent: bool) -> None:
        self.path, self.state, self.subagent = path, state, is_subagent
        self.session = state.get("session") or session
        self.verdicts = read_verdicts(path)
        self.opened: GrokUpdate | None = None
        self.start = 0
        self.texts: list[str] = []

    def read(self, offset: int) -> Iterator[Item]:
        """Yield everything after an offset; the mark stays before an open message."""
        end = last_mark = offset
        for record in iter_records(self.path, offset):
            yield from self._read_record(record)
            end = self.start if self.opened else record.end
            if end - last_mark > 1 << 20:
                yield Mark(offset=end, state=deepcopy(self.state))
                last_mark = end
        yield from self._close_message()
        yield Mark(offset=end, state=self.state)

    def _read_record(self, record: TranscriptRecord) -> Iterator[Item]:
        if not isinstance(record.value, dict):
            yield from self._close_message()
            yield build_damage_event(self.session, record)
            return
        update = self._parse_update(record, record.value)
        if self.opened and update.stream != self.opened.stream:
            yield from self._close_message()
        if update.kind in _CHUNK_KINDS:
            self._add_chunk(record, update)
        else:
            yield from self._read_update(record, update)

    def _parse_update(self, record: TranscriptRecord, whole_record: dict[str, Any]) -> GrokUpdate:
        params = to_dict(whole_record.get("params")) or whole_record
        body, meta = to_dict(params.get("update")), to_dict(params.get("_meta"))
        self.session = self.state["session"] = text_or_none(params.get("sessionId")) or self.session
        at = meta.get("agentTimestampMs")
        event, kind = text_or_none(meta.get("eventId")), to_text(body.get("sessionUpdate"))
        index = to_dict(body.get("_meta")).get("promptIndex")
        return GrokUpdate(
            session=self.session, key=f"{event}:{at}" if event else f"at:{record.start}", order=record.start << 8,
            at=to_microseconds(at) or to_microseconds(whole_record.get("timestamp")), kind=kind, body=body,
            stream=(kind, meta.get("promptId"), meta.get("streamStartMs"), index),
        )  # fmt: skip

    def _add_chunk(self, record: TranscriptRecord, update: GrokUpdate) -> None:
        if self.opened is None:
            self.opened, self.start, self.texts = update, record.start, []
        self.texts.append(extract_text(update.body.get("content")))

    def _close_message(self) -> Iterator[Event]:
        """Yield the open message; if it continues, it is yielded again, longer."""
        update, self.opened = self.opened, None
        text = "".join(self.texts)
        if update is None or not text:
            return
        kind, role = _CHUNK_KINDS[update.kind]
        name = None
        if role == "user":
            text, injected = split_user_query(text)
            command = to_dict(update.body.get("_meta")).get("hostTurn")
            name = "injected" if injected else "prompt" if self.subagent else "command" if command else None
            role = "system" if injected or self.subagent else "user"
        yield _build_event(update, kind=kind, role=role, name=name, text=text)

    def _read_update(self, record: TranscriptRecord, update: GrokUpdate) -> Iterator[Item]:
        body, kind = update.body, update.kind
        if kind in ("tool_call", "tool_call_update"):
            yield from _read_call(update, self.state)
            if body.get("status") in ("completed", "failed"):
                yield _build_result(update, self.verdicts)
        elif kind == "turn_completed":
            yield _build_turn_end(update)
            yield from _read_usage(update, is_counted=not self.subagent)
        elif kind == "compaction_checkpoint":
            text = read_summary(self.path, body.get("checkpoint_file"))
            yield _build_event(update, kind="compaction", name="summary", text=text, data=keep_small_facts(body))
        elif kind in _LIFECYCLE_KINDS:
            yield from _read_lifecycle(update, self.state)
        elif kind not in _SCREEN_KINDS:
            yield build_opaque_event(self.session, record, update.at, kind or text_or_none(record.value.get("method")))


def _build_event(update: GrokUpdate, **facts: Any) -> Event:
    return Event(**{"session": update.session, "key": update.key, "order": update.order, "at": update.at, **facts})


def _read_call(update: GrokUpdate, state: dict[str, Any]) -> Iterator[Event]:
    """Yield a call; one announced without arguments is yielded again when they arrive."""
    body, call_id = update.body, to_text(update.body.get("toolCallId"))
    bare: dict[str, Any] = state.setdefault("bare", {})
    if update.kind == "tool_call_update" and (call_id not in bare or not body.get("rawInput")):
        return
    tool = to_dict(to_dict(body.get("_meta")).get("x.ai/tool"))
    name = bare.pop(call_id, None) or text_or_none(tool.get("name")) or text_or_none(body.get("title"))
    if not body.get("rawInput"):
        state["bare"] = {**dict(list(bare.items())[-31:]), call_id: name}
    yield _build_event(
        update, key=f"call:{call_id}", kind="call", role="assistant", call_id=call_id or None, name=name,
        arguments=body.get("rawInput"),
    )  # fmt: skip


def _build_result(update: GrokUpdate, verdicts: dict[str, str]) -> Event:
    body, call_id = update.body, text_or_none(update.body.get("toolCallId"))
    output = to_dict(body.get("rawOutput"))
    code = int_or_none(output.get("exit_code"))
    is_error = body["status"] == "failed" or code or output.get("timed_out") is True
    return _build_event(
        update,
        key=f"result:{call_id}",
        kind="result",
        role="tool",
        call_id=call_id,
        exit_code=code,
        text=extract_text(body.get("content")) or _extract_answer(body.get("rawOutput")),
        data=keep_small_facts(output) or None,
        verdict=verdicts.get(call_id or "") or ("error" if is_error else "ok"),
    )


def _extract_answer(output: Any, depth: int = 3) -> str:
    """Return a tool's output, from the field its kind uses."""
    if isinstance(output, list) and output and all(isinstance(item, int) and 0 <= item < 256 for item in output):
        return bytes(output).decode("utf-8", "replace")
    if not isinstance(output, dict):
        return to_text(output)
    named_values = [output[name] for name in _ANSWER_FIELDS if output.get(name)]
    inner = named_values or [item for item in output.values() if isinstance(item, dict)]
    return _extract_answer(inner[0], depth - 1) if inner and depth else to_text(output)[:8192]


def _build_turn_end(update: GrokUpdate) -> Event:
    """Return the end of a turn; its reply was yielded before."""
    reason = text_or_none(update.body.get("stop_reason"))
    is_cancelled = reason in ("cancelled", "canceled")
    text = "" if reason == "end_turn" else to_text(update.body.get("agent_result"))
    return _build_event(
        update, kind="interrupt" if is_cancelled else "lifecycle", role="user" if is_cancelled else "system",
        name="turn_completed", text=text, data=keep_small_facts(update.body) or None,
        verdict="interrupted" if is_cancelled else "error" if reason == "error" else None,
    )  # fmt: skip


def _read_usage(update: GrokUpdate, is_counted: bool) -> Iterator[Usage]:
    """Yield a turn's tokens, separately for each model."""
    usage, prompt = to_dict(update.body.get("usage")), text_or_none(update.body.get("prompt_id"))
    models = to_dict(usage.get("modelUsage"))
    if not usage or prompt is None:
        return
    shares = [(prompt, next(iter(models), ""), usage)]
    if len(models) > 1:
        shares = [(f"{prompt}:{name}", name, to_dict(share)) for name, share in models.items()]
    is_cost_complete = not usage.get("usageIsIncomplete") and not usage.get("costIsPartial")
    for key, model, share in shares:
        ticks, cached = to_count(share.get("costUsdTicks")), to_count(share.get("cachedReadTokens"))
        yield Usage(
            session=update.session, key=key, model=model, at=update.at, counted=is_counted,
            input=max(to_count(share.get("inputTokens")) - cached, 0), output=to_count(share.get("outputTokens")),
            cache_read=cached, cache_write=to_count(share.get("cacheCreationTokens")),
            cost=ticks / TICKS_PER_DOLLAR if ticks and is_cost_complete else None,
            basis="floor" if usage.get("usageIsIncomplete") else "exact",
        )  # fmt: skip


def _read_lifecycle(update: GrokUpdate, state: dict[str, Any]) -> Iterator[Item]:
    body, kind = update.body, update.kind
    if kind == "background_tasks" and not body.get("tasks"):
        return
    model = text_or_none(body.get("model_id")) or text_or_none(body.get("new_model_id"))
    yield from report_new_facts(update.session, state, model=model, title=text_or_none(body.get("session_summary")))
    text = next((body[name] for name in _TEXT_FIELDS if text_or_none(body.get(name))), "")
    facts = {
        "kind": "lifecycle",
        "name": kind,
        "text": text,
        "data": keep_small_facts(body) or None,
        "verdict": _get_failure_verdict(body),
    }
    if kind == "hook_execution":
        facts["text"] = to_text(body.get("event_name"))
    elif kind == "auto_compact_completed":
        facts.update(kind="compaction", text=to_text(body.get("summary_preview")))
    elif kind == "auto_compact_cancelled":
        facts.update(kind="interrupt", role="user")
    elif not text:
        facts["text"] = to_text({name: field_value for name, field_value in body.items() if name != "sessionUpdate"})[
            :8192
        ]
    yield _build_event(update, **facts)


def _get_failure_verdict(body: dict[str, Any]) -> str | None:
    """Return the verdict error if a lifecycle event failed."""
    runs = body.get("runs")
    states = [to_dict(to_dict(run).get("status")).get("status") for run in runs] if isinstance(runs, list) else []
    has_failed = any(state in ("failed", "exhausted") for state in (*states, body.get("status"), body.get("type")))
    return "error" if has_failed or "error" in body else None


adapter = GrokAdapter()
