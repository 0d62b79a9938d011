"""GitHub Copilot CLI.

Where: `~/.copilot/session-state/<session>/events.jsonl` (`COPILOT_HOME` moves it), with `workspace.yaml` beside it,
whose `name` is the title.

Records: {type, data, id, parentId, timestamp, agentId}; a record with `agentId` belongs to a subagent that works in the
same file. A call is requested in assistant.message and started in tool.execution_start; tool.execution_complete has
`success`, which is true for a command that failed: its exit code tells, in `shellExecution` or at the end of the text.
user.message has the person's words in `content` and what was made of them in `transformedContent`.

Usage: one session.usage_record per call of the model, numbered within the session it was made for, since 1.0.102.
Before, only session.shutdown has any, so a session that was killed has none. Input holds what came from the cache,
output holds reasoning. What a compaction cost stands in its own record and in no total.

Older records without an envelope (userpromptsubmitted, assistantresponse) are known from another tool's samples only.

Seen: 1.0.64, 1.0.68 and 1.0.102.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
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
from engram.adapters.records import Record, damage, looks_like, opaque, record_key, records
from engram.model import About, Event, Usage

_KINDS = re.compile(
    r"(?:session|assistant|user|tool|hook|permission|subagent|system|model|skill)\.[a-z_]+|abort|userpromptsubmitted|"
    r"assistantresponse"
)
_EXIT = re.compile(r"(?:completed|exited) with exit code (-?\d{1,9})>\s*$")
_DENIED = ("Permission denied and could not request permission", "Denied by ", "The user rejected")
_KNOWN = 64  # agents we remember what we said of, and calls without a result
_PLAIN = {  # records that say one small thing, and where they say it
    "hook.start": "hookType", "hook.end": "hookType", "assistant.turn_start": "turnId", "assistant.turn_end": "turnId",
    "session.start": "producer", "session.resume": "selectedModel", "session.model_change": "newModel",
    "session.permissions_changed": "allowAllPermissionMode", "permission.requested": "permissionRequest",
    "permission.completed": "result", "subagent.started": "agentDescription", "subagent.configured": "model",
    "subagent.completed": "agentName", "subagent.failed": "error", "session.compaction_start": "trigger",
    "session.error": "message", "session.warning": "message", "session.info": "message", "model.turn_started": "model",
    "model.turn_ended": "model", "model.model_call_started": "model", "model.model_call_success": "kind",
    "model.message": "kind", "model.response": "kind", "model.messages_snapshot": "kind",
}  # fmt: skip


class Copilot:
    """The adapter of the Copilot CLI."""

    flavor = "copilot"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where the Copilot CLI keeps its sessions."""
        root = environ.get("COPILOT_HOME") or os.path.join(user_home(environ), ".copilot")
        yield Place(root=os.path.join(root, "session-state"), endings=(".jsonl",), depth=2)

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell whether a file is a session of the Copilot CLI."""
        return looks_like(head, _is_ours)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield what a session says after a mark."""
        state = dict(since.state or {})
        end, marked = since.offset, since.offset
        for record in records(path, since.offset):
            if isinstance(record.value, dict):
                yield from _read(record, record.value, state, path)
            else:
                yield damage(_session_of(path, {}, state), record)
            end = record.end
            if end - marked > 1 << 20:
                yield Mark(offset=end, state=deepcopy(state))
                marked = end
        yield from _title(path, state)
        yield Mark(offset=end, state=deepcopy(state))


def _is_ours(record: dict[str, Any]) -> bool:
    if not _KINDS.fullmatch(str(record.get("type"))):
        return False
    if isinstance(record.get("data"), dict):
        return "id" in record and "parentId" in record
    return "session_id" in record and any(name in record for name in ("prompt", "output", "result"))


def _session_of(path: str, record: dict[str, Any], state: dict[str, Any]) -> str:
    """Return the session a record belongs to; a subagent is a session under its parent's."""
    started = mapping(record.get("data")).get("sessionId") if record.get("type") == "session.start" else None
    session = words(started) or words(record.get("session_id")) or state.get("session")
    if session is None:
        name, directory = os.path.basename(path), os.path.basename(os.path.dirname(os.path.abspath(path)))
        return directory if name.startswith("events.jsonl") else name.removesuffix(".zst").removesuffix(".jsonl")
    state["session"] = session
    agent = words(record.get("agentId"))
    return f"{session}/{agent}" if agent else str(session)


