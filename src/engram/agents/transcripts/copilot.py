"""GitHub Copilot CLI.

Where: `~/.copilot/session-state/<session>/events.jsonl` (`COPILOT_HOME` moves it), with `workspace.yaml` beside it,
whose `name` is the title.

Records: {type, data, id, parentId, timestamp, agentId}; a record with `agentId` belongs to a subagent that works in the
same file. A call is requested in assistant.message and started in tool.execution_start; tool.execution_complete has
`success`, which is true even for a failed command: see its exit code, in `shellExecution` or at the end of the text.
user.message has the user's text in `content` and the expanded prompt in `transformedContent`.

Usage: one session.usage_record per model call, numbered within its session, since 1.0.102.
Before, only session.shutdown has usage. Until it comes, `outputTokens` of each assistant.message counts, as a floor: a
killed session has nothing else. Input includes cached tokens, output includes reasoning. The cost of a compaction is in
its own record and in no total.

Older records without an envelope (userpromptsubmitted, assistantresponse) are known from another tool's samples only.

Seen: 1.0.64, 1.0.68 and 1.0.102.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
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
    build_damage_event,
    build_opaque_event,
    hash_record,
    iter_records,
)
from engram.types import About, Event, Usage

_KINDS = re.compile(
    r"(?:session|assistant|user|tool|hook|permission|subagent|system|model|skill)\.[a-z_]+|abort|userpromptsubmitted|"
    r"assistantresponse"
)
_EXIT_CODE = re.compile(r"(?:completed|exited) with exit code (-?\d{1,9})>\s*$")
_DENIED = ("Permission denied and could not request permission", "Denied by ", "The user rejected")
_MAX_REMEMBERED = 64  # agents whose facts are remembered, and calls without a result
_PLAIN_FIELDS = {  # records with one small fact, and the field it is in
    "hook.start": "hookType", "hook.end": "hookType", "assistant.turn_start": "turnId", "assistant.turn_end": "turnId",
    "session.start": "producer", "session.resume": "selectedModel", "session.model_change": "newModel",
    "session.permissions_changed": "allowAllPermissionMode", "permission.requested": "permissionRequest",
    "permission.completed": "result", "subagent.started": "agentDescription", "subagent.configured": "model",
    "subagent.completed": "agentName", "subagent.failed": "error", "session.compaction_start": "trigger",
    "session.error": "message", "session.warning": "message", "session.info": "message", "model.turn_started": "model",
    "model.turn_ended": "model", "model.model_call_started": "model", "model.model_call_success": "kind",
    "model.message": "kind", "model.response": "kind", "model.messages_snapshot": "kind",
}  # fmt: skip


class CopilotAdapter:
    """The adapter for the Copilot CLI."""

    flavor = "copilot"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where the Copilot CLI keeps its sessions."""
        root = environ.get("COPILOT_HOME") or os.path.join(get_user_home(environ), ".copilot")
        yield Place(root=os.path.join(root, "session-state"), endings=(".jsonl",), depth=2)

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file is a session of the Copilot CLI."""
        return any_record_matches(head, _is_copilot_record)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield the items of a session after a mark."""
        state = dict(since.state or {})
        end, marked = since.offset, since.offset
        for record in iter_records(path, since.offset):
            if isinstance(record.value, dict):
                yield from _read_record(record, record.value, state, path)
            else:
                yield build_damage_event(_get_session_id(path, {}, state), record)
            end = record.end
            if end - marked > 1 << 20:
                yield Mark(offset=end, state=deepcopy(state))
                marked = end
        yield from _read_title(path, state)
        yield Mark(offset=end, state=deepcopy(state))


def _is_copilot_record(record: dict[str, Any]) -> bool:
    if not _KINDS.fullmatch(str(record.get("type"))):
        return False
    if isinstance(record.get("data"), dict):
        return "id" in record and "parentId" in record
    return "session_id" in record and any(name in record for name in ("prompt", "output", "result"))


