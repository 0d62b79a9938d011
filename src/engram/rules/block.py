"""Rules as they stand in an agent's file: between two fences, under a budget, and nobody's words but approved ones.

The opening fence carries a hash of what we wrote, so that what a person changed inside is seen without any record.
"""

from __future__ import annotations

from engram import text
from engram.files import fence
from engram.recall.rules_told import item
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Row

NAME = "patterns"
HEADING = "## Rules from past sessions"
_ABOUT = "Each was approved by a person; `engram patterns show ID` has the evidence."
_MORE = "More are in the skill `engram-patterns`: read it before you work on something it names."
_HEAD = {
    "cursor": "---\ndescription: Rules from past sessions, approved by a person\nalwaysApply: true\n---\n",
    "skill": (
        "---\nname: engram-patterns\ndescription: Rules this team approved after problems that came back in past"
        " sessions of coding agents. Read it before you run builds, tests, migrations or other commands of a project,"
        " and when something fails.\n---\n"
    ),
}


@value
class Block:
    """The rules of one place that fit its budget, and those that do not."""

    text: str
    placed: tuple[Row, ...]
    left_out: tuple[Row, ...]


def block(found: Sequence[Row], budget: int, *, more: bool = False) -> Block:
    """Return rules, heaviest first, as many as a budget holds."""
    head = [HEADING, "", _ABOUT, *([_MORE] if more else []), ""]
    left = budget - text.tokens("\n".join(head))
    placed: list[Row] = []
    for row in found:
        cost = text.tokens(item(row["id"], row["rule"], row["fix"])) + 1
        if cost <= left:
            left -= cost
            placed.append(row)
    out = [row for row in found if row not in placed]
    lines = [item(row["id"], row["rule"], row["fix"]) for row in placed]
    return Block("\n".join([*head, *lines]) if placed else "", tuple(placed), tuple(out))


def put(held: str | None, said: str, kind: str = "block") -> str:
    """Return a file's text with our block in it; a file that is made for it begins as its reader wants."""
    return fence.put(_HEAD.get(kind, "") if held is None else held, NAME, said, _note(said))


def without(held: str) -> str:
    """Return a text without our block."""
    return fence.remove(held, NAME)


def nothing_else(kind: str, rest: str) -> bool:
    """Tell whether what is left of a file says nothing: blank, or what we put at its top."""
    return rest.strip("\ufeff \t\r\n").replace("\r\n", "\n") in ("", _HEAD.get(kind, "").strip())


def whole(held: str) -> bool:
    """Tell whether a text has no block of ours, or one that begins once and ends once."""
    return fence.whole(held, NAME)


def edited(held: str) -> bool:
    """Tell whether somebody wrote inside our block."""
    said = fence.held(held, NAME)
    return said is not None and fence.note(held, NAME) != _note(said)


def _note(said: str) -> str:
    """Return what the opening fence says: how it is told whether the block is as we left it."""
    import hashlib

    lines = "\n".join(said.strip().splitlines())
    return f"{hashlib.sha256(lines.encode('utf-8', 'replace')).hexdigest()[:16]}; by `engram patterns distribute`"