def _read(record: Record, value: dict[str, Any], state: dict[str, Any], path: str) -> Iterator[Item]:
    kind, session = words(value.get("type")), _session_of(path, value, state)
    data = mapping(value.get("data")) or value
    yield from _about(session, data, state)
    if kind in ("user.message", "userpromptsubmitted"):
        yield _prompt(session, record, value, data)
    elif kind in ("assistant.message", "assistantresponse"):
        yield from _answer(session, record, value, data, state)
    elif kind in ("tool.execution_start", "tool.execution_complete"):
        yield from _tool(session, record, value, data, state)
    elif kind in ("session.usage_record", "session.shutdown", "session.compaction_complete"):
        yield from _accounted(session, record, value, data, state)
    else:
        yield _other(session, record, value, data, kind)


def _event(session: str, record: Record, value: dict[str, Any], place: int = 0, **facts: Any) -> Event:
    identity = words(value.get("id")) or record_key(value)
    return Event(
        session=session, key=f"{identity}:{place}" if place else identity, order=record.start << 8 | min(place, 255),
        at=microseconds(value.get("timestamp")), parent=words(value.get("parentId")), **facts,
    )  # fmt: skip


def _about(session: str, data: dict[str, Any], state: dict[str, Any]) -> Iterator[About]:
    """Yield what has changed about the session."""
    context = mapping(data.get("context")) or data
    facts = {
        "cwd": words(context.get("cwd")), "branch": words(context.get("branch")),
        "version": words(data.get("copilotVersion")), "title": words(data.get("agentDescription")),
        "model": words(data.get("newModel")) or words(data.get("model")) or words(data.get("selectedModel")),
    }  # fmt: skip
    parent, _, agent = session.partition("/")
    if agent:
        facts |= {"parent": parent, "relation": "subagent"}
    known = state.setdefault("told", {})
    if session not in known and len(known) == _KNOWN:
        known.pop(next(iter(known)))
    told = known.setdefault(session, {})
    new = {name: each for name, each in facts.items() if each is not None and told.get(name) != each}
    if new:
        told.update(new)
        yield About(session=session, **new)


def _title(path: str, state: dict[str, Any]) -> Iterator[About]:
    """Yield the name the file beside gives the session."""
    try:
        with open(os.path.join(os.path.dirname(path), "workspace.yaml"), encoding="utf-8", errors="replace") as file:
            lines = file.read(65536).splitlines()
    except OSError:
        return
    name = next((line[6:].strip().strip("'\"") for line in lines if line.startswith("name: ")), "")
    if name and "session" in state and state.get("title") != name:
        state["title"] = name
        yield About(session=state["session"], title=name)


def _prompt(session: str, record: Record, value: dict[str, Any], data: dict[str, Any]) -> Event:
    """Return what stands where a person speaks: their words, or those of the agent that asks a subagent."""
    source = str(data.get("source") or "user")
    name = "prompt" if "/" in session or source.startswith("agent-") else None if source == "user" else "injected"
    text = text_of(data.get("content")) or as_text(data.get("prompt"))
    return _event(session, record, value, kind="message", role="system" if name else "user", name=name, text=text)


def _answer(
    session: str, record: Record, value: dict[str, Any], data: dict[str, Any], state: dict[str, Any]
) -> Iterator[Event]:
    if thought := as_text(data.get("reasoningText")):
        yield _event(session, record, value, kind="thinking", role="assistant", text=thought)
    if text := text_of(data.get("content") or data.get("output") or data.get("result")):
        yield _event(session, record, value, 1, kind="message", role="assistant", text=text)
    requests = data.get("toolRequests")
    for place, request in enumerate(requests if isinstance(requests, list) else []):
        call = mapping(request)
        if words(call.get("toolCallId")):
            state["calls"] = [*state.get("calls", ()), call["toolCallId"]][-_KNOWN:]
        yield _call(session, record, value, call, words(call.get("name")), place + 2)


def _call(
    session: str, record: Record, value: dict[str, Any], call: dict[str, Any], name: str | None, place: int
) -> Event:
    return _event(
        session, record, value, place, kind="call", role="assistant", name=name, call_id=words(call.get("toolCallId")),
        arguments=parsed(call.get("arguments")),
    )  # fmt: skip


