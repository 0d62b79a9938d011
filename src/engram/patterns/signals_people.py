"""Signals of people: what they correct and where they break in. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engram.digests import commands, voice
from engram.patterns import shape, signals_tools
from engram.patterns.fingerprint import content
from engram.patterns.signal import Signal, signal
from engram.patterns.steps import Step, Story

_LONGEST = 700  # characters of an objection; what is longer is a new task
_OBJECTS = re.compile(
    r"^\W*(?:(?:please |but |hey,? |oh |ok(?:ay)?,? |hmm+,? |wait,? |actually,? )*)"
    r"(?:no+\b(?! (?:problem|worries|need|rush|thanks?|idea|more|other|further|one|changes?|issues?|new)\b)|"
    r"nope\b|wrong\b|undo\b|revert (?:that|this|it|your|the last)|"
    r"stop(?: \w+ing\b| (?:it|that|this)\b|[,.!]|$)|leave .{1,40}(?:alone|as (?:it|they) (?:is|are|was|were))\b|"
    r"(?:way |far |much )?too (?:complicated|complex|verbose|long|much|clever)\b|"
    r"(?:don'?t|do not)\b(?! (?:worry|forget|hesitate|bother|mind|know|think|see|understand|get)\b)|"
    r"never (?!mind|seen|heard|been|had|tried|used|knew|thought|met)\w+|not (?:quite|what|that|like that|right)\b|"
    r"(?:that|this|it)(?:'s| is) (?:not (?:what|right|correct|how|the)|wrong|incorrect)\b)",
    re.IGNORECASE,
)
_CUES = re.compile(
    r"\bi (?:said|told you|meant|didn'?t ask|did not ask|asked you (?:not )?to|already (?:said|told))\b|"
    r"\byou (?:forgot|missed|broke|ignored|(?:removed|deleted) the|should(?:n'?t| not)? have|keep \w+ing|"
    r"were supposed to)\b|"
    r"\byou(?:'re| are)? (?:over(?:complicat|engineer|think)|\w+ing the wrong|(?:\w+ed|wrote|ran|put) the wrong)|"
    r"\bwhy (?:did|are|do|would) you\b|"
    r"\b(?:please )?use [\w./@'`\"-]+(?: [\w./@'`\"-]+){0,3},? (?:instead|rather than|and not|not)\b|"
    r"\b(?:we|i) (?:don'?t|do not|never|always) (?:use|want|commit|edit|run|push|add|write|call|mock|touch)\b|"
    r"\b(?:that|this)(?:'s| is) (?:wrong|incorrect|not (?:what|right|correct|how))\b|"
    r"\bshould(?:n'?t| not) (?:have |be )?(?:touch|chang|edit|us|add|delet|remov|creat|commit|mock)",
    re.IGNORECASE,
)
_PRAISE = re.compile(
    r"^\W*(?:no,? )?(?:that'?s|this is|looks?|it'?s) (?:fine|ok|okay|good|great|perfect|all)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def corrections(story: Story) -> Iterator[Signal]:
    """Yield what people objected to, each with what they want instead."""
    found: dict[str, tuple[str, list[Step]]] = {}
    before = ""  # what the agent said last; a no to a question is an answer
    for step in story.steps:
        words = _refused(step) if step.kind == "did" else _objected(step, before) if step.kind == "asked" else ""
        name = content(words) if words else ""
        if len(name.split()) >= 2:
            found.setdefault(name, (words, []))[1].append(step)
        before = step.text if step.kind == "said" else before or step.tool
    for name, (words, told) in found.items():
        yield signal(story, "correction", name, f"A person corrects the agent: {words}", told, fix=words, quote=words)


def _refused(step: Step) -> str:
    """Return what a person said when they did not allow something, unless it only asks."""
    words = signals_tools.said(step)
    asks = words.rstrip().endswith("?") and not _CUES.search(words)
    return "" if asks or len(words) > _LONGEST else _told(words)


def _objected(step: Step, before: str) -> str:
    """Return the words of an objection to what the agent did, or nothing."""
    if not before or len(step.text) > _LONGEST or _PRAISE.match(step.text):
        return ""
    objects = _OBJECTS.match(step.text) and not voice.asks(before)
    return _told(step.text) if objects or _CUES.search(step.text[:300]) else ""


def _told(text: str) -> str:
    """Return the sentences that say what is wanted: the first that objects, with the next if it says little."""
    sentences = [each.strip() for each in _SENTENCE.split(text) if each.strip()]
    start = next((n for n, each in enumerate(sentences) if _OBJECTS.match(each) or _CUES.search(each)), 0)
    chosen = sentences[start : start + 1]
    if chosen and len(content(chosen[0]).split()) < 3:
        chosen = sentences[start : start + 2]
    return " ".join(chosen)


def interrupts(story: Story) -> Iterator[Signal]:
    """Yield what people broke off."""
    groups: dict[str, list[Step]] = {}
    before: Step | None = None
    for step in story.steps:
        if step.kind == "interrupt" and before is not None and before.verdict != "denied":
            groups.setdefault(_doing(before), []).append(step)
        before = step if step.kind in ("did", "said", "asked") else before
    for name, told in groups.items():
        yield signal(
            story, "interrupt", name, f"A person breaks in while the agent {name}", told, quote=_after(story, told[-1])
        )


def _doing(step: Step) -> str:
    if step.command:
        return f"runs {shape.shape(step.command) or commands.short(step.command, 40)}"
    if step.kind == "did" and step.done is not None:
        kinds = {"edit": "edits a file", "read": "reads a file"}
        return kinds.get(step.done.kind, f"calls {step.tool.lower()}")
    return "answers" if step.kind == "said" else "thinks"


def _after(story: Story, broken: Step) -> str:
    """Return what the person said next."""
    return next((step.text for step in story.steps if step.kind == "asked" and step.at >= broken.at), "")