def _get_session_id(path: str, record: dict[str, Any], state: dict[str, Any]) -> str:
    """Return the session of a record; a subagent is a session below its parent's."""
    started = to_dict(record.get("data")).get("sessionId") if record.get("type") == "session.start" else None
    session = text_or_none(started) or text_or_none(record.get("session_id")) or state.get("session")
    if session is None:
        name, directory = os.path.basename(path), os.path.basename(os.path.dirname(os.path.abspath(path)))
        return directory if name.startswith("events.jsonl") else name.removesuffix(".zst").removesuffix(".jsonl")
    state["session"] = session
    agent = text_or_none(record.get("agentId"))
    return f"{session}/{agent}" if agent else str(session)


def _read_record(record: TranscriptRecord, value: dict[str, Any], state: dict[str, Any], path: str) -> Iterator[Item]:
    kind, session = text_or_none(value.get("type")), _get_session_id(path, value, state)
    data = to_dict(value.get("data")) or value
    yield from _read_session_facts(session, data, state)
    if kind in ("user.message", "userpromptsubmitted"):
        yield _build_prompt(session, record, value, data)
    elif kind in ("assistant.message", "assistantresponse"):
        yield from _read_answer(session, record, value, data, state)
        yield from _read_message_tokens(session, value, data, state)
    elif kind in ("tool.execution_start", "tool.execution_complete"):
        yield from _read_tool(session, record, value, data, state)
    elif kind in ("session.usage_record", "session.shutdown", "session.compaction_complete"):
        yield from _read_token_record(session, record, value, data, state)
    else:
        yield _build_other_event(session, record, value, data, kind)


def _build_event(session: str, record: TranscriptRecord, value: dict[str, Any], index: int = 0, **facts: Any) -> Event:
    identity = text_or_none(value.get("id")) or hash_record(value)
    return Event(
        session=session, key=f"{identity}:{index}" if index else identity, order=record.start << 8 | min(index, 255),
        at=to_microseconds(value.get("timestamp")), parent=text_or_none(value.get("parentId")), **facts,
    )  # fmt: skip


def _read_remote(context: dict[str, Any]) -> str | None:
    """Return the address of the repository, which is given as host and owner/name."""
    server, repository = text_or_none(context.get("repositoryHost")), text_or_none(context.get("repository"))
    return f"https://{server}/{repository}" if server and repository else None


def _read_session_facts(session: str, data: dict[str, Any], state: dict[str, Any]) -> Iterator[About]:
    """Yield changed facts about the session."""
    context = to_dict(data.get("context")) or data
    facts = {
        "cwd": text_or_none(context.get("cwd")),
        "branch": text_or_none(context.get("branch")),
        "remote": _read_remote(context),
        "version": text_or_none(data.get("copilotVersion")),
        "title": text_or_none(data.get("agentDescription")),
        "model": text_or_none(data.get("newModel"))
        or text_or_none(data.get("model"))
        or text_or_none(data.get("selectedModel")),
    }
    parent, _, agent = session.partition("/")
    if agent:
        facts |= {"parent": parent, "relation": "subagent"}
    known_sessions = state.setdefault("told", {})
    if session not in known_sessions and len(known_sessions) == _MAX_REMEMBERED:
        known_sessions.pop(next(iter(known_sessions)))
    known_facts = known_sessions.setdefault(session, {})
    new = {name: fact for name, fact in facts.items() if fact is not None and known_facts.get(name) != fact}
    if new:
        known_facts.update(new)
        yield About(session=session, **new)


def _read_title(path: str, state: dict[str, Any]) -> Iterator[About]:
    """Yield the session's title from the file beside it."""
    try:
        with open(os.path.join(os.path.dirname(path), "workspace.yaml"), encoding="utf-8", errors="replace") as file:
            lines = file.read(65536).splitlines()
    except OSError:
        return
    name = next((line[6:].strip().strip("'\"") for line in lines if line.startswith("name: ")), "")
    if name and "session" in state and state.get("title") != name:
        state["title"] = name
        yield About(session=state["session"], title=name)