def _tool(
    session: str, record: Record, value: dict[str, Any], data: dict[str, Any], state: dict[str, Any]
) -> Iterator[Event]:
    """Yield the result of a call, and a call that was started without having been requested."""
    call, asked = data.get("toolCallId"), state.setdefault("calls", [])
    if value.get("type") == "tool.execution_start":
        if call not in asked:
            yield _call(session, record, value, data, words(data.get("toolName")), 0)
        return
    if call in asked:
        asked.remove(call)
    result, error = mapping(data.get("result")), mapping(data.get("error"))
    text = text_of(result.get("content") or result.get("detailedContent")) or as_text(error.get("message"))
    ended = _EXIT.search(text[-200:])
    code = whole(mapping(data.get("shellExecution")).get("exitCode"))
    code = int(ended[1]) if code is None and ended else code
    denied = error.get("code") in ("denied", "rejected") or (error and text.startswith(_DENIED))
    verdict = "denied" if denied else "ok" if data.get("success") and not code else "error"
    yield _event(
        session, record, value, kind="result", role="tool", call_id=words(call), text=text, verdict=verdict,
        exit_code=code, data={"code": error["code"]} if words(error.get("code")) else None,
    )  # fmt: skip


def _accounted(
    session: str, record: Record, value: dict[str, Any], data: dict[str, Any], state: dict[str, Any]
) -> Iterator[Item]:
    """Yield what the records with tokens say."""
    kind, identity = value.get("type"), words(value.get("id")) or record_key(value)
    if kind == "session.usage_record":
        usage = mapping(data.get("usage"))
        made = mapping(usage.get("accounting"))
        numbered = f"{made.get('sourceSessionId')}:{made.get('sequence')}" if made.get("sequence") else identity
        state["recorded"] = True
        yield from _usage(session, value, numbered, words(usage.get("model")), usage)
    elif kind == "session.shutdown":
        yield _shutdown(session, record, value, data)
        for model, metrics in mapping(data.get("modelMetrics")).items() if not state.get("recorded") else ():
            yield from _usage(session, value, f"{identity}:{model}", model, mapping(mapping(metrics).get("usage")))
    else:
        text, facts = as_text(data.get("summaryContent")), _small(data)
        yield _event(session, record, value, kind="compaction", name="summary", text=text, data=facts or None)
        cost = mapping(data.get("compactionTokensUsed"))
        yield from _usage(session, value, identity, words(cost.get("model")), cost)


def _usage(session: str, value: dict[str, Any], key: str, model: str | None, usage: dict[str, Any]) -> Iterator[Usage]:
    given, answered, read, written = (
        number(usage.get(f"{name}Tokens")) for name in ("input", "output", "cacheRead", "cacheWrite")
    )
    if given or answered:
        yield Usage(
            session=session, key=key, model=model or "", at=microseconds(value.get("timestamp")),
            input=max(given - read - written, 0), output=answered, cache_read=read, cache_write=written,
        )  # fmt: skip


def _shutdown(session: str, record: Record, value: dict[str, Any], data: dict[str, Any]) -> Event:
    changes = mapping(data.get("codeChanges"))
    files = changes.get("filesModified")
    facts = _small({**changes, **{name: data.get(name) for name in ("shutdownType", "totalPremiumRequests")}})
    return _event(
        session, record, value, kind="lifecycle", name="session.shutdown", data=facts or None,
        text="\n".join(map(str, files)) if isinstance(files, list) else "",
    )  # fmt: skip


def _small(detail: dict[str, Any]) -> dict[str, Any]:
    return {
        name: each for name, each in detail.items()
        if isinstance(each, str | int | float) and each is not False and 0 < len(str(each)) <= 300
    }  # fmt: skip


def _other(session: str, record: Record, value: dict[str, Any], data: dict[str, Any], kind: str | None) -> Event:
    if kind in ("system.message", "system.notification"):
        text = text_of(data.get("content"))
        return _event(session, record, value, kind="message", role="system", name="injected", text=text)
    if kind == "abort":
        return _event(session, record, value, kind="interrupt", role="user", text=as_text(data.get("reason")))
    if kind == "session.truncation":
        return _event(session, record, value, kind="compaction", name="truncation", data=_small(data) or None)
    if kind in _PLAIN:
        failed = data.get("success") is False or kind in ("session.error", "subagent.failed")
        text, verdict = as_text(data.get(_PLAIN[kind])), "error" if failed else None
        return _event(session, record, value, kind="lifecycle", name=kind, text=text[:8192], verdict=verdict)
    return opaque(session, record, microseconds(value.get("timestamp")), kind)


adapter = Copilot()
