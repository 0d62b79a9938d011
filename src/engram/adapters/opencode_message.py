"""A message of OpenCode and its parts, whichever of its stores they lay in.

Message: role, time{created, completed} in milliseconds, and of an answer modelID, tokens, cost, error, `summary` if it
sums up what was compacted. Parts: text (`synthetic` where OpenCode wrote it), reasoning, tool (state: pending, running,
completed, error), step-start, step-finish, patch, snapshot, file, agent, subtask, compaction, retry. A shell command
that failed is `completed` with another exit code than 0; a tool that does not exist is `completed` as `invalid`.

Usage: per answer, input without the cache. Reasoning is counted apart, except where the total shows that output holds
it. A fork clones messages under new ids but keeps their times and tokens, which are therefore the key. The last answer
counts once it is complete, because its tokens still grow.

OpenCode 2 writes a message and its parts as one object (`type`, `content`); known to us only from another tool's tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engram.adapters.adapter import Item, as_text, mapping, microseconds, number, text_of, whole, words
from engram.adapters.records import record_key
from engram.model import About, Event, Usage
from engram.value import value

_PLACEHOLDER = re.compile(r"(New|Child) session - \d{4}-\d\d-\d\dT")
_FORK = re.compile(r" \(fork #\d+\)$")
_DENIED = (
    "The user rejected permission to use this specific tool call",
    "The user has specified a rule which prevents you from using this specific tool call",
)
_ABORTED, _ABORTED_COMMAND = "Tool execution aborted", "User aborted the command"
_PLAIN = {  # parts that say one small thing, and where they say it
    "step-start": "snapshot", "step-finish": "reason", "patch": "files", "snapshot": "snapshot", "file": "filename",
    "agent": "name", "subtask": "prompt",
}  # fmt: skip


@value
class Message:
    """What OpenCode knows of a message, its parts, and where it stands."""

    info: dict[str, Any]
    parts: list[dict[str, Any]]
    place: int
    last: bool  # of its session
    asked: bool  # in a subagent's session, where another agent speaks for the user


def about(info: dict[str, Any]) -> About:
    """Return what is known of a session."""
    title, parent = words(info.get("title")), words(info.get("parentID"))
    fork = bool(title and not parent and _FORK.search(title))
    return About(
        session=str(info["id"]), cwd=words(info.get("directory")), version=words(info.get("version")),
        title=None if title and _PLACEHOLDER.match(title) else title,
        parent=parent or words(info.get("forkedFrom")),
        relation="subagent" if parent else "fork" if fork or info.get("forkedFrom") else None,
    )  # fmt: skip


def is_fork(info: dict[str, Any]) -> bool:
    """Tell whether a session began as a copy of another."""
    return bool(_FORK.search(str(info.get("title")))) and not info.get("parentID")


def messages(session: dict[str, Any], found: list[Any]) -> Iterator[Item]:
    """Yield what the messages of a session say."""
    model, asked = None, bool(session.get("parentID"))
    for place, each in enumerate(found):
        info, parts = _apart(mapping(each))
        if words(info.get("modelID")) not in (None, model):
            model = info["modelID"]
            yield About(session=str(session["id"]), model=model)
        message = Message(info=info, parts=parts, place=place, last=place == len(found) - 1, asked=asked)
        yield from _said(str(session["id"]), message)


def _apart(message: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a message and its parts apart, which OpenCode 2 writes as one."""
    if isinstance(message.get("info"), dict):
        parts = message.get("parts")
        return message["info"], [mapping(each) for each in parts] if isinstance(parts, list) else []
    content = message.get("content")
    if not isinstance(content, list):
        content = [{"type": "text", "text": message.get("text")}] if message.get("text") else []
    return {**message, "role": message.get("type")}, [mapping(each) for each in content]


def _said(session: str, message: Message) -> Iterator[Item]:
    for place, part in enumerate(message.parts):
        yield from _part(session, message, part, place)
    if isinstance(message.info.get("error"), dict):
        yield _failure(session, message, message.info["error"])
    if message.info.get("role") == "assistant" and isinstance(message.info.get("tokens"), dict):
        yield from _usage(session, message, message.info["tokens"])


def _event(
    session: str, message: Message, part: dict[str, Any], place: int, at: Any = None, turn: int = 0, **facts: Any
) -> Event:
    identity = words(part.get("id")) or str(place)
    if not identity.startswith("prt_"):  # then it is unique in its message only
        identity = f"{message.info.get('id') or record_key(message.info)}:{identity}"
    began = mapping(part.get("time")).get("start") or mapping(message.info.get("time")).get("created")
    return Event(
        session=session, key=f"{identity}:result" if turn else identity,
        order=message.place << 24 | min(place, 0xFFFFF) << 2 | turn, at=microseconds(at or began), **facts,
    )  # fmt: skip


