"""Signals of rules that a person stated: sentences that say themselves that they hold beyond this change. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engram.evidence import decision_kinds, lasting
from engram.patterns import person_words
from engram.patterns.fingerprint import extract_content
from engram.patterns.signal import Signal, build_signal
from engram.patterns.steps import SessionStep, SessionTrace
from engram.platform import plain_json

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_MAX_MESSAGE = 700  # characters; a longer message is a task or was pasted
_MAX_SENTENCE = 200
_MIN_WORDS = 3  # words that say what it is about
_SUBAGENT = "subagent"
# What agents do; a program that always shows something is a feature.
_CONDUCT = (
    "use|run|commit|push|merge|rebase|edit|touch|change|modify|write|add|create|delete|remove|ask|check|test|verify|"
    "read|mock|format|lint|document|update|install|import|call|put|keep|start|stop|leave|name|work|follow|include"
)
_STATED = re.compile(
    r"^\W*(?:(?:please|and|also|so|but|ok(?:ay)?|no|yes|well|again|important)[\s,:!]+)*"
    rf"(?:(?:you |we |i )?(?:must |should )?(?:always|never) (?:{_CONDUCT})\b|from now on\b|in (?:the )?future,|"
    r"whenever (?:you|we)\b|every time (?:you|we)\b|remember(?:,| that| to (?:always|never|not))|"
    r"(?:we|i) no longer (?:use|want|need)\b|"
    # A fact about the project, not about the thing at hand.
    r"(?!(?:it|this|that|there|he|she|they|which|what|these|those|i|you|we)\b)(?:[\w'-]+ ){1,4}(?:are|is) never\b)",
    re.IGNORECASE,
)
_ASKED_TO_KEEP = re.compile(
    r"\b(?:from now on|how (?:often|many times)|i(?:'ve| have)? (?:already )?told you|"
    r"(?:note|remember|keep|save|put) (?:it )?in (?:your |the )?memory (?:that|to|not to) (?=\w)|why are you still\b)",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|should|would|will|what|when|where|who|how)\b", re.IGNORECASE
)


def find_standing_rules(trace: SessionTrace) -> Iterator[Signal]:
    """Yield the rules that a person stated in a session."""
    if trace.relation == _SUBAGENT:
        return
    found: dict[str, tuple[str, list[SessionStep]]] = {}
    for step in trace.steps:
        for sentence in _list_stated(step.text) if step.kind == "asked" else ():
            name = extract_content(person_words.word_order(sentence) or sentence)
            found.setdefault(name, (sentence, []))[1].append(step)
    for name, (sentence, steps) in found.items():
        yield build_signal(trace, "standing-rule", name, f"You said: {sentence}", steps, fix=sentence, quote=sentence)


def _list_stated(message: str) -> Iterator[str]:
    if len(message) > _MAX_MESSAGE or lasting.is_code(message):
        return
    for sentence in _SENTENCE.split(message):
        if is_stated_rule(sentence):
            yield sentence.strip()


def is_stated_rule(sentence: str) -> bool:
    """Return whether a person's sentence states a rule for work to come."""
    if len(sentence) > _MAX_SENTENCE or len(extract_content(sentence).split()) < _MIN_WORDS:
        return False
    if _ASKED_TO_KEEP.search(sentence):
        return True
    return bool(_STATED.match(sentence)) and not _QUESTION.match(sentence) and not sentence.rstrip().endswith("?")


def list_decided_corrections(trace: SessionTrace) -> Iterator[tuple[str, int]]:
    """Yield the corrections among the decisions of a session, with their time."""
    for row in trace.decisions:
        if plain_json.loads(row["facts"]).get("kind") == decision_kinds.CORRECTION:
            yield row["text"], row["at"]
