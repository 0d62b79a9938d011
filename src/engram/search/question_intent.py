"""Tell what kind of answer a question wants: work in a time, a command, the history of a file, open items. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engram.evidence import anchors
from engram.evidence.task_commands import BUILD, LINT, RELEASE, RUN, SETUP, TEST
from engram.index.tokenizer import QUESTION_WORDS, extract_terms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engram.search.query import Question

# Words of a question about work in general, such as "what did I get done": they name no subject.
_WORK = frozenset(
    extract_terms(
        "work worked working do go happen happened new change changes changed ship shipped finish finished accomplish"
        " achieve session sessions task tasks thing things stuff progress commit commits committed repo repository"
        " project everything anything something summary summarize overview day time spend spent show list give start"
        " started build built make made write wrote agent agents going went touch touched complete completed codebase"
        " activity today week i we me us file files history log done open"
    )
)
_WHO = re.compile(
    r"\b(?:who|when|why|which|what)\b.{0,60}\b(?:touch|chang|edit|modif|wrote|written|work|happen|done|did|history|"
    r"introduc|add|remov|delet|creat|renam)\w*|\bhistory of\b|\bwhat (?:was|did \w+) (?:done|do)\b",
    re.IGNORECASE,
)
_RUNNING = re.compile(
    r"\bhow (?:do|can|should|would|did|to|are|is|does)\b(?! (?:it|this|that)\b)|\bcommands?\b|"
    r"\bwhat do (?:i|we) (?:run|type|use)\b|\bwhich (?:script|task|target)\b",
    re.IGNORECASE,
)
_PURPOSES = (
    (
        TEST,
        re.compile(
            r"\b(?:run|execute|start|launch|command (?:for|to)|do)\b[^?]{0,40}\btests?\b|"
            r"\btest (?:this|it|the (?:project|code|repo)|here|command)\b|"
            r"\b(?:i|we|you|to) test\b(?!\s+(?:if|that|whether))",
            re.IGNORECASE,
        ),
    ),
    (
        LINT,
        re.compile(
            r"\b(?:run|execute|command (?:for|to)|do)\b[^?]{0,30}\b(?:lint|type.?check|format)\w*\b|"
            r"\b(?:i|we|you|to) (?:lint|type.?check|format)\b|\blint command\b",
            re.IGNORECASE,
        ),
    ),
    (
        BUILD,
        re.compile(
            r"\b(?:i|we|you|to) (?:build|compile)\b|\b(?:run|start|do)\b[^?]{0,20}\bbuild\b|\bbuild command\b|"
            r"\bis (?:this|it|the \w+) built\b",
            re.IGNORECASE,
        ),
    ),
    (SETUP, re.compile(r"\b(?:i|we|you|to) (?:set ?up|install)\b|\binstall the dependencies\b", re.IGNORECASE)),
    (RELEASE, re.compile(r"\b(?:i|we|you|to) (?:release|deploy|publish|ship)\b", re.IGNORECASE)),
    (RUN, re.compile(r"\b(?:i|we|you|to) (?:run|start|launch|serve)\b", re.IGNORECASE)),
)
_LONGEST = 140  # characters of a question about a command or a file; a longer text describes a problem
_SUBJECTS = 1  # words beside those of the command that a question about it may have
_COMMAND_WORDS = frozenset(
    extract_terms(
        "run execute start launch command test tests unit integration lint linter build compile format type check"
        " typecheck set up setup install dependencies release deploy publish ship app application server dev"
        " project repo repository code codebase here locally everything whole suite use type script target"
        " package module"
    )
)
_OPEN = re.compile(
    r"\bwhat(?:'s| is| was| are)? (?:still |left |currently )*(?:open|unfinished|pending|outstanding|left)\b|"
    r"\b(?:open|unfinished|pending|outstanding) (?:items?|tasks?|todos?|points?|work|ends?|things?)\b|"
    r"\bto ?dos?\b|\bleft (?:open|to do|undone)\b|\bwhat (?:remains|did (?:i|we) not finish)\b|"
    r"\bstill (?:to do|open)\b",
    re.IGNORECASE,
)  # fmt: skip


def asks_for_work(question: Question, names: Iterable[str] = ()) -> bool:
    """Return whether a question asks what was done in a time, beside the names of projects."""
    if question.window is None or question.phrases:
        return False
    return not _list_subjects(question, names)


def find_purpose(question: Question, names: Iterable[str] = ()) -> str:
    """Return what the command is for that a question asks for, beside the names of projects: test, lint … or none."""
    if len(question.text) > _LONGEST or not _RUNNING.search(question.text):
        return ""
    if len(list_parts(question, names)) > _SUBJECTS:
        return ""
    return next((purpose for purpose, pattern in _PURPOSES if pattern.search(question.text)), "")


def list_parts(question: Question, names: Iterable[str] = ()) -> frozenset[str]:
    """Return the words of a question about a command that name a part of the project."""
    return frozenset(set(question.words) - _COMMAND_WORDS - QUESTION_WORDS - _list_name_terms(names))


def find_file(question: Question) -> str:
    """Return the file whose history a question asks for, or none."""
    if len(question.text) > _LONGEST or not _WHO.search(question.text):
        return ""
    paths = anchors.find_paths(question.text)
    return paths[0] if len(paths) == 1 else ""


def asks_for_open_items(question: Question, names: Iterable[str] = ()) -> bool:
    """Return whether a question asks what is not finished, of no subject in particular."""
    return (
        len(question.text) <= _LONGEST
        and bool(_OPEN.search(question.text))
        and not _list_subjects(question, names) - _OPEN_WORDS
    )


_OPEN_WORDS = frozenset(
    extract_terms(
        "open unfinished pending outstanding left items todo todos remaining remains unpushed uncommitted unmerged"
    )
)


def _list_subjects(question: Question, names: Iterable[str]) -> set[str]:
    return set(question.subjects) - QUESTION_WORDS - _WORK - _list_name_terms(names)


def _list_name_terms(names: Iterable[str]) -> set[str]:
    return {term for name in names for term in extract_terms(name)}
