"""Count how often the commands of a session ran and failed, and keep those that a person refused. No I/O."""

from __future__ import annotations

from typing import Any

from engram.evidence import command_shape, decisions, error_lines, same_work
from engram.evidence.actions import CallAction
from engram.evidence.decision_kinds import REJECTED
from engram.platform.text import to_one_line
from engram.types import Event

_SHAPES = 60  # shapes that are counted in a session
_REFUSED = 12
_COMMAND, _REASON = 300, 240  # characters


def count_command(state: dict[str, Any], command: str, event: Event, passed: bool | None) -> None:
    """Count the commands of a line that ran; of a line that failed, only the one that failed."""
    if passed is None or (not passed and command_shape.is_noise(command, event.exit_code, event.text)):
        return
    if passed:
        shapes = [shape for _, shape in command_shape.list_parts(command)]
    else:
        shapes = [same_work.find_failed_part(command, error_lines.find_error_line(event.text))[1]]
    for shape in filter(None, shapes):
        _count(state["runs"], shape, passed=passed, at=event.at or 0)


def _count(runs: dict[str, Any], shape: str, *, passed: bool, at: int) -> None:
    counts = runs.pop(shape, None) or {"runs": 0, "failed": 0, "passed_at": 0, "failed_at": 0}
    counts["runs"] += 1
    counts["failed"] += not passed
    counts["passed_at" if passed else "failed_at"] = at
    runs[shape] = counts
    if len(runs) > _SHAPES:
        del runs[next(iter(runs))]


def note_refusal(state: dict[str, Any], action: CallAction, event: Event) -> None:
    """Keep a command that a person refused for a reason that holds beyond this moment."""
    reason = decisions.find_denial_reason(event.text) if event.verdict == "denied" and action.kind == "run" else ""
    command = to_one_line(action.subject, _COMMAND)
    found = decisions.read_refusal(reason, f"run {command}") if reason else []
    parts = command_shape.list_parts(action.subject)
    if not parts or all(item.kind != REJECTED for item in found):
        return
    state["refused"][command] = {
        "program": parts[0][0], "shape": parts[0][1], "reason": to_one_line(reason, _REASON), "at": event.at or 0,
    }  # fmt: skip
    if len(state["refused"]) > _REFUSED:
        del state["refused"][next(iter(state["refused"]))]
