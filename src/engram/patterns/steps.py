"""A session as steps: what was asked, said and done, each call with its result, in order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from engram.digests.acts import Act, act
from engram.digests.bodies import Bodies
from engram.errors import BodyGone
from engram.hub import Hub
from engram.model import Event
from engram.store import captures, events, signals
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row

_TEXT = 12_000  # characters of an output that are looked at: its beginning and its end
_PAUSE = 5 * 60 * 1_000_000  # a longer silence is no work


@value
class Step:
    """One thing that happened."""

    kind: str  # asked, said, did, interrupt, compaction
    id: int  # of the event that tells it
    at: int
    text: str = ""  # what was said, or what came of it
    done: Act | None = None
    tool: str = ""
    given: Any = None  # what the tool was called with
    verdict: str = ""  # ok, error, denied, interrupted; empty: nothing came back
    exit_code: int | None = None
    size: int = 0  # of all that came back, in characters
    result: int = 0  # the event that tells what came of it
    until: int = 0  # when it was over

    @property
    def failed(self) -> bool:
        """Tell whether it was tried and did not work."""
        return self.verdict == "error" or (self.verdict != "denied" and bool(self.exit_code))

    @property
    def worked(self) -> bool:
        """Tell whether it came back without a failure."""
        return self.verdict == "ok" and not self.exit_code

    @property
    def command(self) -> str:
        """Return the command line that was run, if one was."""
        return self.done.subject if self.done is not None and self.done.kind == "run" else ""


@value
class Story:
    """A session with its steps, its digest and what its answers took."""

    session: str
    flavor: str
    project: str
    cwd: str | None
    steps: tuple[Step, ...]
    facts: dict[str, Any]
    outcome: str
    confidence: float
    relation: str
    whole: bool  # every body is still here; of an imported session none ever was
    last_at: int
    gone: tuple[Step, ...] = ()  # what is only known to have happened: its body was dropped
    times: tuple[int, ...] = ()  # when something happened, in order
    answers: tuple[tuple[int, int], ...] = ()  # when an answer came, and its tokens, in order
    spent: int = 0  # tokens of all answers

    def cost(self, told: Sequence[Step], through: bool) -> tuple[int, int]:
        """Return the tokens and seconds of steps, each until the next thing happens, or of all from first to last."""
        spans = [(told[0].at, told[-1].until or told[-1].at)] if through else [self._span(step) for step in told]
        tokens = sum(self._tokens(first, last) for first, last in _joined(spans))
        return tokens, round(sum(self._worked(first, last) for first, last in set(spans)) / 1_000_000)

    def _span(self, step: Step) -> tuple[int, int]:
        over = max(step.at, step.until)
        later = bisect_right(self.times, over)
        return step.at, self.times[later] if later < len(self.times) else over

    def _tokens(self, first: int, last: int) -> int:
        start, end = bisect_left(self.answers, (first,)), bisect_left(self.answers, (last + 1,))
        return sum(count for _, count in self.answers[start:end])

    def _worked(self, first: int, last: int) -> int:
        """Return how long was worked between two times, long silences left out."""
        between = self.times[bisect_right(self.times, first) : bisect_left(self.times, last)]
        return sum(min(max(0, b - a), _PAUSE) for a, b in pairwise((first, *between, last)))


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans of time in order, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


def story(hub: Hub, session_id: str) -> Story | None:
    """Return a session as steps, as far as its bodies are here; None without a digest."""
    import json

    row = signals.session(hub.engine, session_id)
    if row is None:
        return None
    here, gone = _events(hub, row)
    found = tuple(steps(here))
    answers = [(int(each["at"] or 0), int(each["tokens"])) for each in signals.answers(hub.engine, row["num"])]
    return Story(
        session=row["id"], flavor=row["flavor"], project=row["project"], cwd=row["cwd"], steps=found,
        facts=json.loads(row["facts"]), outcome=row["outcome"], confidence=row["confidence"],
        relation=row["relation"] or "", whole=bool(here) and not gone, last_at=row["last_at"] or row["started_at"] or 0,
        gone=tuple(gone), times=tuple(sorted({step.at for step in found})),
        answers=tuple(sorted(answers)), spent=sum(count for _, count in answers),
    )  # fmt: skip


def _events(hub: Hub, row: Row) -> tuple[list[tuple[int, Event]], list[Step]]:
    """Return the session's own events, and what is left of those without a body; a fork repeats what its parent did."""
    bodies, found, gone = Bodies(hub), [], []
    repeated = _repeated(hub, row)
    for each in events.of_capture(hub.engine, row["num"]):
        if each["key"] in repeated or each["kind"] in ("thinking", "opaque", "damage"):
            continue
        try:
            found.append((each["id"], bodies.event(each)))
        except BodyGone:
            gone.append(Step(kind=each["kind"], id=each["id"], at=each["at"] or 0, verdict=each["verdict"] or ""))
    return found, gone


def _repeated(hub: Hub, row: Row) -> set[int]:
    if row["relation"] != "fork" or not row["parent"]:
        return set()
    parent = captures.by_native_id(hub.engine, row["flavor"], row["parent"])
    return signals.event_keys(hub.engine, parent["num"]) if parent else set()


def steps(told: list[tuple[int, Event]]) -> Iterator[Step]:
    """Yield the steps of events in order, a call where it was made, together with its result."""
    results = {event.call_id: (number, event) for number, event in told if event.kind == "result" and event.call_id}
    at = 0
    for number, event in told:
        at = event.at or at
        if event.kind == "call":
            yield _did(number, event, at, results.get(event.call_id) if event.call_id else None)
        elif event.kind == "interrupt":
            yield Step(kind="interrupt", id=number, at=at, text=event.text)
        elif event.kind == "compaction" and event.name != "summary":
            yield Step(kind="compaction", id=number, at=at, text=str((event.data or {}).get("trigger") or "auto"))
        elif event.kind == "message" and event.text.strip() and event.name not in ("command", "injected"):
            said = "said" if event.role == "assistant" else "asked" if event.role == "user" or event.name else ""
            if said:
                yield Step(kind=said, id=number, at=at, text=event.text.strip()[:_TEXT])


def _did(number: int, call: Event, at: int, came: tuple[int, Event] | None) -> Step:
    given = call.arguments
    common: dict[str, Any] = {
        "kind": "did", "id": number, "at": at, "done": act(call.name, given), "tool": call.name or "", "given": given,
    }  # fmt: skip
    if came is None:
        return Step(**common)
    result, event = came
    text = event.text if len(event.text) <= _TEXT else f"{event.text[: _TEXT // 2]}\n{event.text[-_TEXT // 2 :]}"
    return Step(
        **common, text=text, verdict=event.verdict or "ok", exit_code=event.exit_code, size=len(event.text),
        result=result, until=max(event.at or at, at),
    )  # fmt: skip
