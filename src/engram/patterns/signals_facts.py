"""Signals of a digest alone, for sessions whose bodies were dropped. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engram.patterns import fingerprint, problem, shape
from engram.patterns.fingerprint import content
from engram.patterns.signal import Signal, signal
from engram.patterns.steps import Step, Story

_ERROR = re.compile(r"^(?P<line>.*?)(?: ×(?P<times>\d+))? \[(?P<about>[^\]]*)\](?: → (?P<fix>.*))?$")
_COUNTED = {
    "interrupts": ("interrupt", "interrupt", "works", "A person breaks in while the agent works"),
    "compactions": ("context-blowup", "compaction", "compaction", "The context overflows and is compacted"),
}  # fmt: skip


def from_facts(story: Story) -> Iterator[Signal]:
    """Yield what the digest of a session tells by itself."""
    yield from _errors(story)
    for words in story.facts.get("corrections") or ():
        name = content(words)
        if len(name.split()) >= 2:
            yield signal(
                story, "correction", name, f"A person corrects the agent: {words}", [], fix=words, quote=words, times=1
            )
    for fact, (kind, event, name, text) in _COUNTED.items():
        if story.facts.get(fact):
            told = [step for step in story.gone if step.kind == event]
            yield signal(story, kind, name, text, told, times=int(story.facts[fact]))
    yield from _tests(story)


def _errors(story: Story) -> Iterator[Signal]:
    told = [step for step in story.gone if step.verdict == "error"]
    for each in story.facts.get("errors") or ():
        parts = _ERROR.match(str(each))
        if parts is None or shape.is_noise(parts["about"], 1, parts["line"]):
            continue
        step = _as_step(parts)
        name, times = problem.error(step), int(parts["times"] or 1)
        fix = parts["fix"] or ""
        if name:
            text = f"{parts['line']} (from '{parts['about']}')"
            yield signal(story, "error", name, text, told[:3], fix=fix, quote=parts["line"], times=times)
        if name and times > 1 and shape.shape(parts["about"]):
            yield signal(
                story, "failing-command", f"{shape.shape(parts['about'])}: {name}",
                f"'{parts['about']}' fails: {parts['line']}",
                told[:3], fix=fix, quote=parts["line"], times=times,
            )  # fmt: skip


def _as_step(parts: re.Match[str]) -> Step:
    """Return the failed command a digest tells of."""
    from engram.digests.acts import Act

    done = Act(kind="run", subject=parts["about"])
    return Step(kind="did", id=0, at=0, text=parts["line"], done=done, verdict="error", exit_code=2)


def _tests(story: Story) -> Iterator[Signal]:
    tests: dict[str, Any] = story.facts.get("tests") or {}
    commands = [fingerprint.safe(str(each).rpartition(" → ")[0]) for each in story.facts.get("notable") or ()]
    name = next((shape.shape(each) for each in commands if shape.shape(each)), "tests")
    if int(tests.get("failed") or 0) >= 3:
        yield signal(
            story, "test-loop", name, f"'{name}' fails again and again after edits", [], times=int(tests["failed"])
        )
