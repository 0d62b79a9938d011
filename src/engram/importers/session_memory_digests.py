"""Convert a digest of session_memory: known facts under our names, and the rest as it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engram.platform.text import to_one_line
from engram.store.seed_session_memory import find_fact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engram.importers.repairs import Repairs
    from engram.store.engine import Row

_FACTS = 8000  # bytes: more than for our own digests, since this one cannot be rebuilt
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
# Keys that say nothing about the work: ids, times, counts, and what is stored elsewhere.
_PASSED = {
    "id", "session_uid", "session_id", "uid", "native_id", "flavor", "agent", "source", "repo", "project", "repo_path",
    "cwd", "workspace", "domain", "outcome", "status", "outcome_confidence", "confidence", "schema_version", "version",
    "created_at", "updated_at", "started_at", "ended_at", "made_at", "timestamp", "digest_version", "hash", "model",
}  # fmt: skip


def read_digest(row: Row, repairer: Repairs) -> dict[str, Any]:
    """Return the facts of a digest under our names."""
    facts: dict[str, Any] = {
        "goal": to_one_line(repairer.redact_text(find_fact(row, "goal")), _LENGTH),
        "imported": "session_memory",
    }
    used = {name for names in _OURS.values() for name in names} | _PASSED
    for ours, names in _OURS.items():
        facts[ours] = [line for name in names for line in _iter_lines(row.get(name), repairer)][:_LISTED]
    goal_columns = [name for name, cell in row.items() if cell == find_fact(row, "goal")]
    other_cells = [(name, cell) for name, cell in row.items() if name not in used and name not in goal_columns]
    facts["notable"] += [f"{name}: {line}" for name, cell in other_cells for line in _iter_lines(cell, repairer)][
        :_LISTED
    ]
    return _shrink_facts({name: cell for name, cell in facts.items() if cell})


def _iter_lines(cell: Any, repairer: Repairs) -> Iterator[str]:
    """Yield the texts in a value, one line each; numbers alone say nothing."""
    if isinstance(cell, str):
        line = to_one_line(repairer.redact_text(cell), _LENGTH)
        if line:
            yield line
    elif isinstance(cell, list):
        for item in cell:
            yield from _iter_lines(item, repairer)
    elif isinstance(cell, dict):
        texts = [
            to_one_line(repairer.redact_text(item), _LENGTH) for item in cell.values() if isinstance(item, str) and item
        ]
        if texts:
            yield to_one_line(": ".join(texts), _LENGTH)


def _shrink_facts(facts: dict[str, Any]) -> dict[str, Any]:
    """Shorten the longest list until everything fits."""
    while len(json.dumps(facts, ensure_ascii=False).encode()) > _FACTS:
        longest = max((name for name in facts if isinstance(facts[name], list)), key=lambda name: len(facts[name]))
        facts[longest] = facts[longest][:-1]
    return facts
