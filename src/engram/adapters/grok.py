"""Grok Build, xAI's own agent (`@xai-official/grok`).

Where: `~/.grok/sessions/<url-encoded cwd>/<session>/` (`GROK_HOME` moves it). A session is a directory; the older
community CLI keeps its database in the same home.

Records: `updates.jsonl` leads: `{timestamp in seconds, method, params: {sessionId, update, _meta}}`, in old files the
bare notification that is now in `params`. `update.sessionUpdate` names the kind: chunks of what the user, the agent and
its thoughts say, tool_call, tool_call_update, plan (all of the Agent Client Protocol), and xAI's own kinds. It is only
ever appended to: a rewind is a marker, a compaction a checkpoint in a file beside it. `_meta.eventId` counts anew when
a session is resumed, so it names a record only together with `_meta.agentTimestampMs`. `chat_history.jsonl` is a cache,
read where there are no updates. A call's status is `completed` even when the command failed; how it ended say
`rawOutput.exit_code` and, by call id, `events.jsonl`. `summary.json` tells cwd, model, title, branch and origin; a
subagent's parent is named only in the parent's `subagents/<id>/meta.json`.

Usage: `turn_completed.usage`, per turn, the cached part inside the input. A fork repeats its parent's turns under the
same prompt ids. A parent's turn contains its subagents' tokens, and the child repeats them: those are not counted.

Seen: 1.0.41, and chat histories of versions 0 and 1. Not seen: a rewind, a cancelled turn, byte-wise `output_delta`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
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
from engram.adapters.bounded import opened
from engram.adapters.grok_chat import is_chat, read_chat, spoken
from engram.adapters.grok_folder import beside, facts_of, summary_of, verdicts_of
from engram.adapters.records import Record, damage, looks_like, opaque, records
from engram.adapters.shapes import small, told
from engram.model import Event, Usage
from engram.value import value

TICKS = 1e10  # of a US dollar
_CHUNKS = {
    "user_message_chunk": ("message", "user"), "agent_message_chunk": ("message", "assistant"),
    "agent_thought_chunk": ("thinking", "assistant"),
}  # fmt: skip
_SCREEN = {  # what only moves on the screen
    "available_commands_update", "subagent_progress", "tool_call_delta_chunk", "hooks_changed", "plugins_changed",
    "memory_files", "pending_interaction", "interaction_resolved", "session_recap_unavailable",
}  # fmt: skip
_LIFE = {
    "auto_compact_cancelled", "auto_compact_completed", "auto_compact_failed", "auto_compact_started",
    "auto_continue_completed", "auto_recovery_exhausted", "auto_recovery_started", "background_tasks",
    "current_mode_update", "feedback_request", "goal_updated", "hook_annotation", "hook_execution",
    "image_compressed", "image_dropped", "memory_dream_completed", "memory_flush_completed", "memory_flush_started",
    "memory_session_saved", "model_auto_switched", "model_changed", "monitor_event", "plan",
    "plugin_updates_installed", "retry_state", "rewind_marker", "scheduled_task_created", "scheduled_task_deleted",
    "scheduled_task_fired", "session_recap", "session_summary_generated", "subagent_finished", "subagent_spawned",
    "task_backgrounded", "task_completed", "workflow_updated",
}  # fmt: skip
_WORDS = ("message", "error", "reason", "output", "description", "summary", "session_summary", "event_text", "result")
_ANSWERS = ("output_for_prompt", "tool_output_for_prompt", "OkayOutput", "output", "content", "error", "message")


@value
class Update:
    """One record of the transcript, and how it is known."""

    session: str
    key: str
    order: int
    at: int | None
    kind: str
    body: dict[str, Any]
    stream: tuple[Any, ...]  # chunks that share it are one message


class Grok:
    """The adapter of Grok Build."""

    flavor = "grok"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Grok keeps its transcripts."""
        home = environ.get("GROK_HOME") or os.path.join(user_home(environ), ".grok")
        endings = ("updates.jsonl", "chat_history.jsonl")
        yield Place(root=os.path.join(home, "sessions"), endings=endings, depth=4)

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell whether a file is a transcript of Grok."""
        return looks_like(head, _is_update) or looks_like(head, is_chat)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield what a transcript says after a mark."""
        state = deepcopy(since.state or {})
        facts = facts_of(path)
        subagent = facts["relation"] == "subagent"
        chat = _is_cache(path)
        if not chat:
            yield from told(**facts, state=state)
            yield from _Updates(path, state, facts["session"], subagent).read(since.offset)
        elif not _has_updates(path):
            yield from told(**facts, state=state)
            yield from read_chat(path, facts["session"], subagent)
        if chat:
            yield Mark(offset=0, state=state)


