"""A session as steps: requests, answers and calls with their results, in order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from engram.capture.digests.event_bodies import EventBodies
from engram.errors import BodyGone
from engram.evidence.actions import CallAction, classify_call
from engram.hub import Hub
from engram.platform import plain_json
from engram.platform.value import value
from engram.store import captures, episodes, events, session_errors, signals
from engram.types import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row

_TEXT_CHARS = 12_000  # characters read of an output: its beginning and its end
_MAX_DECISIONS = 200
_PAUSE = 5 * 60 * 1_000_000  # a longer pause is not counted as work


@value
class SessionStep:
    """One step of a session."""

    kind: str  # asked, said, did, interrupt, compaction
    id: int  # event id
    at: int
    text: str = ""  # the message, or the result of the call
    done: CallAction | None = None
    tool: str = ""
    given: Any = None  # arguments of the call
    verdict: str = ""  # ok, error, denied, interrupted; empty without a result
    exit_code: int | None = None
    size: int = 0  # size of the whole result in characters
    result: int = 0  # id of the result event
    until: int = 0  # end time

    @property
    def has_failed(self) -> bool:
        """Whether the call failed."""
        return self.verdict == "error" or (self.verdict != "denied" and bool(self.exit_code))

    @property
    def has_worked(self) -> bool:
        """Whether the call returned without a failure."""
        return self.verdict == "ok" and not self.exit_code

    @property
    def command(self) -> str:
        """The command line that was run, if any."""
        return self.done.subject if self.done is not None and self.done.kind == "run" else ""


@value
class SessionTrace:
    """A session with its steps, its digest and the tokens of its answers."""

    session: str
    flavor: str
    project: str
    cwd: str | None
    steps: tuple[SessionStep, ...]
    facts: dict[str, Any]
    outcome: str
    confidence: float
    relation: str
    is_complete: bool  # every body is present; imported sessions never had any
    last_at: int
    gone_steps: tuple[SessionStep, ...] = ()  # steps whose body was deleted
    times: tuple[int, ...] = ()  # times of all events, in order
    answers: tuple[tuple[int, int], ...] = ()  # times and tokens of answers, in order
    total_tokens: int = 0  # tokens of all answers
    errors: tuple[dict[str, Any], ...] = ()  # its own errors, with what ended them
    decisions: tuple[dict[str, Any], ...] = ()  # what was decided in it

    def measure_cost(self, told_steps: Sequence[SessionStep], is_through: bool) -> tuple[int, int]:
        """Return the tokens and seconds of steps, each until the next event, or of everything from the first to the
        last.
        """
        spans = (
            [(told_steps[0].at, told_steps[-1].until or told_steps[-1].at)]
            if is_through
            else [self._step_span(step) for step in told_steps]
        )
        tokens = sum(self._count_tokens(first, last) for first, last in _merge_spans(spans))
        return tokens, round(sum(self._measure_work(first, last) for first, last in set(spans)) / 1_000_000)

    def _step_span(self, step: SessionStep) -> tuple[int, int]:
        end = max(step.at, step.until)
        next_index = bisect_right(self.times, end)
        return step.at, self.times[next_index] if next_index < len(self.times) else end

    def _count_tokens(self, first: int, last: int) -> int:
        start, end = bisect_left(self.answers, (first,)), bisect_left(self.answers, (last + 1,))
        return sum(count for _, count in self.answers[start:end])

    def _measure_work(self, first: int, last: int) -> int:
        """Return the working time between two times, without long pauses."""
        between = self.times[bisect_right(self.times, first) : bisect_left(self.times, last)]
        return sum(min(max(0, b - a), _PAUSE) for a, b in pairwise((first, *between, last)))


def _merge_spans(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge overlapping time spans; return them in order."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def load_trace(hub: Hub, session_id: str) -> SessionTrace | None:
    """Load a session as steps, as far as its bodies are present; None without a digest."""
    import json

    row = signals.fetch_session(hub.engine, session_id)
    if row is None:
        return None
    repeated = _find_repeated_keys(hub, row)
    present_events, gone = _load_events(hub, row, repeated)
    session_steps = tuple(build_steps(present_events))
    answers = [
        (int(answer["at"] or 0), int(answer["tokens"])) for answer in signals.list_answers(hub.engine, row["num"])
    ]
    return SessionTrace(
        session=row["id"],
        flavor=row["flavor"],
        project=row["project"],
        cwd=row["cwd"],
        steps=session_steps,
        facts=json.loads(row["facts"]),
        outcome=row["outcome"],
        confidence=row["confidence"],
        relation=row["relation"] or "",
        is_complete=bool(present_events) and not gone,
        last_at=row["last_at"] or row["started_at"] or 0,
        gone_steps=tuple(gone),
        times=tuple(sorted({step.at for step in session_steps})),
        answers=tuple(sorted(answers)),
        total_tokens=sum(count for _, count in answers),
        errors=_drop_repeated(session_errors.list_by_capture(hub.engine, row["num"]), repeated),
        decisions=_drop_repeated(
            episodes.list_items(hub.engine, "decision", _MAX_DECISIONS, session_id=row["id"]), repeated
        ),
    )


def _drop_repeated(rows: Sequence[Row], repeated: set[int]) -> tuple[Row, ...]:
    """Return the rows that do not come from events copied from another session."""
    if not repeated:
        return tuple(rows)
    return tuple(row for row in rows if repeated.isdisjoint(plain_json.loads(row["facts"]).get("keys") or ()))


def _load_events(
    hub: Hub, row: Row, repeated: set[int]
) -> tuple[list[tuple[int, Event]], list[SessionStep]]:  # fmt: skip
    """Return the session's own events and what is left of those without a body."""
    bodies, present_events, gone = EventBodies(hub), [], []
    for event_row in events.list_by_capture(hub.engine, row["num"]):
        if event_row["key"] in repeated or event_row["kind"] in ("thinking", "opaque", "damage"):
            continue
        try:
            present_events.append((event_row["id"], bodies.load_event(event_row)))
        except BodyGone:
            gone.append(
                SessionStep(
                    kind=event_row["kind"],
                    id=event_row["id"],
                    at=event_row["at"] or 0,
                    verdict=event_row["verdict"] or "",
                )
            )
    return present_events, gone


