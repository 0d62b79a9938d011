"""OpenAI Codex CLI.

Where: `~/.codex/sessions/YYYY/MM/DD/rollout-<local time>-<uuid>.jsonl` and `archived_sessions/` (`CODEX_HOME` moves
both). A rollout idle for seven days becomes `.jsonl.zst` and is expanded again on resume.

Records: `{timestamp, type, payload}`, since 0.166 with `ordinal`; until September 2025 bare items after a bare line of
{id, timestamp, instructions}. `session_meta` is repeated on resume and a fork embeds its parent's: the first one names
the thread. `response_item` is the conversation; `event_msg` repeats its messages and adds turns, exit codes and usage.
Calls are function_call, custom_tool_call, local_shell_call, joined by `call_id`; the exit code is text in the output,
or a field of `item_completed`/`exec_command_end`.

Usage: `token_count` (and from 0.166 on once more as `token_usage_record`) carries the thread's running total and the
last answer's share, with the cached part inside the input. A total that did not move is the same answer told again.
Forks and subagents may replay their parent's counts: an answer is known by its turn and the running total, so a replay
counts once where both files are here; where a replay is seen, the figures are called uncertain.

Seen: 0.2x bare items of 2025-09, 0.50 to 0.142, 0.166.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.adapters.adapter import (
    Item,
    Mark,
    Place,
    as_text,
    mapping,
    microseconds,
    number,
    parsed,
    text_of,
    user_home,
    whole,
    words,
)
from engram.adapters.records import Record, followed, looks_like, opaque, place_key
from engram.model import About, Event, Usage

_TYPES = {
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "token_usage_record",
    "world_state",
}
_PARTS = ("input_text", "output_text")
_ITEMS = {"message", "reasoning", "function_call", "function_call_output", "local_shell_call", "custom_tool_call"}
_EXIT = re.compile(r"(?:Process exited with code |Exit code: ?|exit code:? )(-?\d+)")
_FILE_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
_REPEATED = {"agent_message", "user_message", "agent_reasoning", "item_started", "agent_reasoning_raw_content"}
_INJECTED = re.compile(r"\s*(?:<[a-z_]+(?:_context|_instructions|_action|_notification|aborted)|# AGENTS\.md|<turn_)")
_DENIED = ("rejected by user", "exec command rejected", "patch rejected", "approval denied")


class Codex:
    """The adapter of the Codex CLI."""

    flavor = "codex"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Codex keeps its rollouts."""
        root = environ.get("CODEX_HOME") or os.path.join(user_home(environ), ".codex")
        for name in ("sessions", "archived_sessions"):
            yield Place(root=os.path.join(root, name), endings=(".jsonl", ".jsonl.zst"))

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell whether a file is a rollout."""
        return looks_like(head, _is_ours, lines=5)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield what a rollout says after a mark."""
        state = dict(since.state or {"thread": _named(path)})
        yield from followed(path, since.offset, state, _read, lambda known: str(known["thread"]))


def _is_ours(record: dict[str, Any]) -> bool:
    if record.get("type") in _TYPES and isinstance(record.get("payload"), dict):
        return True
    if record.get("type") == "message":
        content = record.get("content")
        return isinstance(content, list) and any(mapping(part).get("type") in _PARTS for part in content)
    if record.get("type") == "function_call":
        return "call_id" in record and "arguments" in record
    return "instructions" in record and "id" in record and "timestamp" in record


def _named(path: str) -> str:
    name = os.path.basename(path).removesuffix(".zst").removesuffix(".jsonl")
    found = _FILE_ID.search(name)
    return found[0] if found else name


def _read(record: Record, value: dict[str, Any], state: dict[str, Any]) -> Iterator[Item]:
    kind, payload = value.get("type"), value.get("payload")
    if not isinstance(payload, dict):
        kind, payload = "response_item" if kind in _ITEMS else "session_meta" if "id" in value else None, value
    at = microseconds(value.get("timestamp"))
    if kind == "session_meta":
        yield from _meta(record, payload, state, at)
    elif kind == "turn_context":
        yield from _turn(payload, state)
    elif kind in ("response_item", "request_item"):
        yield from _item(record, payload, state, at)
    elif kind == "event_msg":
        yield from _told(record, payload, state, at)
    elif kind == "token_usage_record":
        yield from _usage(payload.get("usage"), payload.get("thread_token_usage"), payload, state, at)
    elif kind == "compacted":
        text = as_text(payload.get("message"))
        yield _event(record, payload, state, at, kind="compaction", name="compacted", text=text)
    else:
        yield opaque(state["thread"], record, at, words(value.get("type")))


