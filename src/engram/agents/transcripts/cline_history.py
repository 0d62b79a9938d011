"""What Cline and its forks send to the model: `api_conversation_history.json` beside a task's `ui_messages.json`.

A list of {role, content[], ts in newer versions} in Anthropic's form. The task is in `<task>`, later requests in
`<feedback>`, `<answer>` or `<user_message>`; `<environment_details>` has the directory. Older tasks call tools as XML
in the text, and the result follows as `[tool for 'x'] Result:` in the next message. It is read only if
`ui_messages.json` is missing, damaged or shorter.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from engram.agents.transcripts.adapter import (
    Item,
    extract_text,
    text_or_none,
    to_dict,
    to_microseconds,
    to_text,
)
from engram.agents.transcripts.formats.json_document import read_document
from engram.types import About, Event

FILE_NAME = "api_conversation_history.json"
UI_NAME = "ui_messages.json"

_SPOKEN = re.compile(r"\s*<(task|feedback|answer|user_message|user_input)(?: [^>]*)?>(.*?)</\1>", re.DOTALL)
_RESULT = re.compile(r"\[(\w+)(?: for '[^\n]*')?\] Result:\s*")
_TOOL = re.compile(
    r"<(execute_command|read_file|write_to_file|replace_in_file|apply_diff|insert_content|search_and_replace|"
    r"search_files|list_files|list_code_definition_names|browser_action|use_mcp_tool|access_mcp_resource|"
    r"ask_followup_question|attempt_completion|plan_mode_respond|switch_mode|new_task|update_todo_list|thinking)>"
    r"(.*?)(?:</\1>|\Z)",
    re.DOTALL,
)
_ARGUMENT = re.compile(r"<(\w+)>(.*?)</\1>", re.DOTALL)
_ANSWERS = {"ask_followup_question": "question", "attempt_completion": "result", "plan_mode_respond": "response"}
_CWD = re.compile(r"# Current (?:Working|Workspace) Directory \(([^)\n]+)\)")
_FAILED = re.compile(r"\s*(?:Error|The tool execution failed|Command failed|<error>)", re.IGNORECASE)
_DENIED = re.compile(r"\s*The user denied this operation")


def is_history(path: str, beginning: Any) -> bool:
    """Return whether a document is such a list, by its content or its name."""
    first = to_dict(beginning[0]) if isinstance(beginning, list) and beginning else {}
    if first.get("role") not in ("user", "assistant") or "content" not in first:
        return False
    return os.path.basename(path) == FILE_NAME or "<task>" in extract_text(first["content"])[:200]


def rank_task_files(path: str) -> list[str]:
    """Return the two files of a task, the one that holds more of it first."""
    if os.path.basename(path) not in (FILE_NAME, UI_NAME):
        return [path]
    ui, history = (os.path.join(os.path.dirname(path), name) for name in (UI_NAME, FILE_NAME))
    if not os.path.exists(ui) or not os.path.exists(history):
        return [path]
    entries, messages = read_document(ui), read_document(history)
    count = len(entries) if isinstance(entries, list) else 0
    # A sound task has several entries for each message of the model.
    replies = sum(to_dict(message).get("role") == "assistant" for message in messages or ())
    return [history, ui] if replies > count else [ui, history]


def read_history(task: str, messages: list[Any], is_subagent: bool) -> Iterator[Item]:
    """Yield the items of a task's conversation with the model."""
    at = to_microseconds(int(task)) if task.isdigit() and len(task) < 18 else None
    call: str | None = None
    for index, raw_message in enumerate(messages):
        message = to_dict(raw_message)
        at = to_microseconds(message.get("ts")) or (at if index == 0 else None)
        content = message.get("content")
        for number, facts in enumerate(_read_blocks(message.get("role"), content, is_subagent and index == 0)):
            if cwd := facts.pop("cwd", None):
                yield About(session=task, cwd=cwd)
            key = f"api:{index}:{number}"
            if facts["kind"] == "call":
                call = facts["call_id"] = facts.get("call_id") or key
            elif facts["kind"] == "result":
                facts["call_id"] = facts.get("call_id") or call
            yield Event(session=task, key=key, order=index << 8 | min(number, 255), at=at, **facts)


