"""One thing that happened in a session and may be part of a pattern."""

from __future__ import annotations

from collections.abc import Sequence

from engram.patterns.fingerprint import LONGEST, safe
from engram.patterns.steps import Step, Story
from engram.value import value

PROBLEMS = (
    "failing-command", "error", "test-loop", "reread", "reedit", "correction", "interrupt", "reverted", "denied",
    "tool-misuse", "context-blowup", "abandoned", "wasted-tokens",
)  # fmt: skip
SUCCESSES = ("short-path", "passing-sequence")
KINDS = (*PROBLEMS, *SUCCESSES)

_EVIDENCE = 12  # events of one signal


@value
class Signal:
    """What happened, how often, where it is written and what it cost."""

    kind: str
    fingerprint: str
    text: str
    evidence: tuple[int, ...]  # ids of events
    at: int
    times: int = 1
    quote: str = ""
    fix: str = ""
    tokens: int = 0
    seconds: int = 0


def signal(
    story: Story, kind: str, fingerprint: str, text: str, told: Sequence[Step], *, fix: str = "", quote: str = "",
    times: int = 0, through: bool = False,
) -> Signal:  # fmt: skip
    """Return a signal that some steps of a session tell of; it cost what they took, or all that lies between them."""
    tokens, seconds = story.cost(told, through) if told else (0, 0)
    return Signal(
        kind=kind, fingerprint=fingerprint[:LONGEST].strip(), text=safe(text, 240), quote=safe(quote, 200),
        fix=safe(fix, 240), evidence=tuple(dict.fromkeys(each.result or each.id for each in told))[:_EVIDENCE],
        at=told[-1].at or story.last_at if told else story.last_at, times=times or len(told), tokens=tokens,
        seconds=seconds,
    )  # fmt: skip
