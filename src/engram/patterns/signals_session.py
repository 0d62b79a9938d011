"""Signals of whole sessions: abandoned, wasted, or solved quickly. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from engram.evidence import command_shape, intent, purposes
from engram.patterns import step_problem
from engram.patterns.fingerprint import extract_content, sanitize_line
from engram.patterns.signal import Signal, build_signal
from engram.patterns.steps import SessionStep, SessionTrace
from engram.platform.text import to_one_line

_MIN_ACTS = 3  # calls after which stopping is more than a change of mind
_MIN_WASTED_TOKENS = 50_000  # tokens, without cached ones
_MAX_SHORT_ACTS = 12  # calls of a short path
_MIN_CONFIDENCE = 0.5
_MIN_TASK_WORDS = 3  # words a task needs to be told apart


def find_abandoned(trace: SessionTrace) -> Iterator[Signal]:
    """Yield a session that was abandoned in the middle of the work."""
    name, acts = _fingerprint_task(trace), _list_acts(trace)
    if trace.outcome != "abandoned" or trace.relation == "subagent" or len(acts) < _MIN_ACTS or not name:
        return
    why = str((trace.facts.get("evidence") or ["no result"])[0])
    evidence_steps = [*_list_requests(trace)[:1], acts[-1]]
    yield build_signal(
        trace,
        "abandoned",
        name,
        f"Abandoned ({why}): {_format_goal(trace)}",
        evidence_steps,
        quote=_format_goal(trace),
        times=1,
        through=True,
    )


def find_wasted_tokens(trace: SessionTrace) -> Iterator[Signal]:
    """Yield a session that used many tokens without a change or an answer."""
    name, facts = _fingerprint_task(trace), trace.facts
    if (
        trace.total_tokens < _MIN_WASTED_TOKENS
        or facts.get("changed")
        or facts.get("commits")
        or not name
        or not trace.steps
    ):
        return
    if not (trace.outcome in ("failure", "abandoned") or intent.is_giving_up(str(facts.get("ended", "")))):
        return
    evidence_steps = [*_list_requests(trace)[:1], trace.steps[-1]]
    text = f"About {trace.total_tokens // 1000},000 tokens spent without a result: {_format_goal(trace)}"
    yield build_signal(
        trace, "wasted-tokens", name, text, evidence_steps, quote=_format_goal(trace), times=1, through=True
    )


def find_short_path(trace: SessionTrace) -> Iterator[Signal]:
    """Yield a task that was solved in a few steps, with the steps."""
    name, acts = _fingerprint_task(trace), _list_acts(trace)
    if (
        trace.outcome != "success"
        or trace.confidence < _MIN_CONFIDENCE
        or not 2 <= len(acts) <= _MAX_SHORT_ACTS
        or not name
    ):
        return
    checked = [
        step for step in acts if step_problem.has_passed(step) or purposes.find_purpose(step.command) == "commit"
    ]
    changed = any(step.done is not None and step.done.changes for step in acts)
    if not checked or not changed or any(step.has_failed for step in acts) or _has_objections(trace):
        return
    path = list(dict.fromkeys(filter(None, map(_describe_act, acts))))
    evidence_steps = [*_list_requests(trace)[:1], *acts]
    text = f"Solved in {len(acts)} steps: {_format_goal(trace)}"
    yield build_signal(
        trace,
        "short-path",
        name,
        text,
        evidence_steps,
        fix=" → ".join(path),
        quote=_format_goal(trace),
        times=1,
        through=True,
    )


def _has_objections(trace: SessionTrace) -> bool:
    return bool(trace.facts.get("corrections") or trace.facts.get("interrupts") or trace.facts.get("reverted"))


def _describe_act(step: SessionStep) -> str:
    if step.command:
        return command_shape.shape_command(step.command)
    kinds = {"edit": "edit", "read": "read"}
    return kinds.get(step.done.kind, "") if step.done is not None else ""


def _list_acts(trace: SessionTrace) -> list[SessionStep]:
    return [step for step in trace.steps if step.kind == "did"]


def _list_requests(trace: SessionTrace) -> list[SessionStep]:
    return [step for step in trace.steps if step.kind == "asked"]


def _format_goal(trace: SessionTrace) -> str:
    return to_one_line(sanitize_line(str(trace.facts.get("goal", "")), 240), 110)


def _fingerprint_task(trace: SessionTrace) -> str:
    """Return the fingerprint of the session's task, if it is described in words."""
    goal = str(trace.facts.get("goal", ""))
    name = "" if goal.startswith("<") else extract_content(goal, 20)
    return name if len(name.split()) >= _MIN_TASK_WORDS else ""