def _read_blocks(role: Any, content: Any, is_prompt: bool) -> Iterator[dict[str, Any]]:
    pending: dict[str, Any] | None = None  # a result whose text is in the next block
    for block in content if isinstance(content, list) else [content]:
        kind, text = to_dict(block).get("type"), extract_text(block)
        if kind in ("tool_use", "tool_result", "thinking"):
            yield from _read_native(kind, block, text)
        elif not text:
            continue
        elif role == "assistant":
            yield from _read_reply(text)
        elif found := _RESULT.match(text):
            pending = {"kind": "result", "role": "tool", "name": found[1]}
            if rest := text[found.end() :]:
                yield _build_request(rest, is_prompt) if _SPOKEN.match(rest) else _build_result(pending, rest)
                pending = None
        elif pending is not None and not _SPOKEN.match(text) and not text.startswith("<environment_details>"):
            yield _build_result(pending, text)
            pending = None
        else:
            yield _build_request(text, is_prompt)


def _read_native(kind: str, block: dict[str, Any], text: str) -> Iterator[dict[str, Any]]:
    """Yield a block in the form of the model's own tools."""
    if kind == "tool_use":
        name, arguments = text_or_none(block.get("name")), to_dict(block.get("input"))
        if name in _ANSWERS:
            yield {"kind": "message", "role": "assistant", "text": to_text(arguments.get(_ANSWERS[name]))}
        else:
            yield {
                "kind": "call", "role": "assistant", "name": name, "call_id": text_or_none(block.get("id")),
                "arguments": block.get("input"),
            }  # fmt: skip
    elif kind == "tool_result":
        spoken = _SPOKEN.search(text)
        if spoken and spoken[1] in ("feedback", "answer", "user_message"):
            yield {"kind": "message", "role": "user", "text": spoken[2].strip()}
        verdict = {"verdict": "error"} if block.get("is_error") else _judge_result(text)
        call_id = text_or_none(block.get("tool_use_id"))
        yield {"kind": "result", "role": "tool", "call_id": call_id, "text": text, **verdict}
    elif thought := to_text(block.get("thinking")):
        yield {"kind": "thinking", "role": "assistant", "text": thought}


def _build_result(pending: dict[str, Any], text: str) -> dict[str, Any]:
    return {**pending, **_judge_result(text), "text": text}


def _judge_result(text: str) -> dict[str, Any]:
    if _DENIED.match(text):
        return {"verdict": "denied"}
    return {"verdict": "error"} if _FAILED.match(text) else {}


def _build_request(text: str, is_prompt: bool) -> dict[str, Any]:
    """Return the facts of a text sent for the user, or added by the extension."""
    spoken, cwd = _SPOKEN.match(text), _CWD.search(text)
    about = {"cwd": cwd[1]} if cwd else {}
    injected = not spoken and text.startswith(("<environment_details>", "[", "#"))
    name = "prompt" if is_prompt else "injected" if injected else None
    said = spoken[2].strip() if spoken else text
    return {"kind": "message", "role": "system" if name else "user", "name": name, "text": said, **about}


def _read_reply(text: str) -> Iterator[dict[str, Any]]:
    """Yield what the agent said and the tools it called as XML in the text."""
    place = 0
    for found in _TOOL.finditer(text):
        yield from _build_said(text[place : found.start()])
        place = found.end()
        name, body = found[1], found[2]
        arguments = {argument[1]: argument[2].strip("\n") for argument in _ARGUMENT.finditer(body)}
        if name == "thinking":
            yield {"kind": "thinking", "role": "assistant", "text": body.strip()}
        elif name in _ANSWERS:
            yield from _build_said(arguments.get(_ANSWERS[name]) or body)
        else:
            yield {"kind": "call", "role": "assistant", "name": name, "arguments": arguments}
    yield from _build_said(text[place:])


def _build_said(text: str) -> Iterator[dict[str, Any]]:
    if text.strip():
        yield {"kind": "message", "role": "assistant", "text": text.strip()}