def _build_prompt(session: str, record: TranscriptRecord, value: dict[str, Any], data: dict[str, Any]) -> Event:
    """Return the event of a user message: the user's text, or that of the agent that started a subagent."""
    source = str(data.get("source") or "user")
    name = "prompt" if "/" in session or source.startswith("agent-") else None if source == "user" else "injected"
    text = extract_text(data.get("content")) or to_text(data.get("prompt"))
    return _build_event(session, record, value, kind="message", role="system" if name else "user", name=name, text=text)


def _read_answer(
    session: str, record: TranscriptRecord, value: dict[str, Any], data: dict[str, Any], state: dict[str, Any]
) -> Iterator[Event]:
    if thought := to_text(data.get("reasoningText")):
        yield _build_event(session, record, value, kind="thinking", role="assistant", text=thought)
    if text := extract_text(data.get("content") or data.get("output") or data.get("result")):
        yield _build_event(session, record, value, 1, kind="message", role="assistant", text=text)
    requests = data.get("toolRequests")
    for index, request in enumerate(requests if isinstance(requests, list) else []):
        call = to_dict(request)
        if text_or_none(call.get("toolCallId")):
            state["calls"] = [*state.get("calls", ()), call["toolCallId"]][-_MAX_REMEMBERED:]
        yield _build_call(session, record, value, call, text_or_none(call.get("name")), index + 2)


def _build_call(
    session: str, record: TranscriptRecord, value: dict[str, Any], call: dict[str, Any], name: str | None, index: int
) -> Event:
    return _build_event(
        session,
        record,
        value,
        index,
        kind="call",
        role="assistant",
        name=name,
        call_id=text_or_none(call.get("toolCallId")),
        arguments=parse_json_text(call.get("arguments")),
    )


def _read_tool(
    session: str, record: TranscriptRecord, value: dict[str, Any], data: dict[str, Any], state: dict[str, Any]
) -> Iterator[Event]:
    """Yield the result of a call, or a call that was started without a request."""
    call_id, open_calls = data.get("toolCallId"), state.setdefault("calls", [])
    if value.get("type") == "tool.execution_start":
        if call_id not in open_calls:
            yield _build_call(session, record, value, data, text_or_none(data.get("toolName")), 0)
        return
    if call_id in open_calls:
        open_calls.remove(call_id)
    result, error = to_dict(data.get("result")), to_dict(data.get("error"))
    text = extract_text(result.get("content") or result.get("detailedContent")) or to_text(error.get("message"))
    exit_match = _EXIT_CODE.search(text[-200:])
    code = int_or_none(to_dict(data.get("shellExecution")).get("exitCode"))
    code = int(exit_match[1]) if code is None and exit_match else code
    is_denied = error.get("code") in ("denied", "rejected") or (error and text.startswith(_DENIED))
    verdict = "denied" if is_denied else "ok" if data.get("success") and not code else "error"
    yield _build_event(
        session, record, value, kind="result", role="tool", call_id=text_or_none(call_id), text=text, verdict=verdict,
        exit_code=code, data={"code": error["code"]} if text_or_none(error.get("code")) else None,
    )  # fmt: skip


def _read_token_record(
    session: str, record: TranscriptRecord, value: dict[str, Any], data: dict[str, Any], state: dict[str, Any]
) -> Iterator[Item]:
    """Yield the usage in records with tokens."""
    kind, identity = value.get("type"), text_or_none(value.get("id")) or hash_record(value)
    if kind == "session.usage_record":
        usage = to_dict(data.get("usage"))
        accounting = to_dict(usage.get("accounting"))
        usage_key = (
            f"{accounting.get('sourceSessionId')}:{accounting.get('sequence')}"
            if accounting.get("sequence")
            else identity
        )
        state["recorded"] = True
        yield from _discount_messages(session, state)
        yield from _read_usage(session, value, usage_key, text_or_none(usage.get("model")), usage)
    elif kind == "session.shutdown":
        yield _build_shutdown(session, record, value, data)
        totals = to_dict(data.get("modelMetrics")).items() if not state.get("recorded") else ()
        for model, metrics in totals:
            counts = to_dict(to_dict(metrics).get("usage"))
            for total in _read_usage(session, value, f"{identity}:{model}", model, counts):
                yield from _discount_messages(session, state)
                yield total
    else:
        text, facts = to_text(data.get("summaryContent")), _keep_small_facts(data)
        yield _build_event(session, record, value, kind="compaction", name="summary", text=text, data=facts or None)
        cost = to_dict(data.get("compactionTokensUsed"))
        yield from _read_usage(session, value, identity, text_or_none(cost.get("model")), cost)


