"""OpenAI Codex CLI.

Where: `~/.codex/sessions/YYYY/MM/DD/rollout-<local time>-<uuid>.jsonl` and `archived_sessions/` (`CODEX_HOME` moves
both). A rollout idle for seven days becomes `.jsonl.zst` and is unpacked again on resume.

Records: `{timestamp, type, payload}`, since 0.166 with `ordinal`; until September 2025 bare items after a bare line of
{id, timestamp, instructions}. `session_meta` is repeated on resume, and a fork contains its parent's: the first one
names the thread. `response_item` is the conversation; `event_msg` repeats its messages and adds turns, exit codes and
usage. Calls are function_call, custom_tool_call, local_shell_call, linked by `call_id`; the exit code is text in the
output, or a field of `item_completed`/`exec_command_end`.

Usage: `token_count` (from 0.166 on repeated as `token_usage_record`) has the thread's running total and the
last reply's share, with cached tokens included in the input. An unchanged total is the same reply repeated.
Forks and subagents may replay their parent's counts: a reply is identified by its turn and the running total, so a
replay counts once if both files are present; if a replay is detected, the numbers are marked uncertain.

Later versions also write what the conversation lacks: plans and reviews (`item_completed`, `exited_review_mode`), the
thread's name and goal, messages between agents (`agent_message`, `inter_agent_communication`), and its settings
(`world_state`, `additional_tools`), of which nothing is kept.

Seen: 0.2x bare items of 2025-09, 0.50 to 0.142, 0.166.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.agents.transcripts.adapter import (
    Item,
    Mark,
    Place,
    extract_text,
    get_user_home,
    int_or_none,
    parse_json_text,
    text_or_none,
    to_count,
    to_dict,
    to_microseconds,
    to_text,
)
from engram.agents.transcripts.formats.json_lines import (
    TranscriptRecord,
    any_record_matches,
    build_opaque_event,
    build_record_key,
    follow_records,
)
from engram.types import About, Event, Usage

_TYPES = {
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "token_usage_record",
    "world_state",
    "inter_agent_communication",
}
_PARTS = ("input_text", "output_text")
_ITEMS = {"message", "reasoning", "function_call", "function_call_output", "local_shell_call", "custom_tool_call"}
_EXIT_CODE = re.compile(r"(?:Process exited with code |Exit code: ?|exit code:? )(-?\d+)")
_FILE_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
_REPEATED = {"agent_message", "user_message", "agent_reasoning", "item_started", "agent_reasoning_raw_content"}
_INJECTED = re.compile(r"\s*(?:<[a-z_]+(?:_context|_instructions|_action|_notification|aborted)|# AGENTS\.md|<turn_)")
_ITEM_TEXTS = ("text", "review", "query", "path")  # of a plan, a review, a search, an image
_SETTINGS = {"world_state", "retained_context", "inter_agent_communication_metadata", "additional_tools"}
_DENIED = ("rejected by user", "exec command rejected", "patch rejected", "approval denied")


class CodexAdapter:
    """The adapter for the Codex CLI."""

    flavor = "codex"
    version = 2

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Codex keeps its rollouts."""
        root = environ.get("CODEX_HOME") or os.path.join(get_user_home(environ), ".codex")
        for name in ("sessions", "archived_sessions"):
            yield Place(root=os.path.join(root, name), endings=(".jsonl", ".jsonl.zst"))

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file is a rollout."""
        return any_record_matches(head, _is_codex_record, max_lines=5)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield the items of a rollout after a mark."""
        state = dict(since.state or {"thread": _get_thread_id(path)})
        yield from follow_records(path, since.offset, state, _read_record, lambda known: str(known["thread"]))


def _is_codex_record(record: dict[str, Any]) -> bool:
    if record.get("type") in _TYPES and isinstance(record.get("payload"), dict):
        return True
    if record.get("type") == "message":
        content = record.get("content")
        return isinstance(content, list) and any(to_dict(part).get("type") in _PARTS for part in content)
    if record.get("type") == "function_call":
        return "call_id" in record and "arguments" in record
    return "instructions" in record and "id" in record and "timestamp" in record


