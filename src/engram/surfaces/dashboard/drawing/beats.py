"""A stretch of a transcript as a person reads it, beat by beat: what was said, what was done and what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from engram.clock import SECOND, moment
from engram.digests.acts import Act, act, command_of
from engram.model import Capture, Event
from engram.surfaces.dashboard.drawing.change import Change, change, is_diff
from engram.surfaces.dashboard.drawing.diff import lines
from engram.text import one_line
from engram.value import value

SAID, THOUGHT, GIVEN, DID, NOTED = "said", "thought", "given", "did", "noted"
_TALK = ("message",)
_DULL = ("lifecycle", "opaque")
_SLOW = 10 * SECOND  # a call that took longer says so
LONG = 6_000  # characters of a message that are shown at once


@value
class Beat:
    """One thing in a transcript."""

    shape: str  # said, thought, given (by the program, to the model), did, noted
    event: Event
    at: datetime | None
    act: Act | None = None
    title: str = ""
    result: Event | None = None
    change: Change | None = None
    took: int = 0  # seconds, where that is long
    cut: int = 0  # characters that are not shown at once
    children: tuple[Capture, ...] = ()  # sessions it started
    notes: tuple[Beat, ...] = ()  # further ones of the kind nobody reads, folded into it

    @property
    def is_dull(self) -> bool:
        """Tell whether only the agent program itself cares about it; one that began others is worth seeing."""
        return self.event.kind in _DULL and not self.children

    @property
    def has_failed(self) -> bool:
        """Tell whether it came out wrong."""
        return any(each is not None and each.verdict in ("error", "denied") for each in (self.event, self.result))

    @property
    def verdict(self) -> str:
        """Return how it came out, if that is worth a word."""
        found = (self.result.verdict if self.result else None) or self.event.verdict or ""
        return "" if found == "ok" else found

    @property
    def exit_code(self) -> int | None:
        """Return what a command returned, if it says."""
        return self.result.exit_code if self.result is not None else self.event.exit_code


def beats(found: Sequence[Event], own: set[int], children: Sequence[Capture] = ()) -> list[Beat]:
    """Return the events of a stretch as beats; those around it are only there to join calls and results."""
    results = {each.call_id: each for each in found if each.kind == "result" and each.call_id}
    calls = {each.call_id for each in found if each.kind == "call" and each.call_id}
    answers = {id(each) for each in results.values() if each.call_id in calls}
    shown = [_beat(each, results) for each in found if each.id in own and id(each) not in answers]
    return list(_with_children(list(_folded(shown)), children))


def detail(call: Event, result: Event | None) -> dict[str, Any]:
    """Return all that a call says and brought, for the reader who opens it."""
    done = act(call.name, call.arguments) if call.kind == "call" else None
    changed = change(call.arguments) if done is not None and done.kind in ("edit", "run") else None
    text = result.text if result is not None else ("" if call.kind == "call" else call.text)
    runs = done is not None and done.kind == "run"
    given = call.arguments if isinstance(call.arguments, dict) else {"input": call.arguments}
    return {
        "command": command_of(given) if runs and not changed else "", "diff": changed.diff if changed else (),
        "arguments": _pretty(call.arguments) if done is not None and not changed and not runs else "",
        "output": "" if is_diff(text) else text, "output_diff": lines(text) if is_diff(text) else (),
    }  # fmt: skip


def _beat(event: Event, results: dict[str, Event]) -> Beat:
    at = moment(event.at) if event.at else None
    if event.kind in _TALK and event.role == "system":
        return Beat(shape=GIVEN, event=event, at=at, title=one_line(event.text, 140))
    if event.kind in _TALK:
        return Beat(shape=SAID, event=event, at=at, cut=max(0, len(event.text) - LONG), title=_spoken(event)[:LONG])
    if event.kind == "thinking":
        return Beat(shape=THOUGHT, event=event, at=at, title=one_line(event.text, 140))
    if event.kind == "call":
        return _call(event, results.get(event.call_id) if event.call_id else None, at)
    if event.kind == "result":
        return Beat(shape=DID, event=event, at=at, title=one_line(event.text, 140))
    return Beat(shape=NOTED, event=event, at=at, title=one_line(event.text or event.name or event.kind, 300))


def _spoken(event: Event) -> str:
    """Return what was said; a command of the agent program as it was typed, not as it is written down."""
    name = _within("command-name", event.text).replace("`", "") if event.name == "command" else ""
    return f"`{name}` {_within('command-args', event.text)}".strip() if name else event.text


def _within(tag: str, text: str) -> str:
    """Return what stands in the first of such tags; one look, however many are opened and never closed."""
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()


def _call(event: Event, result: Event | None, at: datetime | None) -> Beat:
    done = act(event.name, event.arguments)
    took = (result.at or 0) - (event.at or 0) if result is not None and result.at and event.at else 0
    changed = change(event.arguments) if done.kind in ("edit", "run") else None
    title = done.subject if done.kind in ("edit", "read", "run") else _gist(event.arguments)
    return Beat(
        shape=DID, event=event, at=at, act=done, result=result, change=changed, title=one_line(title, 200),
        took=took // SECOND if took >= _SLOW else 0,
    )  # fmt: skip


def _gist(arguments: Any) -> str:
    """Return the first words of what a call was given."""
    if isinstance(arguments, dict):
        return " · ".join(str(each) for each in arguments.values() if isinstance(each, (str, int, float)))
    return str(arguments or "")


def _pretty(arguments: Any) -> str:
    if arguments in (None, {}, ""):
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, indent=2)


def _folded(shown: Sequence[Beat]) -> Iterator[Beat]:
    """Yield the beats, those together that only the agent program itself cares about."""
    for dull, run in groupby(shown, key=lambda each: each.event.kind in _DULL):
        if dull:
            first, *more = run
            yield Beat(**{**vars(first), "notes": tuple(more)})
        else:
            yield from run


def _with_children(shown: Sequence[Beat], children: Sequence[Capture]) -> Iterator[Beat]:
    """Yield the beats with the sessions that began between each and the next."""
    waiting = sorted((each for each in children if each.began), key=lambda each: (each.began, each.session.id))
    for place, beat in enumerate(shown):
        following = next((each.at for each in shown[place + 1 :] if each.at), None)
        mine = [each for each in waiting if following is None or (each.began and each.began < following)]
        waiting = waiting[len(mine) :]
        yield Beat(**{**vars(beat), "children": tuple(mine)}) if mine else beat