def _is_cache(path: str) -> bool:
    """Tell a chat history from updates by what is in it, by its name only where nothing can be read."""
    with opened(path) as file:
        head = file.read(HEAD)
    named = os.path.basename(path).startswith("chat_history")
    return not looks_like(head, _is_update) and (looks_like(head, is_chat) or named)


def _has_updates(path: str) -> bool:
    try:
        return os.path.getsize(beside(path, "updates.jsonl")) > 0
    except OSError:
        return False


def _is_update(record: dict[str, Any]) -> bool:
    params = record.get("params") if str(record.get("method")).endswith("session/update") else record
    return "sessionId" in mapping(params) and "sessionUpdate" in mapping(mapping(params).get("update"))


class _Updates:
    """A transcript as it is read: what is said in chunks stays open until something else follows."""

    def __init__(self, path: str, state: dict[str, Any], session: str, subagent: bool) -> None:
        self.path, self.state, self.subagent = path, state, subagent
        self.session = state.get("session") or session
        self.verdicts = verdicts_of(path)
        self.opened: Update | None = None
        self.start = 0
        self.texts: list[str] = []

    def read(self, offset: int) -> Iterator[Item]:
        """Yield everything after a place; the mark stays before what is still open."""
        end = marked = offset
        for record in records(self.path, offset):
            yield from self._take(record)
            end = self.start if self.opened else record.end
            if end - marked > 1 << 20:
                yield Mark(offset=end, state=deepcopy(self.state))
                marked = end
        yield from self._close()
        yield Mark(offset=end, state=self.state)

    def _take(self, record: Record) -> Iterator[Item]:
        if not isinstance(record.value, dict):
            yield from self._close()
            yield damage(self.session, record)
            return
        update = self._update(record, record.value)
        if self.opened and update.stream != self.opened.stream:
            yield from self._close()
        if update.kind in _CHUNKS:
            self._open(record, update)
        else:
            yield from self._read(record, update)

    def _update(self, record: Record, whole_record: dict[str, Any]) -> Update:
        params = mapping(whole_record.get("params")) or whole_record
        body, meta = mapping(params.get("update")), mapping(params.get("_meta"))
        self.session = self.state["session"] = words(params.get("sessionId")) or self.session
        at = meta.get("agentTimestampMs")
        event, kind = words(meta.get("eventId")), as_text(body.get("sessionUpdate"))
        index = mapping(body.get("_meta")).get("promptIndex")
        return Update(
            session=self.session, key=f"{event}:{at}" if event else f"at:{record.start}", order=record.start << 8,
            at=microseconds(at) or microseconds(whole_record.get("timestamp")), kind=kind, body=body,
            stream=(kind, meta.get("promptId"), meta.get("streamStartMs"), index),
        )  # fmt: skip

    def _open(self, record: Record, update: Update) -> None:
        if self.opened is None:
            self.opened, self.start, self.texts = update, record.start, []
        self.texts.append(text_of(update.body.get("content")))

    def _close(self) -> Iterator[Event]:
        """Yield the message that was open; it is told again, longer, if it goes on."""
        update, self.opened = self.opened, None
        text = "".join(self.texts)
        if update is None or not text:
            return
        kind, role = _CHUNKS[update.kind]
        name = None
        if role == "user":
            text, injected = spoken(text)
            command = mapping(update.body.get("_meta")).get("hostTurn")
            name = "injected" if injected else "prompt" if self.subagent else "command" if command else None
            role = "system" if injected or self.subagent else "user"
        yield _event(update, kind=kind, role=role, name=name, text=text)

    def _read(self, record: Record, update: Update) -> Iterator[Item]:
        body, kind = update.body, update.kind
        if kind in ("tool_call", "tool_call_update"):
            yield from _called(update, self.state)
            if body.get("status") in ("completed", "failed"):
                yield _result(update, self.verdicts)
        elif kind == "turn_completed":
            yield _turn(update)
            yield from _usage(update, counted=not self.subagent)
        elif kind == "compaction_checkpoint":
            text = summary_of(self.path, body.get("checkpoint_file"))
            yield _event(update, kind="compaction", name="summary", text=text, data=small(body))
        elif kind in _LIFE:
            yield from _life(update, self.state)
        elif kind not in _SCREEN:
            yield opaque(self.session, record, update.at, kind or words(record.value.get("method")))


def _event(update: Update, **facts: Any) -> Event:
    return Event(**{"session": update.session, "key": update.key, "order": update.order, "at": update.at, **facts})


