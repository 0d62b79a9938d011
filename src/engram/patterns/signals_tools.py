"""Signals of tools: misused, not allowed, or so talkative that the context overflows. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engram.digests import commands
from engram.patterns import misuse, problem, shape
from engram.patterns.signal import Signal, signal
from engram.patterns.steps import Step, Story

_HUGE = 60_000  # characters of one output
_SAID = re.compile(r"the user (?:said|provided the following reason)[^:\n]*:\s*(.+)", re.IGNORECASE | re.DOTALL)
_OUTSIDE = re.compile(
    r"allowed (?:working )?director|outside (?:of )?the (?:allowed|working|project|workspace|current)|"
    r"not in (?:the )?workspace",
    re.IGNORECASE,
)
_VERBS = {"edit": "Editing", "read": "Reading", "other": "Calling a tool"}
_TOOL_NAME = re.compile(r"(?:tool|skill|function)s?(?: available)?[:\s]+['\"`]?([\w.:-]+)", re.IGNORECASE)


def misuses(story: Story) -> Iterator[Signal]:
    """Yield tools that were called in a way that cannot work."""
    groups: dict[tuple[str, str], list[Step]] = {}
    for step in story.steps:
        name = problem.misuse(step)
        if name and step.done is not None:
            groups.setdefault((_tool(step, name), name), []).append(step)
    for (tool, name), told in groups.items():
        verb = _VERBS.get(tool, f"Calling {tool}")
        yield signal(
            story, "tool-misuse", f"{tool}: {name}", f"{verb} fails: {name}", told, quote=problem.line(told[-1])
        )  # fmt: skip


def _tool(step: Step, name: str) -> str:
    """Return the family of a tool; of one that does not exist, its name."""
    if name == misuse.NO_SUCH_TOOL:
        found = _TOOL_NAME.search(step.text)
        return found[1].lower() if found else step.tool.lower()
    kind = step.done.kind if step.done is not None else "other"
    return kind if kind != "other" else step.tool.lower()


def denials(story: Story) -> Iterator[Signal]:
    """Yield what the agent wanted to do and was not allowed to."""
    groups: dict[str, list[Step]] = {}
    for step in story.steps:
        if problem.not_allowed(step) and step.done is not None:
            groups.setdefault(_wanted(step), []).append(step)
    for name, told in groups.items():
        reason = said(told[-1])
        text = (
            f"A person does not let the agent {name}"
            if reason or _asked(told[-1])
            else f"It is not permitted to {name}"
        )
        yield signal(
            story, "denied", name, text, told,
            quote=reason or commands.short(told[-1].command) or told[-1].text,
        )  # fmt: skip


def _wanted(step: Step) -> str:
    """Return what was not allowed: the place if that was the matter, else the command or the tool."""
    if _OUTSIDE.search(step.text[:600]):
        return "leave the directories it may work in"
    if step.command:
        return f"run {shape.shape(step.command) or commands.short(step.command, 40)}"
    kind = step.done.kind if step.done is not None else "other"
    return f"{kind} a file" if kind in ("edit", "read") else f"call {step.tool.lower()}"


def _asked(step: Step) -> bool:
    return step.verdict == "denied" and "user" in step.text[:200].lower()


def said(step: Step) -> str:
    """Return what a person said when they did not allow it."""
    found = _SAID.search(step.text[:4000]) if step.verdict == "denied" else None
    return found[1].strip() if found else ""


def blowups(story: Story) -> Iterator[Signal]:
    """Yield outputs so large that they fill the context, and the times it overflowed."""
    full = [step for step in story.steps if step.kind == "compaction" and step.text != "manual"]
    if full:
        yield signal(story, "context-blowup", "compaction", "The context overflows and is compacted", full)
    groups: dict[str, list[Step]] = {}
    for step in story.steps:
        if step.size >= _HUGE and step.done is not None:
            groups.setdefault(f"output of {_source(step)}", []).append(step)
    for name, told in groups.items():
        size = max(step.size for step in told) // 1000
        shown = commands.short(told[-1].command, 80) or told[-1].done.subject if told[-1].done else ""
        yield signal(
            story, "context-blowup", name, f"The {name} fills the context: {size},000 characters", told, quote=shown
        )


def _source(step: Step) -> str:
    if step.command:
        return shape.shape(step.command) or "a command"
    kind = step.done.kind if step.done is not None else "other"
    return "reading a file" if kind == "read" else step.tool.lower() or "a tool"
