"""Signals of whole sessions: abandoned, spent for nothing, or solved on a short path. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from engram.digests import commands, voice
from engram.patterns import problem, shape
from engram.patterns.fingerprint import content, safe
from engram.patterns.signal import Signal, signal
from engram.patterns.steps import Step, Story
from engram.text import one_line

_BEGUN = 3  # acts after which leaving off is more than a change of mind
_MUCH = 50_000  # tokens, what a cache held not counted
_SHORT = 12  # acts of a short path
_SURE = 0.5
_ABOUT = 3  # words a task must have to be told from others


def abandoned(story: Story) -> Iterator[Signal]:
    """Yield a session that was left in the middle of the work."""
    name, acts = _task(story), _acts(story)
    if story.outcome != "abandoned" or story.relation == "subagent" or len(acts) < _BEGUN or not name:
        return
    why = str((story.facts.get("evidence") or ["left off"])[0])
    told = [*_asked(story)[:1], acts[-1]]
    yield signal(
        story, "abandoned", name, f"Left off ({why}): {_goal(story)}", told, quote=_goal(story), times=1, through=True
    )


def wasted(story: Story) -> Iterator[Signal]:
    """Yield a session that took many tokens and changed nothing, answered nothing."""
    name, facts = _task(story), story.facts
    if story.spent < _MUCH or facts.get("changed") or facts.get("commits") or not name or not story.steps:
        return
    if not (story.outcome in ("failure", "abandoned") or voice.gives_up(str(facts.get("ended", "")))):
        return
    told = [*_asked(story)[:1], story.steps[-1]]
    text = f"Some {story.spent // 1000},000 tokens were spent and nothing came of it: {_goal(story)}"
    yield signal(story, "wasted-tokens", name, text, told, quote=_goal(story), times=1, through=True)


def short_path(story: Story) -> Iterator[Signal]:
    """Yield a task that was solved in a few steps, with the steps."""
    name, acts = _task(story), _acts(story)
    if story.outcome != "success" or story.confidence < _SURE or not 2 <= len(acts) <= _SHORT or not name:
        return
    checked = [step for step in acts if problem.passed(step) or commands.purpose(step.command) == "commit"]
    changed = any(step.done is not None and step.done.changes for step in acts)
    if not checked or not changed or any(step.failed for step in acts) or _objected(story):
        return
    path = list(dict.fromkeys(filter(None, map(_act, acts))))
    told = [*_asked(story)[:1], *acts]
    text = f"Solved in {len(acts)} steps: {_goal(story)}"
    yield signal(story, "short-path", name, text, told, fix=" → ".join(path), quote=_goal(story), times=1, through=True)


def _objected(story: Story) -> bool:
    return bool(story.facts.get("corrections") or story.facts.get("interrupts") or story.facts.get("reverted"))


def _act(step: Step) -> str:
    if step.command:
        return shape.shape(step.command)
    kinds = {"edit": "edit", "read": "read"}
    return kinds.get(step.done.kind, "") if step.done is not None else ""


def _acts(story: Story) -> list[Step]:
    return [step for step in story.steps if step.kind == "did"]


def _asked(story: Story) -> list[Step]:
    return [step for step in story.steps if step.kind == "asked"]


def _goal(story: Story) -> str:
    return one_line(safe(str(story.facts.get("goal", "")), 240), 110)


def _task(story: Story) -> str:
    """Return what the session was for, if it says so in words."""
    goal = str(story.facts.get("goal", ""))
    name = "" if goal.startswith("<") else content(goal, 20)
    return name if len(name.split()) >= _ABOUT else ""