def _called(update: Update, state: dict[str, Any]) -> Iterator[Event]:
    """Yield a call; one that was announced without its arguments is told again when they come."""
    body, call_id = update.body, as_text(update.body.get("toolCallId"))
    bare: dict[str, Any] = state.setdefault("bare", {})
    if update.kind == "tool_call_update" and (call_id not in bare or not body.get("rawInput")):
        return
    tool = mapping(mapping(body.get("_meta")).get("x.ai/tool"))
    name = bare.pop(call_id, None) or words(tool.get("name")) or words(body.get("title"))
    if not body.get("rawInput"):
        state["bare"] = {**dict(list(bare.items())[-31:]), call_id: name}
    yield _event(
        update, key=f"call:{call_id}", kind="call", role="assistant", call_id=call_id or None, name=name,
        arguments=body.get("rawInput"),
    )  # fmt: skip


def _result(update: Update, verdicts: dict[str, str]) -> Event:
    body, call_id = update.body, words(update.body.get("toolCallId"))
    output = mapping(body.get("rawOutput"))
    code = whole(output.get("exit_code"))
    failed = body["status"] == "failed" or code or output.get("timed_out") is True
    return _event(
        update, key=f"result:{call_id}", kind="result", role="tool", call_id=call_id, exit_code=code,
        text=text_of(body.get("content")) or _answer(body.get("rawOutput")), data=small(output) or None,
        verdict=verdicts.get(call_id or "") or ("error" if failed else "ok"),
    )  # fmt: skip


def _answer(output: Any, depth: int = 3) -> str:
    """Return what a tool said, wherever its own kind of output has the words."""
    if isinstance(output, list) and output and all(isinstance(each, int) and 0 <= each < 256 for each in output):
        return bytes(output).decode("utf-8", "replace")
    if not isinstance(output, dict):
        return as_text(output)
    named = [output[name] for name in _ANSWERS if output.get(name)]
    inner = named or [each for each in output.values() if isinstance(each, dict)]
    return _answer(inner[0], depth - 1) if inner and depth else as_text(output)[:8192]


def _turn(update: Update) -> Event:
    """Return the end of a turn; what it answered was said before."""
    reason = words(update.body.get("stop_reason"))
    cancelled = reason in ("cancelled", "canceled")
    text = "" if reason == "end_turn" else as_text(update.body.get("agent_result"))
    return _event(
        update, kind="interrupt" if cancelled else "lifecycle", role="user" if cancelled else "system",
        name="turn_completed", text=text, data=small(update.body) or None,
        verdict="interrupted" if cancelled else "error" if reason == "error" else None,
    )  # fmt: skip


def _usage(update: Update, counted: bool) -> Iterator[Usage]:
    """Yield a turn's tokens, for each model apart where there were several."""
    usage, prompt = mapping(update.body.get("usage")), words(update.body.get("prompt_id"))
    models = mapping(usage.get("modelUsage"))
    if not usage or prompt is None:
        return
    shares = [(prompt, next(iter(models), ""), usage)]
    if len(models) > 1:
        shares = [(f"{prompt}:{name}", name, mapping(share)) for name, share in models.items()]
    trusted = not usage.get("usageIsIncomplete") and not usage.get("costIsPartial")
    for key, model, share in shares:
        ticks, cached = number(share.get("costUsdTicks")), number(share.get("cachedReadTokens"))
        yield Usage(
            session=update.session, key=key, model=model, at=update.at, counted=counted,
            input=max(number(share.get("inputTokens")) - cached, 0), output=number(share.get("outputTokens")),
            cache_read=cached, cache_write=number(share.get("cacheCreationTokens")),
            cost=ticks / TICKS if ticks and trusted else None,
            basis="floor" if usage.get("usageIsIncomplete") else "exact",
        )  # fmt: skip


def _life(update: Update, state: dict[str, Any]) -> Iterator[Item]:
    body, kind = update.body, update.kind
    if kind == "background_tasks" and not body.get("tasks"):
        return
    model = words(body.get("model_id")) or words(body.get("new_model_id"))
    yield from told(update.session, state, model=model, title=words(body.get("session_summary")))
    text = next((body[name] for name in _WORDS if words(body.get(name))), "")
    facts = {"kind": "lifecycle", "name": kind, "text": text, "data": small(body) or None, "verdict": _failure(body)}
    if kind == "hook_execution":
        facts["text"] = as_text(body.get("event_name"))
    elif kind == "auto_compact_completed":
        facts.update(kind="compaction", text=as_text(body.get("summary_preview")))
    elif kind == "auto_compact_cancelled":
        facts.update(kind="interrupt", role="user")
    elif not text:
        facts["text"] = as_text({name: each for name, each in body.items() if name != "sessionUpdate"})[:8192]
    yield _event(update, **facts)


def _failure(body: dict[str, Any]) -> str | None:
    """Tell whether something in a session's life failed."""
    runs = body.get("runs")
    states = [mapping(mapping(run).get("status")).get("status") for run in runs] if isinstance(runs, list) else []
    failed = any(each in ("failed", "exhausted") for each in (*states, body.get("status"), body.get("type")))
    return "error" if failed or "error" in body else None


adapter = Grok()