def _part(session: str, message: Message, part: dict[str, Any], place: int) -> Iterator[Event]:
    kind = words(part.get("type"))
    if kind == "text":
        yield _text(session, message, part, place)
    elif kind == "reasoning":
        if text := as_text(part.get("text")):
            yield _event(session, message, part, place, kind="thinking", role="assistant", text=text)
    elif kind == "tool":
        yield from _tool(session, message, part, place)
    elif kind == "compaction":
        name = "auto" if part.get("auto") else "manual"
        yield _event(session, message, part, place, kind="compaction", name=name)
    elif kind == "retry":
        text = _reason(mapping(part.get("error")))
        yield _event(session, message, part, place, kind="lifecycle", name=kind, verdict="error", text=text)
    elif kind in _PLAIN:
        found = part.get(_PLAIN[kind])
        text = "\n".join(map(str, found)) if isinstance(found, list) else as_text(found)
        yield _event(session, message, part, place, kind="lifecycle", name=kind, text=text)
    elif kind is None:
        yield _event(session, message, part, place, kind="damage", name="unreadable")
    else:
        yield _event(session, message, part, place, kind="opaque", name=kind, text=as_text(part)[:32768])


def _text(session: str, message: Message, part: dict[str, Any], place: int) -> Event:
    """Return a text as what it is: an answer, a person's words, or words put where a person speaks."""
    text = as_text(part.get("text"))
    if message.info.get("role") == "assistant":
        if message.info.get("summary"):
            return _event(session, message, part, place, kind="compaction", name="summary", text=text)
        return _event(session, message, part, place, kind="message", role="assistant", text=text)
    ours = message.info.get("role") != "user" or part.get("synthetic") or part.get("ignored")
    name = "injected" if ours else "prompt" if message.asked else None
    return _event(
        session, message, part, place, kind="message", role="system" if name else "user", name=name, text=text
    )


def _tool(session: str, message: Message, part: dict[str, Any], place: int) -> Iterator[Event]:
    state, tool = mapping(part.get("state")), words(part.get("tool")) or words(part.get("name"))
    call, time = words(part.get("callID")) or words(part.get("id")), mapping(state.get("time"))
    yield _event(
        session, message, part, place, at=time.get("start"), kind="call", role="assistant", name=tool, call_id=call,
        arguments=state.get("input"),
    )  # fmt: skip
    if state.get("status") not in ("completed", "error"):
        return
    facts, text = mapping(state.get("metadata")), as_text(state.get("output")) or text_of(state.get("content"))
    code = whole(facts.get("exit"))
    yield _event(
        session, message, part, place, at=time.get("end"), turn=1, kind="result", role="tool", name=tool, call_id=call,
        text=text or as_text(state.get("error")), exit_code=code, verdict=_verdict(tool, state, facts, code, text),
        data=_small(facts, state) or None,
    )  # fmt: skip


def _verdict(tool: str | None, state: dict[str, Any], facts: dict[str, Any], code: int | None, text: str) -> str:
    problem = as_text(state.get("error"))
    if facts.get("interrupted") or problem.startswith(_ABORTED) or (not code and _ABORTED_COMMAND in text[-200:]):
        return "interrupted"
    if problem.startswith(_DENIED):
        return "denied"
    return "error" if state.get("status") == "error" or code or tool == "invalid" else "ok"


def _small(facts: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    """Keep the small facts of a result, without the output that is told already."""
    kept = {
        name: each for name, each in {"title": state.get("title"), **facts}.items()
        if isinstance(each, str | int | float) and name not in ("exit", "output") and each is not False
    }  # fmt: skip
    return {name: each for name, each in kept.items() if each != "" and len(str(each)) <= 300}


def _failure(session: str, message: Message, error: dict[str, Any]) -> Event:
    name = words(error.get("name")) or "error"
    stopped = name == "MessageAbortedError"
    return _event(
        session, message, {}, len(message.parts), kind="interrupt" if stopped else "lifecycle", name=name,
        verdict=None if stopped else "error", text=_reason(error),
    )  # fmt: skip


def _reason(error: dict[str, Any]) -> str:
    return as_text(mapping(error.get("data")).get("message")) or as_text(error.get("message"))


def _usage(session: str, message: Message, tokens: dict[str, Any]) -> Iterator[Usage]:
    time, cache = mapping(message.info.get("time")), mapping(tokens.get("cache"))
    counts = [number(tokens.get(each)) for each in ("input", "output", "reasoning")]
    counts += [number(cache.get("read")), number(cache.get("write"))]
    if not any(counts) or (message.last and not time.get("completed")):
        return
    given, answered, thought, read, written = counts
    within = thought and number(tokens.get("total")) == given + answered + read + written
    model, cost = words(message.info.get("modelID")) or "", message.info.get("cost")
    yield Usage(
        session=session, key=":".join(map(str, ["assistant", time.get("created"), model, *counts])), model=model,
        at=microseconds(time.get("created")), input=given, output=answered, reasoning=0 if within else thought,
        cache_read=read, cache_write=written, cost=float(cost) if isinstance(cost, int | float) and cost > 0 else None,
    )  # fmt: skip