def _event(record: Record, payload: dict[str, Any], state: dict[str, Any], at: int | None, **facts: Any) -> Event:
    identity = words(payload.get("id")) or words(facts.get("call_id"))
    key = f"{facts['kind']}:{identity}" if identity else place_key(record)
    return Event(session=state["thread"], key=key, order=record.start << 8, at=at, **facts)


def _meta(record: Record, payload: dict[str, Any], state: dict[str, Any], at: int | None) -> Iterator[Item]:
    thread = words(payload.get("id")) or state["thread"]
    if "meta" in state:
        state["replays"] = state.get("replays") or thread != state["thread"]
        return
    state["thread"], state["meta"] = thread, True
    source = payload.get("source")
    spawn = mapping(mapping(mapping(source).get("subagent")).get("thread_spawn"))
    parent = words(spawn.get("parent_thread_id")) or words(payload.get("parent_thread_id"))
    forked = words(payload.get("forked_from_id"))
    yield About(
        session=thread,
        cwd=words(payload.get("cwd")),
        branch=words(mapping(payload.get("git")).get("branch")),
        version=words(payload.get("cli_version")),
        parent=parent or forked,
        relation="subagent" if parent else "fork" if forked else None,
        entrypoint=words(payload.get("originator")),
    )
    facts = {name: each for name, each in mapping(payload.get("git")).items() if isinstance(each, str)}
    yield _event(record, {}, state, at, kind="lifecycle", name="session_meta", data=facts or None)


def _turn(payload: dict[str, Any], state: dict[str, Any]) -> Iterator[About]:
    state["turn"] = words(payload.get("turn_id")) or state.get("turn")
    facts = {"model": words(payload.get("model")), "cwd": words(payload.get("cwd"))}
    new = {name: each for name, each in facts.items() if each and state.get(name) != each}
    state.update(new)
    if new:
        yield About(session=state["thread"], **new)


def _item(record: Record, payload: dict[str, Any], state: dict[str, Any], at: int | None) -> Iterator[Item]:
    kind = payload.get("type") or ("message" if "role" in payload else None)
    if kind == "message":
        yield _message(record, payload, state, at)
    elif kind == "reasoning":
        text = text_of(payload.get("summary")) or text_of(payload.get("content"))
        if text:
            yield _event(record, payload, state, at, kind="thinking", role="assistant", text=text)
    elif str(kind).endswith("_output") or (kind == "function_call" and "output" in payload):
        yield _result(record, payload, state, at)
    elif str(kind).endswith("_call"):
        yield _call(record, payload, state, at, str(kind))
    else:
        yield opaque(state["thread"], record, at, words(kind))


def _message(record: Record, payload: dict[str, Any], state: dict[str, Any], at: int | None) -> Event:
    role, text = payload.get("role"), text_of(payload.get("content"))
    injected = role == "user" and _INJECTED.match(text)
    if role not in ("user", "assistant") or injected:
        return _event(record, payload, state, at, kind="message", role="system", name="injected", text=text)
    return _event(record, payload, state, at, kind="message", role=role, text=text)


def _call(record: Record, payload: dict[str, Any], state: dict[str, Any], at: int | None, kind: str) -> Event:
    given = next((payload[name] for name in ("arguments", "input", "parameters", "action") if payload.get(name)), None)
    return _event(
        record,
        {},
        state,
        at,
        kind="call",
        role="assistant",
        name=words(payload.get("name")) or kind.removesuffix("_call"),
        call_id=words(payload.get("call_id")) or words(payload.get("id")),
        arguments=parsed(given),
    )


