"""A signal: one thing that happened in a session and may be part of a pattern."""

from __future__ import annotations

from collections.abc import Sequence

from engram.evidence.error_signature import MAX_CHARS
from engram.patterns.fingerprint import sanitize_line
from engram.patterns.steps import SessionStep, SessionTrace
from engram.platform.value import value

PROBLEMS = (
    "failing-command", "error", "test-loop", "reread", "reedit", "correction", "interrupt", "reverted", "denied",
    "tool-misuse", "context-blowup", "abandoned", "wasted-tokens", "known-fix", "standing-rule",
)  # fmt: skip
SUCCESSES = ("short-path", "passing-sequence")
KINDS = (*PROBLEMS, *SUCCESSES)

_MAX_EVIDENCE = 12  # maximum events of a signal


@value
class Signal:
    """What happened, how often, where it is recorded and what it cost."""

    kind: str
    fingerprint: str
    text: str
    evidence: tuple[int, ...]  # event ids
    at: int
    times: int = 1
    quote: str = ""
    fix: str = ""
    tokens: int = 0
    seconds: int = 0


def build_signal(
    trace: SessionTrace,
    kind: str,
    fingerprint: str,
    text: str,
    signal_steps: Sequence[SessionStep],
    *,
    fix: str = "",
    quote: str = "",
    times: int = 0,
    through: bool = False,
) -> Signal:
    """Build a signal from steps of a session; its cost is that of the steps, or of everything between them with
    `through`.
    """
    tokens, seconds = trace.measure_cost(signal_steps, through) if signal_steps else (0, 0)
    return Signal(
        kind=kind,
        fingerprint=fingerprint[:MAX_CHARS].strip(),
        text=sanitize_line(text, 240),
        quote=sanitize_line(quote, 200),
        fix=sanitize_line(fix, 240),
        evidence=tuple(dict.fromkeys(step.result or step.id for step in signal_steps))[:_MAX_EVIDENCE],
        at=signal_steps[-1].at or trace.last_at if signal_steps else trace.last_at,
        times=times or len(signal_steps),
        tokens=tokens,
        seconds=seconds,
    )
