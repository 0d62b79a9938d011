"""A message of OpenCode and its parts, from any of its stores.

Message: role, time{created, completed} in milliseconds, and for a reply modelID, tokens, cost, error, `summary` if it
summarizes a compaction. Parts: text (`synthetic` if written by OpenCode), reasoning, tool (state: pending, running,
completed, error), step-start, step-finish, patch, snapshot, file, agent, subtask, compaction, retry. A failed shell
command is `completed` with an exit code other than 0; a tool that does not exist is `completed` as `invalid`.

Usage: per reply, input without the cache. Reasoning is counted separately, unless the total shows that output includes
it. A fork clones messages under new ids but keeps their times and tokens, which are therefore the key. The last reply
counts once it is complete, because its tokens still grow.

OpenCode 2 writes a message and its parts as one object (`type`, `content`); known only from another tool's tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engram.agents.transcripts.adapter import (
    Item,
    extract_text,
    int_or_none,
    text_or_none,
    to_count,
    to_dict,
    to_microseconds,
    to_text,
)
from engram.agents.transcripts.formats.json_lines import hash_record
from engram.platform.value import value
from engram.types import About, Event, Usage

_PLACEHOLDER = re.compile(r"(New|Child) session - \d{4}-\d\d-\d\dT")
_FORK = re.compile(r" \(fork #\d+\)$")
_DENIED = (
    "The user rejected permission to use this specific tool call",
    "The user has specified a rule which prevents you from using this specific tool call",
)
_ABORTED, _ABORTED_COMMAND = "Tool execution aborted", "User aborted the command"
_PLAIN_FIELDS = {  # parts with one small fact, and the field it is in
    "step-start": "snapshot", "step-finish": "reason", "patch": "files", "snapshot": "snapshot", "file": "filename",
    "agent": "name", "subtask": "prompt",
}  # fmt: skip


@value
class OpenCodeMessage:
    """A message, its parts, and its position."""

    info: dict[str, Any]
    parts: list[dict[str, Any]]
    index: int
    is_last: bool  # of its session
    is_subagent: bool  # in a subagent's session, where another agent acts as the user


def build_session_facts(info: dict[str, Any]) -> About:
    """Return the facts about a session."""
    title, parent = text_or_none(info.get("title")), text_or_none(info.get("parentID"))
    fork = bool(title and not parent and _FORK.search(title))
    return About(
        session=str(info["id"]), cwd=text_or_none(info.get("directory")), version=text_or_none(info.get("version")),
        title=None if title and _PLACEHOLDER.match(title) else title,
        parent=parent or text_or_none(info.get("forkedFrom")),
        relation="subagent" if parent else "fork" if fork or info.get("forkedFrom") else None,
    )  # fmt: skip


def is_fork(info: dict[str, Any]) -> bool:
    """Return whether a session started as a copy of another."""
    return bool(_FORK.search(str(info.get("title")))) and not info.get("parentID")


def read_messages(session: dict[str, Any], raw_messages: list[Any]) -> Iterator[Item]:
    """Yield the items of a session's messages."""
    model, is_subagent = None, bool(session.get("parentID"))
    for index, raw_message in enumerate(raw_messages):
        info, parts = _split_message(to_dict(raw_message))
        if text_or_none(info.get("modelID")) not in (None, model):
            model = info["modelID"]
            yield About(session=str(session["id"]), model=model)
        message = OpenCodeMessage(
            info=info, parts=parts, index=index, is_last=index == len(raw_messages) - 1, is_subagent=is_subagent
        )
        yield from _read_message(str(session["id"]), message)


