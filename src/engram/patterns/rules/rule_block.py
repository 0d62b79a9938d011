"""The block of approved rules in an agent's file: between two fences, within a token budget.

The opening fence carries a hash of what we wrote, so that an edit inside the block is detected without any other
record.
"""

from __future__ import annotations

from engram.platform import fence, text
from engram.platform.value import value
from engram.search.briefing_rules import format_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Row

NAME = "patterns"
HEADING = "## Rules from past sessions"
_ABOUT = "Approved by a person; `engram patterns show ID` shows the evidence."
_MORE = "More rules are in the skill `engram-patterns`. Read it before you work on its topics."
_HEAD = {
    "cursor": "---\ndescription: Rules from past sessions, approved by a person\nalwaysApply: true\n---\n",
    "skill": (
        "---\nname: engram-patterns\ndescription: Rules this team approved after problems that came back in past"
        " sessions of coding agents. Read it before you run builds, tests, migrations or other commands of a project,"
        " and when something fails.\n---\n"
    ),
}


@value
class RuleBlock:
    """The rules of one place that fit its budget, and those that do not."""

    text: str
    placed: tuple[Row, ...]
    left_out: tuple[Row, ...]


def build_block(rows: Sequence[Row], budget: int, *, more: bool = False) -> RuleBlock:
    """Build the block from the most important rules that fit the budget."""
    head = [HEADING, "", _ABOUT, *([_MORE] if more else []), ""]
    tokens_left = budget - text.count_tokens("\n".join(head))
    placed_rows: list[Row] = []
    for row in rows:
        cost = text.count_tokens(format_rule(row["id"], row["rule"], row["fix"])) + 1
        if cost <= tokens_left:
            tokens_left -= cost
            placed_rows.append(row)
    left_out_rows = [row for row in rows if row not in placed_rows]
    lines = [format_rule(row["id"], row["rule"], row["fix"]) for row in placed_rows]
    return RuleBlock("\n".join([*head, *lines]) if placed_rows else "", tuple(placed_rows), tuple(left_out_rows))


def insert_block(current_text: str | None, block_text: str, kind: str = "block") -> str:
    """Insert our block into a text; a new file starts with the header its reader expects."""
    return fence.insert_block(
        _HEAD.get(kind, "") if current_text is None else current_text, NAME, block_text, _hash_note(block_text)
    )


def remove_block(current_text: str) -> str:
    """Remove our block from a text."""
    return fence.remove_block(current_text, NAME)


def has_nothing_else(kind: str, rest: str) -> bool:
    """Check whether the rest of a file is empty: blank, or only the header we wrote."""
    return rest.strip("\ufeff \t\r\n").replace("\r\n", "\n") in ("", _HEAD.get(kind, "").strip())


def is_intact(current_text: str) -> bool:
    """Check whether a text has no block of ours, or exactly one with both fences."""
    return fence.is_well_formed(current_text, NAME)


def is_edited(current_text: str) -> bool:
    """Check whether our block was edited."""
    block_text = fence.read_block(current_text, NAME)
    return block_text is not None and fence.read_note(current_text, NAME) != _hash_note(block_text)


def _hash_note(block_text: str) -> str:
    """Return the note in the opening fence: a hash that shows whether the block was edited."""
    import hashlib

    lines = "\n".join(block_text.strip().splitlines())
    return f"{hashlib.sha256(lines.encode('utf-8', 'replace')).hexdigest()[:16]}; by `engram patterns distribute`"