def _get_thread_id(path: str) -> str:
    name = os.path.basename(path).removesuffix(".zst").removesuffix(".jsonl")
    match = _FILE_ID.search(name)
    return match[0] if match else name


def _read_record(record: TranscriptRecord, value: dict[str, Any], state: dict[str, Any]) -> Iterator[Item]:
    kind, payload = value.get("type"), value.get("payload")
    if not isinstance(payload, dict):
        kind, payload = "response_item" if kind in _ITEMS else "session_meta" if "id" in value else None, value
    at = to_microseconds(value.get("timestamp"))
    if kind == "session_meta":
        yield from _read_session_meta(record, payload, state, at)
    elif kind == "turn_context":
        yield from _read_turn_context(payload, state)
    elif kind in ("response_item", "request_item"):
        yield from _read_item(record, payload, state, at)
    elif kind == "event_msg":
        yield from _read_event_message(record, payload, state, at)
    elif kind == "token_usage_record":
        yield from _read_usage(payload.get("usage"), payload.get("thread_token_usage"), payload, state, at)
    elif kind == "compacted":
        text = to_text(payload.get("message"))
        yield _build_event(record, payload, state, at, kind="compaction", name="compacted", text=text)
    elif kind == "inter_agent_communication":
        yield _build_agent_message(record, payload, state, at)
    elif kind not in _SETTINGS:
        yield build_opaque_event(state["thread"], record, at, text_or_none(value.get("type")))


def _build_event(
    record: TranscriptRecord, payload: dict[str, Any], state: dict[str, Any], at: int | None, **facts: Any
) -> Event:
    identity = text_or_none(payload.get("id")) or text_or_none(facts.get("call_id"))
    key = f"{facts['kind']}:{identity}" if identity else build_record_key(record)
    return Event(session=state["thread"], key=key, order=record.start << 8, at=at, **facts)


def _read_session_meta(
    record: TranscriptRecord, payload: dict[str, Any], state: dict[str, Any], at: int | None
) -> Iterator[Item]:
    thread = text_or_none(payload.get("id")) or state["thread"]
    if "meta" in state:
        state["replays"] = state.get("replays") or thread != state["thread"]
        return
    state["thread"], state["meta"] = thread, True
    source = payload.get("source")
    spawn = to_dict(to_dict(to_dict(source).get("subagent")).get("thread_spawn"))
    parent = text_or_none(spawn.get("parent_thread_id")) or text_or_none(payload.get("parent_thread_id"))
    fork_parent = text_or_none(payload.get("forked_from_id"))
    yield About(
        session=thread,
        cwd=text_or_none(payload.get("cwd")),
        branch=text_or_none(to_dict(payload.get("git")).get("branch")),
        remote=text_or_none(to_dict(payload.get("git")).get("repository_url")),
        version=text_or_none(payload.get("cli_version")),
        parent=parent or fork_parent,
        relation="subagent" if parent else "fork" if fork_parent else None,
        entrypoint=text_or_none(payload.get("originator")),
    )
    facts = {name: fact for name, fact in to_dict(payload.get("git")).items() if isinstance(fact, str)}
    yield _build_event(record, {}, state, at, kind="lifecycle", name="session_meta", data=facts or None)


def _read_turn_context(payload: dict[str, Any], state: dict[str, Any]) -> Iterator[About]:
    state["turn"] = text_or_none(payload.get("turn_id")) or state.get("turn")
    facts = {"model": text_or_none(payload.get("model")), "cwd": text_or_none(payload.get("cwd"))}
    new = {name: fact for name, fact in facts.items() if fact and state.get(name) != fact}
    state.update(new)
    if new:
        yield About(session=state["thread"], **new)