def _result(record: Record, payload: dict[str, Any], state: dict[str, Any], at: int | None) -> Event:
    output = parsed(payload.get("output", payload.get("tools")))
    detail = mapping(output)
    text = text_of(detail.get("output") or detail.get("content")) if detail else text_of(output)
    code = whole(mapping(detail.get("metadata")).get("exit_code"))
    found = _EXIT.search(text, 0, 400) if code is None else None
    code = int(found[1][:9]) if found else code
    failed = bool(code) or detail.get("success") is False or text.startswith(("execution error", "failed "))
    denied = any(words in text[:200] for words in _DENIED)
    return _event(
        record,
        {},
        state,
        at,
        kind="result",
        role="tool",
        text=text or as_text(output),
        call_id=words(payload.get("call_id")),
        verdict="denied" if denied else "error" if failed else "ok",
        exit_code=code,
    )


def _told(record: Record, payload: dict[str, Any], state: dict[str, Any], at: int | None) -> Iterator[Item]:
    """Yield what an event says beyond the conversation."""
    kind = words(payload.get("type")) or "event"
    if kind == "token_count":
        info = mapping(payload.get("info"))
        yield from _usage(info.get("last_token_usage"), info.get("total_token_usage"), payload, state, at)
    elif kind == "turn_aborted":
        yield _event(record, {}, state, at, kind="interrupt", role="user", name=as_text(payload.get("reason")))
    elif kind == "item_completed":
        yield from _completed(record, mapping(payload.get("item")), state, at)
    elif kind in ("collab_agent_spawn_end", "sub_agent_activity"):
        yield from _spawned(record, payload, state, at)
    elif kind not in _REPEATED:
        state["turn"] = words(payload.get("turn_id")) or state.get("turn")
        error = kind in ("error", "stream_error") or payload.get("success") is False
        facts = {k: v for k, v in payload.items() if isinstance(v, str | int | float) and len(str(v)) <= 300}
        text = as_text(payload.get("message"))[:4096]
        verdict = "error" if error else None
        yield _event(record, {}, state, at, kind="lifecycle", name=kind, data=facts, text=text, verdict=verdict)


def _spawned(record: Record, payload: dict[str, Any], state: dict[str, Any], at: int | None) -> Iterator[Item]:
    child = words(payload.get("new_thread_id"))
    if child:
        yield About(session=child, parent=state["thread"], relation="subagent")
    text = as_text(payload.get("prompt"))
    yield _event(record, {}, state, at, kind="lifecycle", name="subagent", text=text, data={"child": child})


def _completed(record: Record, item: dict[str, Any], state: dict[str, Any], at: int | None) -> Iterator[Item]:
    """Yield the facts of a finished item that the conversation does not hold: its exit code and changes."""
    if item.get("type") in ("UserMessage", "AgentMessage", "Reasoning"):
        return
    changes = item.get("changes")
    files = [each for each in changes if isinstance(each, str)] if isinstance(changes, dict | list) else []
    facts = {"status": item.get("status"), "exit_code": item.get("exit_code"), "call_id": item.get("id")}
    yield _event(
        record,
        {},
        state,
        at,
        kind="lifecycle",
        name=f"completed {item.get('type')}",
        text="\n".join(files),
        verdict="error" if item.get("status") == "failed" else "denied" if item.get("status") == "declined" else None,
        exit_code=whole(item.get("exit_code")),
        data={name: each for name, each in facts.items() if each is not None},
    )


def _usage(last: Any, total: Any, payload: dict[str, Any], state: dict[str, Any], at: int | None) -> Iterator[Usage]:
    last, total = mapping(last), mapping(total)
    running = number(total.get("total_tokens")) or number(total.get("input_tokens")) + number(
        total.get("output_tokens")
    )
    if not last or running == state.get("total"):
        return
    state["total"] = running
    turn = words(payload.get("turn_id")) or state.get("turn") or state["thread"]
    cached = number(last.get("cached_input_tokens"))
    written = number(last.get("cache_write_input_tokens"))
    yield Usage(
        session=state["thread"],
        key=f"{turn}:{running}",
        model=state.get("model") or "",
        at=at,
        input=max(number(last.get("input_tokens")) - cached - written, 0),
        output=number(last.get("output_tokens")),
        cache_read=cached,
        cache_write=written,
        basis="uncertain" if state.get("replays") else "exact",
    )


adapter = Codex()