def _read_message_tokens(
    session: str, value: dict[str, Any], data: dict[str, Any], state: dict[str, Any]
) -> Iterator[Usage]:
    """Yield the output of a message, which counts until the totals of the session come."""
    identity, output = text_or_none(value.get("id")), to_count(data.get("outputTokens"))
    if identity and output and not state.get("recorded"):
        state.setdefault("messages", []).append(identity)
        yield Usage(
            session=session, key=identity, model=text_or_none(data.get("model")) or "", output=output, basis="floor",
            at=to_microseconds(value.get("timestamp")),
        )  # fmt: skip


def _discount_messages(session: str, state: dict[str, Any]) -> Iterator[Usage]:
    """Yield the messages again whose output is in the totals that follow."""
    for identity in state.pop("messages", ()):
        yield Usage(session=session, key=identity, model="", counted=False)


def _read_usage(
    session: str, value: dict[str, Any], key: str, model: str | None, usage: dict[str, Any]
) -> Iterator[Usage]:
    input_tokens, output_tokens, cache_read, cache_write = (
        to_count(usage.get(f"{name}Tokens")) for name in ("input", "output", "cacheRead", "cacheWrite")
    )
    if input_tokens or output_tokens:
        yield Usage(
            session=session,
            key=key,
            model=model or "",
            at=to_microseconds(value.get("timestamp")),
            input=max(input_tokens - cache_read - cache_write, 0),
            output=output_tokens,
            cache_read=cache_read,
            cache_write=cache_write,
        )


def _build_shutdown(session: str, record: TranscriptRecord, value: dict[str, Any], data: dict[str, Any]) -> Event:
    changes = to_dict(data.get("codeChanges"))
    files = changes.get("filesModified")
    facts = _keep_small_facts(
        {**changes, **{name: data.get(name) for name in ("shutdownType", "totalPremiumRequests")}}
    )
    return _build_event(
        session, record, value, kind="lifecycle", name="session.shutdown", data=facts or None,
        text="\n".join(map(str, files)) if isinstance(files, list) else "",
    )  # fmt: skip


def _keep_small_facts(detail: dict[str, Any]) -> dict[str, Any]:
    return {
        name: fact for name, fact in detail.items()
        if isinstance(fact, str | int | float) and fact is not False and 0 < len(str(fact)) <= 300
    }  # fmt: skip


def _build_other_event(
    session: str, record: TranscriptRecord, value: dict[str, Any], data: dict[str, Any], kind: str | None
) -> Event:
    if kind in ("system.message", "system.notification"):
        text = extract_text(data.get("content"))
        return _build_event(session, record, value, kind="message", role="system", name="injected", text=text)
    if kind == "abort":
        return _build_event(session, record, value, kind="interrupt", role="user", text=to_text(data.get("reason")))
    if kind == "session.truncation":
        return _build_event(
            session, record, value, kind="compaction", name="truncation", data=_keep_small_facts(data) or None
        )
    if kind in _PLAIN_FIELDS:
        is_error = data.get("success") is False or kind in ("session.error", "subagent.failed")
        text, verdict = to_text(data.get(_PLAIN_FIELDS[kind])), "error" if is_error else None
        return _build_event(session, record, value, kind="lifecycle", name=kind, text=text[:8192], verdict=verdict)
    return build_opaque_event(session, record, to_microseconds(value.get("timestamp")), kind)


adapter = CopilotAdapter()