def _read_item(
    record: TranscriptRecord, payload: dict[str, Any], state: dict[str, Any], at: int | None
) -> Iterator[Item]:
    kind = payload.get("type") or ("message" if "role" in payload else None)
    if kind == "message":
        yield _build_message(record, payload, state, at)
    elif kind == "reasoning":
        text = extract_text(payload.get("summary")) or extract_text(payload.get("content"))
        if text:
            yield _build_event(record, payload, state, at, kind="thinking", role="assistant", text=text)
    elif str(kind).endswith("_output") or (kind == "function_call" and "output" in payload):
        yield _build_result(record, payload, state, at)
    elif str(kind).endswith("_call"):
        yield _build_call(record, payload, state, at, str(kind))
    elif kind == "agent_message":
        yield _build_agent_message(record, payload, state, at)
    elif kind in ("compaction", "context_compaction"):
        yield _build_event(record, payload, state, at, kind="lifecycle", name=str(kind))
    elif kind not in _SETTINGS:
        yield build_opaque_event(state["thread"], record, at, text_or_none(kind))


def _build_message(record: TranscriptRecord, payload: dict[str, Any], state: dict[str, Any], at: int | None) -> Event:
    role, text = payload.get("role"), extract_text(payload.get("content"))
    injected = role == "user" and _INJECTED.match(text)
    if role not in ("user", "assistant") or injected:
        return _build_event(record, payload, state, at, kind="message", role="system", name="injected", text=text)
    return _build_event(record, payload, state, at, kind="message", role=role, text=text)


def _build_agent_message(
    record: TranscriptRecord, payload: dict[str, Any], state: dict[str, Any], at: int | None
) -> Event:
    """Return the event of a message between agents of one run."""
    text = extract_text(payload.get("content")) or extract_text(payload.get("message"))
    names = {name: payload[name] for name in ("author", "recipient") if isinstance(payload.get(name), str)}
    facts = {"kind": "message", "role": "system", "name": "agent_message", "text": text, "data": names or None}
    return _build_event(record, payload, state, at, **facts)


def _build_call(
    record: TranscriptRecord, payload: dict[str, Any], state: dict[str, Any], at: int | None, kind: str
) -> Event:
    arguments_text = next(
        (payload[name] for name in ("arguments", "input", "parameters", "action") if payload.get(name)), None
    )
    return _build_event(
        record,
        {},
        state,
        at,
        kind="call",
        role="assistant",
        name=text_or_none(payload.get("name")) or kind.removesuffix("_call"),
        call_id=text_or_none(payload.get("call_id")) or text_or_none(payload.get("id")),
        arguments=parse_json_text(arguments_text),
    )


def _build_result(record: TranscriptRecord, payload: dict[str, Any], state: dict[str, Any], at: int | None) -> Event:
    output = parse_json_text(payload.get("output", payload.get("tools")))
    detail = to_dict(output)
    text = extract_text(detail.get("output") or detail.get("content")) if detail else extract_text(output)
    code = int_or_none(to_dict(detail.get("metadata")).get("exit_code"))
    match = _EXIT_CODE.search(text, 0, 400) if code is None else None
    code = int(match[1][:9]) if match else code
    is_error = bool(code) or detail.get("success") is False or text.startswith(("execution error", "failed "))
    is_denied = any(words in text[:200] for words in _DENIED)
    return _build_event(
        record,
        {},
        state,
        at,
        kind="result",
        role="tool",
        text=text or to_text(output),
        call_id=text_or_none(payload.get("call_id")),
        verdict="denied" if is_denied else "error" if is_error else "ok",
        exit_code=code,
    )


def _read_event_message(
    record: TranscriptRecord, payload: dict[str, Any], state: dict[str, Any], at: int | None
) -> Iterator[Item]:
    """Yield what an event adds to the conversation."""
    kind = text_or_none(payload.get("type")) or "event"
    if kind == "token_count":
        info = to_dict(payload.get("info"))
        yield from _read_usage(info.get("last_token_usage"), info.get("total_token_usage"), payload, state, at)
    elif kind == "turn_aborted":
        yield _build_event(record, {}, state, at, kind="interrupt", role="user", name=to_text(payload.get("reason")))
    elif kind == "item_completed":
        yield from _read_completed_item(record, to_dict(payload.get("item")), state, at)
    elif kind in ("collab_agent_spawn_end", "sub_agent_activity"):
        yield from _read_subagent_spawn(record, payload, state, at)
    elif kind not in _REPEATED:
        yield from _read_lifecycle(record, payload, state, at, kind)