def _find_repeated_keys(hub: Hub, row: Row) -> set[int]:
    """Return the keys of the events that a fork copied: from its parent, or from an earlier fork of it."""
    if row["relation"] != "fork" or not row["parent"]:
        return set()
    parent = captures.find_by_native_id(hub.engine, row["flavor"], row["parent"])
    copied = [parent["num"]] if parent else []
    copied += captures.list_earlier_forks(hub.engine, row["parent"], row["num"], row["started_at"] or 0)
    return {key for capture in copied for key in signals.list_event_keys(hub.engine, capture)}


def build_steps(numbered_events: list[tuple[int, Event]]) -> Iterator[SessionStep]:
    """Yield the steps of events in order, each call together with its result."""
    results = {
        event.call_id: (number, event) for number, event in numbered_events if event.kind == "result" and event.call_id
    }
    at = 0
    for number, event in numbered_events:
        at = event.at or at
        if event.kind == "call":
            yield _build_call_step(number, event, at, results.get(event.call_id) if event.call_id else None)
        elif event.kind == "interrupt":
            yield SessionStep(kind="interrupt", id=number, at=at, text=event.text)
        elif event.kind == "compaction" and event.name != "summary":
            yield SessionStep(
                kind="compaction", id=number, at=at, text=str((event.data or {}).get("trigger") or "auto")
            )
        elif event.kind == "message" and event.text.strip() and event.name not in ("command", "injected"):
            step_kind = "said" if event.role == "assistant" else "asked" if event.role == "user" or event.name else ""
            if step_kind:
                yield SessionStep(kind=step_kind, id=number, at=at, text=event.text.strip()[:_TEXT_CHARS])


def _build_call_step(number: int, call: Event, at: int, result_event: tuple[int, Event] | None) -> SessionStep:
    arguments = call.arguments
    common: dict[str, Any] = {
        "kind": "did",
        "id": number,
        "at": at,
        "done": classify_call(call.name, arguments),
        "tool": call.name or "",
        "given": arguments,
    }
    if result_event is None:
        return SessionStep(**common)
    result, event = result_event
    text = (
        event.text
        if len(event.text) <= _TEXT_CHARS
        else f"{event.text[: _TEXT_CHARS // 2]}\n{event.text[-_TEXT_CHARS // 2 :]}"
    )
    return SessionStep(
        **common,
        text=text,
        verdict=event.verdict or "ok",
        exit_code=event.exit_code,
        size=len(event.text),
        result=result,
        until=max(event.at or at, at),
    )
