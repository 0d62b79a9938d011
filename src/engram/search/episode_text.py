"""The text of an answer: what settled an episode, and the best message of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engram.index.tokenizer import extract_terms
from engram.platform import text
from engram.search.narration import is_narration
from engram.search.snippet import extract_passage

if TYPE_CHECKING:
    from engram.search.episode_groups import Group
    from engram.search.resolution import Resolution

LINE = 300  # characters of a line of a hit
_SAME = 40  # characters in which a message and a title are compared
_WORTH = 60  # tokens in which the beginning of a line is worth showing


def list_settled(resolution: Resolution) -> list[str]:
    """Return what settled a case, a line each, the most useful first."""
    note = f" ({'; '.join(resolution.notes)})" if resolution.notes else ""
    lines = [f"Decided{note}: {' '.join(resolution.decided)}"] if resolution.decided else []
    lines += [f"Cause: {cause}" for cause in resolution.causes]
    lines += [f"Fixed: {fix}" for fix in resolution.fixes]
    return lines + [f"Turned down: {rejected}" for rejected in resolution.rejected]


def quote_best(group: Group, terms: frozenset[str], title: str, shown: str) -> str:
    """Return the best message of an episode, if it has words of the question that are not shown yet."""
    known = set(extract_terms(shown)) & terms
    said = [row for doc, row in group.found if not is_narration(doc.kind, row["content"])]
    for row in said[:3]:
        piece = extract_passage(row["content"], terms, LINE)
        is_request = piece[:_SAME] == " ".join(title.split())[:_SAME]
        if len(set(extract_terms(piece)) & terms) > len(known) and not is_request:
            who = {"user": "You", "assistant": "Agent"}.get(row.get("role", ""), "Said")
            return f"{who}: {piece}"
    if not known and group.events and group.events[0].snippet:
        return f"{group.events[0].name or 'Tool'}: {text.to_one_line(group.events[0].snippet, LINE)}"
    return ""


def fit_lines(lines: list[str], budget: int) -> str:
    """Return the lines that fit within a number of tokens."""
    kept: list[str] = []
    for line in lines:
        size = text.count_tokens(line) + 1
        if size <= budget or not kept or budget > _WORTH:
            kept.append(text.cut_to_tokens(line, budget))
            budget -= size
    return "\n".join(kept)
