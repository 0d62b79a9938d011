"""A digest of session_memory in our words: the facts we have names for, and the rest of what it says as it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engram.store.seed_session_memory import fact
from engram.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engram.memory.mending import Mending
    from engram.store.engine import Row

_FACTS = 8000  # bytes: more than of a digest made here, for this one cannot be made again
_LISTED = 24
_LENGTH = 400
_OURS = {
    "changed": ("changed", "files_changed", "changed_files", "files_touched", "files", "edits"),
    "errors": ("errors", "failures", "problems", "friction"),
    "corrections": ("corrections", "feedback", "user_corrections"),
    "commits": ("commits",),
    "open": ("open", "open_questions", "todo", "todos", "next_steps", "unresolved"),
    "notable": ("notable", "lessons", "learnings", "insights", "notes", "key_points", "decisions", "highlights"),
}
# What says nothing of the work: ids, times, counts, and what is told elsewhere.
_PASSED = {
    "id", "session_uid", "session_id", "uid", "native_id", "flavor", "agent", "source", "repo", "project", "repo_path",
    "cwd", "workspace", "domain", "outcome", "status", "outcome_confidence", "confidence", "schema_version", "version",
    "created_at", "updated_at", "started_at", "ended_at", "made_at", "timestamp", "digest_version", "hash", "model",
}  # fmt: skip


def read_digest(row: Row, mend: Mending) -> dict[str, Any]:
    """Return what a digest says, in our names where we have them."""
    facts: dict[str, Any] = {"goal": one_line(mend.said(fact(row, "goal")), _LENGTH), "imported": "session_memory"}
    used = {name for names in _OURS.values() for name in names} | _PASSED
    for ours, names in _OURS.items():
        facts[ours] = [line for name in names for line in _lines(row.get(name), mend)][:_LISTED]
    told = [name for name, each in row.items() if each == fact(row, "goal")]
    rest = [(name, each) for name, each in row.items() if name not in used and name not in told]
    facts["notable"] += [f"{name}: {line}" for name, each in rest for line in _lines(each, mend)][:_LISTED]
    return _fitted({name: each for name, each in facts.items() if each})


def _lines(given: Any, mend: Mending) -> Iterator[str]:
    """Yield the texts in a value, one line each; numbers say nothing alone."""
    if isinstance(given, str):
        line = one_line(mend.said(given), _LENGTH)
        if line:
            yield line
    elif isinstance(given, list):
        for each in given:
            yield from _lines(each, mend)
    elif isinstance(given, dict):
        texts = [one_line(mend.said(each), _LENGTH) for each in given.values() if isinstance(each, str) and each]
        if texts:
            yield one_line(": ".join(texts), _LENGTH)


def _fitted(facts: dict[str, Any]) -> dict[str, Any]:
    """Shorten the longest list until all fits."""
    while len(json.dumps(facts, ensure_ascii=False).encode()) > _FACTS:
        longest = max((name for name in facts if isinstance(facts[name], list)), key=lambda name: len(facts[name]))
        facts[longest] = facts[longest][:-1]
    return facts
