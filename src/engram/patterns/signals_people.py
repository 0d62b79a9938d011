"""Signals of users: corrections and interruptions. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engram.evidence import command_shape, intent, shell_commands
from engram.patterns import signals_standing, signals_tools
from engram.patterns.fingerprint import extract_content
from engram.patterns.signal import Signal, build_signal
from engram.patterns.steps import SessionStep, SessionTrace

_MAX_OBJECTION_CHARS = 700  # maximum characters of an objection; a longer message is a new task
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
_GERUNDS = {
    "runs": "running", "edits": "editing", "reads": "reading", "calls": "calling", "answers": "answering",
    "thinks": "thinking",
}  # fmt: skip
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def find_corrections(trace: SessionTrace) -> Iterator[Signal]:
    """Yield the user's objections, each with what they want instead."""
    corrections_by_name: dict[str, tuple[str, list[SessionStep]]] = {}
    last_agent_text = ""  # the agent's last message: "no" to a question is an answer, not an objection
    for step in trace.steps:
        words = (
            _read_refusal(step)
            if step.kind == "did"
            else _read_objection(step, last_agent_text)
            if step.kind == "asked"
            else ""
        )
        name = extract_content(words) if words else ""
        if len(name.split()) >= 2:
            corrections_by_name.setdefault(name, (words, []))[1].append(step)
        last_agent_text = step.text if step.kind == "said" else last_agent_text or step.tool
    for words, step in _list_decided(trace):
        corrections_by_name.setdefault(extract_content(words), (words, [step]))
    for name, (words, objection_steps) in corrections_by_name.items():
        yield build_signal(
            trace, "correction", name, f"You corrected the agent: {words}", objection_steps, fix=words, quote=words
        )


def _list_decided(trace: SessionTrace) -> Iterator[tuple[str, SessionStep]]:
    """Yield the corrections among the decisions of a session that no other message told yet, with their message."""
    asked_by_time = {step.at: step for step in trace.steps if step.kind == "asked"}
    for words, at in signals_standing.list_decided_corrections(trace):
        if at in asked_by_time and len(extract_content(words).split()) >= 2:
            yield _pick_sentences(words), asked_by_time[at]


def _read_refusal(step: SessionStep) -> str:
    """Return the reason a user gave for denying a call, unless it is only a question."""
    words = signals_tools.read_denial_reason(step)
    asks = words.rstrip().endswith("?") and not _CUES.search(words)
    return "" if asks or len(words) > _MAX_OBJECTION_CHARS else _pick_sentences(words)


def _read_objection(step: SessionStep, last_agent_text: str) -> str:
    """Return the objection in a message to what the agent did, or an empty string."""
    if not last_agent_text or len(step.text) > _MAX_OBJECTION_CHARS or _PRAISE.match(step.text):
        return ""
    objects = _OBJECTS.match(step.text) and not intent.is_question(last_agent_text)
    return _pick_sentences(step.text) if objects or _CUES.search(step.text[:300]) else ""


def _pick_sentences(text: str) -> str:
    """Return the sentence that objects, with the next one if it is short."""
    sentences = [sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip()]
    start = next((n for n, sentence in enumerate(sentences) if _OBJECTS.match(sentence) or _CUES.search(sentence)), 0)
    chosen = sentences[start : start + 1]
    if chosen and len(extract_content(chosen[0]).split()) < 3:
        chosen = sentences[start : start + 2]
    return " ".join(chosen)


def find_interrupts(trace: SessionTrace) -> Iterator[Signal]:
    """Yield what the user interrupted."""
    groups: dict[str, list[SessionStep]] = {}
    previous_step: SessionStep | None = None
    for step in trace.steps:
        if step.kind == "interrupt" and previous_step is not None and previous_step.verdict != "denied":
            groups.setdefault(_describe_activity(previous_step), []).append(step)
        previous_step = step if step.kind in ("did", "said", "asked") else previous_step
    for name, interrupt_steps in groups.items():
        yield build_signal(
            trace,
            "interrupt",
            name,
            f"You interrupted the agent while it was {_to_gerund(name)}",
            interrupt_steps,
            quote=_find_next_message(trace, interrupt_steps[-1]),
        )


def _describe_activity(step: SessionStep) -> str:
    if step.command:
        return f"runs {command_shape.shape_command(step.command) or shell_commands.shorten_command(step.command, 40)}"
    if step.kind == "did" and step.done is not None:
        kinds = {"edit": "edits a file", "read": "reads a file"}
        return kinds.get(step.done.kind, f"calls {step.tool.lower()}")
    return "answers" if step.kind == "said" else "thinks"


def _to_gerund(activity: str) -> str:
    """Return "running make" for "runs make"; the fingerprint keeps the form that stored signals have."""
    verb, space, rest = activity.partition(" ")
    return f"{_GERUNDS[verb]}{space}{rest}"


def _find_next_message(trace: SessionTrace, interrupted: SessionStep) -> str:
    """Return the user's next message."""
    return next((step.text for step in trace.steps if step.kind == "asked" and step.at >= interrupted.at), "")
