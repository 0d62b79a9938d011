"""What the subagents of a session changed, ran and committed counts as the session's."""

from __future__ import annotations

from typing import Any

import orjson

from engram.evidence.episodes import TEMPORARY
from engram.store import captures, digests, episodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine, Row

_FILES = 40


def add_subagents(engine: Engine, session_id: str, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a digest with those of the session's subagents."""
    rows = [digests.find_by_capture(engine, row["num"]) for row in captures.list_subagents(engine, session_id)]
    merged = dict(facts)
    for child in (orjson.loads(row["facts"]) for row in rows if row):
        for name in ("changed", "commits"):
            if child.get(name):
                merged[name] = _join_lists(merged.get(name, []), child[name])
        if child.get("tests") and not merged.get("tests"):
            merged["tests"] = child["tests"]
    return merged


def add_subagents_to_episodes(engine: Engine, session_id: str, rows: list[Row]) -> list[Row]:
    """Return episodes with what subagents did that began during them."""
    children = captures.list_subagents(engine, session_id)
    if not children or not rows:
        return rows
    facts = [orjson.loads(row["facts"]) for row in rows]
    for child in children:
        number = _find_episode(rows, child["started_at"])
        for episode in episodes.list_by_capture(engine, child["num"]):
            _add_facts(facts[number], orjson.loads(episode["facts"]))
    return [{**row, "facts": orjson.dumps(fact).decode()} for row, fact in zip(rows, facts, strict=True)]


def _find_episode(rows: list[Row], at: int | None) -> int:
    """Return the position of the last episode that began before a time."""
    began = [position for position, row in enumerate(rows) if (row["started_at"] or 0) <= (at or 0)]
    return began[-1] if began else 0


def _add_facts(facts: dict[str, Any], child: dict[str, Any]) -> None:
    for name in ("changed", "commits"):
        facts[name] = _join_lists(facts[name], child[name])
    facts["tests"] = facts["tests"] or child["tests"]


def _join_lists(own: list[str], other: list[str]) -> list[str]:
    """Add what is not there yet; the same file may be named from another directory."""
    joined = list(own)
    for name in other:
        is_known = any(f"/{name}".endswith(f"/{known}") or f"/{known}".endswith(f"/{name}") for known in joined)
        if not (is_known or name.startswith("+") or TEMPORARY.search(name)):
            joined.append(name)
    return joined[:_FILES]
