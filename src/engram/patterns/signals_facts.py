"""Signals from a digest alone, for sessions whose bodies were deleted. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engram.evidence import command_shape
from engram.patterns import fingerprint, step_problem
from engram.patterns.fingerprint import extract_content
from engram.patterns.signal import Signal, build_signal
from engram.patterns.steps import SessionStep, SessionTrace

_ERROR = re.compile(r"^(?P<line>.*?)(?: ×(?P<times>\d+))? \[(?P<about>[^\]]*)\](?: → (?P<fix>.*))?$")
_COUNTED_FACTS = {
    "interrupts": ("interrupt", "interrupt", "works", "You interrupted the agent while it was working"),
    "compactions": ("context-blowup", "compaction", "compaction", "The context overflowed and was compacted"),
}  # fmt: skip


def find_fact_signals(trace: SessionTrace) -> Iterator[Signal]:
    """Yield the signals in the digest of a session."""
    yield from _find_errors(trace)
    for words in trace.facts.get("corrections") or ():
        name = extract_content(words)
        if len(name.split()) >= 2:
            yield build_signal(
                trace, "correction", name, f"You corrected the agent: {words}", [], fix=words, quote=words, times=1
            )
    for fact, (kind, event, name, text) in _COUNTED_FACTS.items():
        if trace.facts.get(fact):
            gone_events = [step for step in trace.gone_steps if step.kind == event]
            yield build_signal(trace, kind, name, text, gone_events, times=int(trace.facts[fact]))
    yield from _find_test_loops(trace)


def _find_errors(trace: SessionTrace) -> Iterator[Signal]:
    error_events = [step for step in trace.gone_steps if step.verdict == "error"]
    for error_line in trace.facts.get("errors") or ():
        parts = _ERROR.match(str(error_line))
        if parts is None or command_shape.is_noise(parts["about"], 1, parts["line"]):
            continue
        step = _build_failed_step(parts)
        name, times = step_problem.fingerprint_step_error(step), int(parts["times"] or 1)
        fix = parts["fix"] or ""
        if name:
            text = f"{parts['line']} (from '{parts['about']}')"
            yield build_signal(trace, "error", name, text, error_events[:3], fix=fix, quote=parts["line"], times=times)
        if name and times > 1 and command_shape.shape_command(parts["about"]):
            yield build_signal(
                trace, "failing-command", f"{command_shape.shape_command(parts['about'])}: {name}",
                f"'{parts['about']}' fails: {parts['line']}",
                error_events[:3], fix=fix, quote=parts["line"], times=times,
            )  # fmt: skip


def _build_failed_step(parts: re.Match[str]) -> SessionStep:
    """Return the failed command of an error in a digest."""
    from engram.evidence.actions import CallAction

    act = CallAction(kind="run", subject=parts["about"])
    return SessionStep(kind="did", id=0, at=0, text=parts["line"], done=act, verdict="error", exit_code=2)


def _find_test_loops(trace: SessionTrace) -> Iterator[Signal]:
    tests: dict[str, Any] = trace.facts.get("tests") or {}
    commands = [fingerprint.sanitize_line(str(item).rpartition(" → ")[0]) for item in trace.facts.get("notable") or ()]
    name = next((command_shape.shape_command(item) for item in commands if command_shape.shape_command(item)), "tests")
    if int(tests.get("failed") or 0) >= 3:
        yield build_signal(
            trace, "test-loop", name, f"'{name}' keeps failing after edits", [], times=int(tests["failed"])
        )
