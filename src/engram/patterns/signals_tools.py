"""Signals of tools: misused, denied, or with output so large that the context overflows. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engram.evidence import command_shape, shell_commands
from engram.patterns import step_problem, tool_misuse
from engram.patterns.signal import Signal, build_signal
from engram.patterns.steps import SessionStep, SessionTrace

_HUGE_OUTPUT_CHARS = 60_000  # characters of one output
_USER_REASON = re.compile(r"the user (?:said|provided the following reason)[^:\n]*:\s*(.+)", re.IGNORECASE | re.DOTALL)
_OUTSIDE = re.compile(
    r"allowed (?:working )?director|outside (?:of )?the (?:allowed|working|project|workspace|current)|"
    r"not in (?:the )?workspace",
    re.IGNORECASE,
)
_VERBS = {"edit": "Editing", "read": "Reading", "other": "Calling a tool"}
_TOOL_NAME = re.compile(r"(?:tool|skill|function)s?(?: available)?[:\s]+['\"`]?([\w.:-]+)", re.IGNORECASE)


def find_misuses(trace: SessionTrace) -> Iterator[Signal]:
    """Yield tools that were called in a way that cannot work."""
    groups: dict[tuple[str, str], list[SessionStep]] = {}
    for step in trace.steps:
        name = step_problem.find_misuse(step)
        if name and step.done is not None:
            groups.setdefault((_tool_family(step, name), name), []).append(step)
    for (tool, name), misuse_steps in groups.items():
        verb = _VERBS.get(tool, f"Calling {tool}")
        yield build_signal(
            trace,
            "tool-misuse",
            f"{tool}: {name}",
            f"{verb} fails: {name}",
            misuse_steps,
            quote=step_problem.find_problem_line(misuse_steps[-1]),
        )


def _tool_family(step: SessionStep, name: str) -> str:
    """Return the kind of a tool; for a tool that does not exist, its name."""
    if name == tool_misuse.NO_SUCH_TOOL:
        match = _TOOL_NAME.search(step.text)
        return match[1].lower() if match else step.tool.lower()
    kind = step.done.kind if step.done is not None else "other"
    return kind if kind != "other" else step.tool.lower()


def find_denials(trace: SessionTrace) -> Iterator[Signal]:
    """Yield calls that were not allowed."""
    groups: dict[str, list[SessionStep]] = {}
    for step in trace.steps:
        if step_problem.is_not_allowed(step) and step.done is not None:
            groups.setdefault(_describe_denied(step), []).append(step)
    for name, denied_steps in groups.items():
        reason = read_denial_reason(denied_steps[-1])
        text = (
            f"You did not allow the agent to {name}"
            if reason or _is_user_denial(denied_steps[-1])
            else f"The agent is not allowed to {name}"
        )
        yield build_signal(
            trace, "denied", name, text, denied_steps,
            quote=reason or shell_commands.shorten_command(denied_steps[-1].command) or denied_steps[-1].text,
        )  # fmt: skip


def _describe_denied(step: SessionStep) -> str:
    """Describe what was not allowed: leaving the directories, else the command or the tool."""
    if _OUTSIDE.search(step.text[:600]):
        return "leave the directories it may work in"
    if step.command:
        return f"run {command_shape.shape_command(step.command) or shell_commands.shorten_command(step.command, 40)}"
    kind = step.done.kind if step.done is not None else "other"
    return f"{kind} a file" if kind in ("edit", "read") else f"call {step.tool.lower()}"


def _is_user_denial(step: SessionStep) -> bool:
    return step.verdict == "denied" and "user" in step.text[:200].lower()


def read_denial_reason(step: SessionStep) -> str:
    """Return the reason the user gave for denying a call."""
    match = _USER_REASON.search(step.text[:4000]) if step.verdict == "denied" else None
    return match[1].strip() if match else ""


def find_blowups(trace: SessionTrace) -> Iterator[Signal]:
    """Yield outputs so large that they fill the context, and context overflows."""
    full = [step for step in trace.steps if step.kind == "compaction" and step.text != "manual"]
    if full:
        yield build_signal(trace, "context-blowup", "compaction", "The context overflowed and was compacted", full)
    groups: dict[str, list[SessionStep]] = {}
    for step in trace.steps:
        if step.size >= _HUGE_OUTPUT_CHARS and step.done is not None:
            groups.setdefault(f"output of {_describe_source(step)}", []).append(step)
    for name, large_steps in groups.items():
        size = max(step.size for step in large_steps) // 1000
        subject = (
            shell_commands.shorten_command(large_steps[-1].command, 80) or large_steps[-1].done.subject
            if large_steps[-1].done
            else ""
        )
        yield build_signal(
            trace,
            "context-blowup",
            name,
            f"The {name} fills the context: {size},000 characters",
            large_steps,
            quote=subject,
        )


def _describe_source(step: SessionStep) -> str:
    if step.command:
        return command_shape.shape_command(step.command) or "a command"
    kind = step.done.kind if step.done is not None else "other"
    return "reading a file" if kind == "read" else step.tool.lower() or "a tool"