def _split_message(message: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a message and its parts separately, which OpenCode 2 writes as one."""
    if isinstance(message.get("info"), dict):
        parts = message.get("parts")
        return message["info"], [to_dict(part) for part in parts] if isinstance(parts, list) else []
    content = message.get("content")
    if not isinstance(content, list):
        content = [{"type": "text", "text": message.get("text")}] if message.get("text") else []
    return {**message, "role": message.get("type")}, [to_dict(part) for part in content]


def _read_message(session: str, message: OpenCodeMessage) -> Iterator[Item]:
    for index, part in enumerate(message.parts):
        yield from _read_part(session, message, part, index)
    if isinstance(message.info.get("error"), dict):
        yield _build_failure(session, message, message.info["error"])
    if message.info.get("role") == "assistant" and isinstance(message.info.get("tokens"), dict):
        yield from _read_usage(session, message, message.info["tokens"])


def _build_event(
    session: str,
    message: OpenCodeMessage,
    part: dict[str, Any],
    index: int,
    at: Any = None,
    is_result: int = 0,
    **facts: Any,
) -> Event:
    identity = text_or_none(part.get("id")) or str(index)
    if not identity.startswith("prt_"):  # then it is unique only within its message
        identity = f"{message.info.get('id') or hash_record(message.info)}:{identity}"
    started_at = to_dict(part.get("time")).get("start") or to_dict(message.info.get("time")).get("created")
    return Event(
        session=session, key=f"{identity}:result" if is_result else identity,
        order=message.index << 24 | min(index, 0xFFFFF) << 2 | is_result, at=to_microseconds(at or started_at), **facts,
    )  # fmt: skip


def _read_part(session: str, message: OpenCodeMessage, part: dict[str, Any], index: int) -> Iterator[Event]:
    kind = text_or_none(part.get("type"))
    if kind == "text":
        yield _build_text_event(session, message, part, index)
    elif kind == "reasoning":
        if text := to_text(part.get("text")):
            yield _build_event(session, message, part, index, kind="thinking", role="assistant", text=text)
    elif kind == "tool":
        yield from _read_tool(session, message, part, index)
    elif kind == "compaction":
        name = "auto" if part.get("auto") else "manual"
        yield _build_event(session, message, part, index, kind="compaction", name=name)
    elif kind == "retry":
        text = _get_error_message(to_dict(part.get("error")))
        yield _build_event(session, message, part, index, kind="lifecycle", name=kind, verdict="error", text=text)
    elif kind in _PLAIN_FIELDS:
        field = part.get(_PLAIN_FIELDS[kind])
        text = "\n".join(map(str, field)) if isinstance(field, list) else to_text(field)
        yield _build_event(session, message, part, index, kind="lifecycle", name=kind, text=text)
    elif kind is None:
        yield _build_event(session, message, part, index, kind="damage", name="unreadable")
    else:
        yield _build_event(session, message, part, index, kind="opaque", name=kind, text=to_text(part)[:32768])


def _build_text_event(session: str, message: OpenCodeMessage, part: dict[str, Any], index: int) -> Event:
    """Return the event of a text: a reply, the user's text, or text inserted in a user message."""
    text = to_text(part.get("text"))
    if message.info.get("role") == "assistant":
        if message.info.get("summary"):
            return _build_event(session, message, part, index, kind="compaction", name="summary", text=text)
        return _build_event(session, message, part, index, kind="message", role="assistant", text=text)
    is_injected = message.info.get("role") != "user" or part.get("synthetic") or part.get("ignored")
    name = "injected" if is_injected else "prompt" if message.is_subagent else None
    return _build_event(
        session, message, part, index, kind="message", role="system" if name else "user", name=name, text=text
    )


def _read_tool(session: str, message: OpenCodeMessage, part: dict[str, Any], index: int) -> Iterator[Event]:
    state, tool = to_dict(part.get("state")), text_or_none(part.get("tool")) or text_or_none(part.get("name"))
    call, time = text_or_none(part.get("callID")) or text_or_none(part.get("id")), to_dict(state.get("time"))
    yield _build_event(
        session, message, part, index, at=time.get("start"), kind="call", role="assistant", name=tool, call_id=call,
        arguments=state.get("input"),
    )  # fmt: skip
    if state.get("status") not in ("completed", "error"):
        return
    facts, text = to_dict(state.get("metadata")), to_text(state.get("output")) or extract_text(state.get("content"))
    code = int_or_none(facts.get("exit"))
    yield _build_event(
        session,
        message,
        part,
        index,
        at=time.get("end"),
        is_result=1,
        kind="result",
        role="tool",
        name=tool,
        call_id=call,
        text=text or to_text(state.get("error")),
        exit_code=code,
        verdict=_judge_verdict(tool, state, facts, code, text),
        data=_keep_small_facts(facts, state) or None,
    )


def _judge_verdict(tool: str | None, state: dict[str, Any], facts: dict[str, Any], code: int | None, text: str) -> str:
    problem = to_text(state.get("error"))
    if facts.get("interrupted") or problem.startswith(_ABORTED) or (not code and _ABORTED_COMMAND in text[-200:]):
        return "interrupted"
    if problem.startswith(_DENIED):
        return "denied"
    return "error" if state.get("status") == "error" or code or tool == "invalid" else "ok"


def _keep_small_facts(facts: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    """Return the small facts of a result, without its output."""
    small_facts = {
        name: fact for name, fact in {"title": state.get("title"), **facts}.items()
        if isinstance(fact, str | int | float) and name not in ("exit", "output") and fact is not False
    }  # fmt: skip
    return {name: fact for name, fact in small_facts.items() if fact != "" and len(str(fact)) <= 300}


def _build_failure(session: str, message: OpenCodeMessage, error: dict[str, Any]) -> Event:
    name = text_or_none(error.get("name")) or "error"
    is_interrupt = name == "MessageAbortedError"
    return _build_event(
        session, message, {}, len(message.parts), kind="interrupt" if is_interrupt else "lifecycle", name=name,
        verdict=None if is_interrupt else "error", text=_get_error_message(error),
    )  # fmt: skip


def _get_error_message(error: dict[str, Any]) -> str:
    return to_text(to_dict(error.get("data")).get("message")) or to_text(error.get("message"))


def _read_usage(session: str, message: OpenCodeMessage, tokens: dict[str, Any]) -> Iterator[Usage]:
    time, cache = to_dict(message.info.get("time")), to_dict(tokens.get("cache"))
    counts = [to_count(tokens.get(count_name)) for count_name in ("input", "output", "reasoning")]
    counts += [to_count(cache.get("read")), to_count(cache.get("write"))]
    if not any(counts) or (message.is_last and not time.get("completed")):
        return
    input_tokens, output_tokens, reasoning_tokens, cache_read, cache_write = counts
    is_in_output = (
        reasoning_tokens and to_count(tokens.get("total")) == input_tokens + output_tokens + cache_read + cache_write
    )
    model, cost = text_or_none(message.info.get("modelID")) or "", message.info.get("cost")
    yield Usage(
        session=session,
        key=":".join(map(str, ["assistant", time.get("created"), model, *counts])),
        model=model,
        at=to_microseconds(time.get("created")),
        input=input_tokens,
        output=output_tokens,
        reasoning=0 if is_in_output else reasoning_tokens,
        cache_read=cache_read,
        cache_write=cache_write,
        cost=float(cost) if isinstance(cost, int | float) and cost > 0 else None,
    )