def _read_lifecycle(
    record: TranscriptRecord, payload: dict[str, Any], state: dict[str, Any], at: int | None, kind: str
) -> Iterator[Item]:
    """Yield an event that only says what happened, and the thread's name if it is one."""
    state["turn"] = text_or_none(payload.get("turn_id")) or state.get("turn")
    if kind == "thread_name_updated" and (title := text_or_none(payload.get("thread_name"))):
        yield About(session=state["thread"], title=title)
    is_error = kind in ("error", "stream_error") or payload.get("success") is False
    is_error = is_error or "Err" in to_dict(payload.get("result"))
    facts = {k: v for k, v in payload.items() if isinstance(v, str | int | float) and len(str(v)) <= 300}
    text = _describe_event(payload)[:4096]
    verdict = "error" if is_error else None
    yield _build_event(record, {}, state, at, kind="lifecycle", name=kind, data=facts, text=text, verdict=verdict)


def _describe_event(payload: dict[str, Any]) -> str:
    """Return what an event says in words: its message, the goal, the changed files or the findings of a review."""
    review = to_dict(payload.get("review_output"))
    if review:
        findings = [to_dict(item) for item in review.get("findings") or [] if isinstance(item, dict)]
        lines = [f"{to_text(item.get('title'))}\n{to_text(item.get('body'))}".strip() for item in findings]
        return "\n\n".join(part for part in (to_text(review.get("overall_explanation")), *lines) if part)
    changes = payload.get("changes")
    if isinstance(changes, dict):
        return "\n".join(changes)
    return to_text(payload.get("message") or to_dict(payload.get("goal")).get("objective"))


def _read_subagent_spawn(
    record: TranscriptRecord, payload: dict[str, Any], state: dict[str, Any], at: int | None
) -> Iterator[Item]:
    child = text_or_none(payload.get("new_thread_id"))
    if child:
        yield About(session=child, parent=state["thread"], relation="subagent")
    text = to_text(payload.get("prompt"))
    yield _build_event(record, {}, state, at, kind="lifecycle", name="subagent", text=text, data={"child": child})


def _read_completed_item(
    record: TranscriptRecord, item: dict[str, Any], state: dict[str, Any], at: int | None
) -> Iterator[Item]:
    """Yield facts of a finished item that the conversation lacks: its exit code and changes."""
    if item.get("type") in ("UserMessage", "AgentMessage", "Reasoning"):
        return
    changes = item.get("changes")
    files = [entry for entry in changes if isinstance(entry, str)] if isinstance(changes, dict | list) else []
    facts = {"status": item.get("status"), "exit_code": item.get("exit_code"), "call_id": item.get("id")}
    yield _build_event(
        record,
        {},
        state,
        at,
        kind="lifecycle",
        name=f"completed {item.get('type')}",
        text="\n".join(files) or next(filter(None, (text_or_none(item.get(name)) for name in _ITEM_TEXTS)), "")[:32768],
        verdict="error" if item.get("status") == "failed" else "denied" if item.get("status") == "declined" else None,
        exit_code=int_or_none(item.get("exit_code")),
        data={name: entry for name, entry in facts.items() if entry is not None},
    )


def _read_usage(
    last: Any, total: Any, payload: dict[str, Any], state: dict[str, Any], at: int | None
) -> Iterator[Usage]:
    last, total = to_dict(last), to_dict(total)
    running_total = to_count(total.get("total_tokens")) or to_count(total.get("input_tokens")) + to_count(
        total.get("output_tokens")
    )
    if not last or running_total == state.get("total"):
        return
    state["total"] = running_total
    turn = text_or_none(payload.get("turn_id")) or state.get("turn") or state["thread"]
    cache_read = to_count(last.get("cached_input_tokens"))
    cache_write = to_count(last.get("cache_write_input_tokens"))
    yield Usage(
        session=state["thread"],
        key=f"{turn}:{running_total}",
        model=state.get("model") or "",
        at=at,
        input=max(to_count(last.get("input_tokens")) - cache_read - cache_write, 0),
        output=to_count(last.get("output_tokens")),
        cache_read=cache_read,
        cache_write=cache_write,
        basis="uncertain" if state.get("replays") else "exact",
    )


adapter = CodexAdapter()
