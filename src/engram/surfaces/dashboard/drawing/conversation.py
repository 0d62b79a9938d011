"""Build the readable items of a transcript: messages, and tool calls with their results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from engram.clock import SECOND, to_datetime
from engram.evidence.actions import CallAction, classify_call, extract_command
from engram.platform.text import to_one_line
from engram.platform.value import value
from engram.surfaces.dashboard.drawing.diff import parse_diff
from engram.surfaces.dashboard.drawing.tool_edits import ToolEdit, find_edit, is_diff
from engram.types import Capture, Event

SAID, THOUGHT, GIVEN, DID, NOTED = "said", "thought", "given", "did", "noted"
_TALK_KINDS = ("message",)
_DULL_KINDS = ("lifecycle", "opaque")
_SLOW_CALL = 10 * SECOND  # longer calls show their duration
MAX_MESSAGE_CHARS = 6_000  # of a message that are shown at first


@value
class TranscriptItem:
    """One item of a transcript."""

    shape: str  # said, thought, given (instructions by the program), did (tool call), noted (program event)
    event: Event
    at: datetime | None
    act: CallAction | None = None
    title: str = ""
    result: Event | None = None
    change: ToolEdit | None = None
    took: int = 0  # seconds, for long calls
    cut: int = 0  # characters not shown at first
    children: tuple[Capture, ...] = ()  # subagent sessions started at this point
    notes: tuple[TranscriptItem, ...] = ()  # the following program events, collapsed into this item

    @property
    def is_dull(self) -> bool:
        """Return whether this is a program event that readers skip; items with child sessions are not."""
        return self.event.kind in _DULL_KINDS and not self.children

    @property
    def has_failed(self) -> bool:
        """Return whether the call or its result is an error or a denial."""
        return any(event is not None and event.verdict in ("error", "denied") for event in (self.event, self.result))

    @property
    def verdict(self) -> str:
        """Return the verdict of the call, or an empty string if it is ok."""
        verdict = (self.result.verdict if self.result else None) or self.event.verdict or ""
        return "" if verdict == "ok" else verdict

    @property
    def exit_code(self) -> int | None:
        """Return the exit code of a command, if known."""
        return self.result.exit_code if self.result is not None else self.event.exit_code


def build_items(events: Sequence[Event], own_ids: set[int], children: Sequence[Capture] = ()) -> list[TranscriptItem]:
    """Return items for the events with these ids; the other events only supply results for calls."""
    results = {event.call_id: event for event in events if event.kind == "result" and event.call_id}
    calls = {event.call_id for event in events if event.kind == "call" and event.call_id}
    answers = {id(event) for event in results.values() if event.call_id in calls}
    items = [_build_item(event, results) for event in events if event.id in own_ids and id(event) not in answers]
    return list(_add_children(list(_fold_dull_items(items)), children))


def build_detail(call: Event, result: Event | None) -> dict[str, Any]:
    """Return the full content of a call and its result, for the expanded view."""
    tool_act = classify_call(call.name, call.arguments) if call.kind == "call" else None
    changed = find_edit(call.arguments) if tool_act is not None and tool_act.kind in ("edit", "run") else None
    text = result.text if result is not None else ("" if call.kind == "call" else call.text)
    runs = tool_act is not None and tool_act.kind == "run"
    arguments = call.arguments if isinstance(call.arguments, dict) else {"input": call.arguments}
    return {
        "command": extract_command(arguments) if runs and not changed else "", "diff": changed.diff if changed else (),
        "arguments": _format_arguments(call.arguments) if tool_act is not None and not changed and not runs else "",
        "output": "" if is_diff(text) else text, "output_diff": parse_diff(text) if is_diff(text) else (),
    }  # fmt: skip


def _build_item(event: Event, results: dict[str, Event]) -> TranscriptItem:
    at = to_datetime(event.at) if event.at else None
    if event.kind in _TALK_KINDS and event.role == "system":
        return TranscriptItem(shape=GIVEN, event=event, at=at, title=to_one_line(event.text, 140))
    if event.kind in _TALK_KINDS:
        return TranscriptItem(
            shape=SAID,
            event=event,
            at=at,
            cut=max(0, len(event.text) - MAX_MESSAGE_CHARS),
            title=_format_message(event)[:MAX_MESSAGE_CHARS],
        )
    if event.kind == "thinking":
        return TranscriptItem(shape=THOUGHT, event=event, at=at, title=to_one_line(event.text, 140))
    if event.kind == "call":
        return _build_call(event, results.get(event.call_id) if event.call_id else None, at)
    if event.kind == "result":
        return TranscriptItem(shape=DID, event=event, at=at, title=to_one_line(event.text, 140))
    return TranscriptItem(
        shape=NOTED, event=event, at=at, title=to_one_line(event.text or event.name or event.kind, 300)
    )


def _format_message(event: Event) -> str:
    """Return the text of a message; a slash command as the user typed it."""
    name = _read_tag("command-name", event.text).replace("`", "") if event.name == "command" else ""
    return f"`{name}` {_read_tag('command-args', event.text)}".strip() if name else event.text


def _read_tag(tag: str, text: str) -> str:
    """Return the content of the first such tag, in linear time even with many unclosed tags."""
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()


def _build_call(event: Event, result: Event | None, at: datetime | None) -> TranscriptItem:
    tool_act = classify_call(event.name, event.arguments)
    duration = (result.at or 0) - (event.at or 0) if result is not None and result.at and event.at else 0
    edit = find_edit(event.arguments) if tool_act.kind in ("edit", "run") else None
    title = tool_act.subject if tool_act.kind in ("edit", "read", "run") else _summarize_arguments(event.arguments)
    return TranscriptItem(
        shape=DID, event=event, at=at, act=tool_act, result=result, change=edit, title=to_one_line(title, 200),
        took=duration // SECOND if duration >= _SLOW_CALL else 0,
    )  # fmt: skip


def _summarize_arguments(arguments: Any) -> str:
    """Return the arguments of a call on one line."""
    if isinstance(arguments, dict):
        return " · ".join(str(argument) for argument in arguments.values() if isinstance(argument, (str, int, float)))
    return str(arguments or "")


def _format_arguments(arguments: Any) -> str:
    if arguments in (None, {}, ""):
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, indent=2)


def _fold_dull_items(items: Sequence[TranscriptItem]) -> Iterator[TranscriptItem]:
    """Yield the items, with runs of program events collapsed into one."""
    for is_dull, group in groupby(items, key=lambda item: item.event.kind in _DULL_KINDS):
        if is_dull:
            first, *more = group
            yield TranscriptItem(**{**vars(first), "notes": tuple(more)})
        else:
            yield from group


def _add_children(items: Sequence[TranscriptItem], children: Sequence[Capture]) -> Iterator[TranscriptItem]:
    """Yield the items, each with the child sessions that began before the next item."""
    remaining = sorted((child for child in children if child.began), key=lambda child: (child.began, child.session.id))
    for position, item in enumerate(items):
        following = next((later.at for later in items[position + 1 :] if later.at), None)
        own_children = [child for child in remaining if following is None or (child.began and child.began < following)]
        remaining = remaining[len(own_children) :]
        yield TranscriptItem(**{**vars(item), "children": tuple(own_children)}) if own_children else item
