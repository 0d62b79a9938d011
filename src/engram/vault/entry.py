"""What an entry says: the facts and quotes of a piece of conversation, or what a model made of it. Pure."""

from __future__ import annotations

from engram.memory.extract import extract
from engram.memory.forms import DECIDED, FACT, OPEN, SAID, WISHED
from engram.text import inline
from engram.vault.links import unlinked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

_TOKENS = 500  # of quotes
_LONGEST, _PROSE = 400, 2000  # characters of one item, and of prose
_ITEMS, _FILES = 8, 20  # of one list
_LEAST = 40  # characters somebody must have said for an entry to be worth its place
_MADE = (("exchanges", "Key Exchanges"), ("decisions", "Decisions Made"), ("lessons", "Lessons Learned"),
         ("actions", "Action Items"))  # fmt: skip


def worth_it(rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> bool:
    """Tell whether anything was said or done that somebody may look for."""
    said = sum(len(row["content"].strip()) for row in rows if row["role"] == "user")
    return bool(said) and (said >= _LEAST or any(facts.get(name) for name in ("changed", "errors", "commits", "tests")))


def extracted(rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> str:
    """Return an entry made of what was said and of what was done, nothing of it reworded."""
    lines = extract(rows, _TOKENS)
    quotes = {kind: [line.text for line in lines if line.kind == kind] for kind in (DECIDED, WISHED, FACT, OPEN, SAID)}
    blocks = [
        _line("Goal", facts.get("goal") or _first(rows)),
        _list("Asked", facts.get("then")),
        _list("Decided", quotes[DECIDED]),
        _list("Told", [*quotes[WISHED], *quotes[FACT]]),
        _list("Corrected", facts.get("corrections")),
        _list("Changed", facts.get("changed"), code=True),
        _list("Failed", facts.get("errors")),
        _line("Tests", _tests(facts.get("tests"))),
        _list("Commits", facts.get("commits")),
        _list("Open", [*(facts.get("open") or ()), *quotes[OPEN]]),
        _line("Ended", _ending(facts, rows)),
    ]
    return "\n\n".join(block for block in blocks if block)


def thought(made: Mapping[str, Any]) -> str:
    """Return an entry from what a model made of a conversation."""
    blocks = [_line("Context", made.get("context"), _PROSE)]
    blocks += [_list(title, made.get(name)) for name, title in _MADE]
    return "\n\n".join(block for block in blocks if block)


def quoted(rows: Iterable[Mapping[str, Any]], longest: int) -> str:
    """Return a conversation as it is shown to a model."""
    return "\n\n".join(f"{row['role']}: {row['content'].strip()[:longest]}" for row in rows)


def pieces(rows: Sequence[Mapping[str, Any]], size: int) -> list[list[Mapping[str, Any]]]:
    """Cut a conversation where a person begins to speak, into pieces of at most so many characters if that can be."""
    found: list[list[Mapping[str, Any]]] = [[]]
    held = 0
    for turn in _turns(rows):
        length = sum(len(row["content"]) for row in turn)
        if found[-1] and held + length > size:
            found.append([])
            held = 0
        found[-1] += turn
        held += length
    return [piece for piece in found if piece]


def _turns(rows: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    found: list[list[Mapping[str, Any]]] = []
    for row in rows:
        if row["role"] == "user" or not found:
            found.append([])
        found[-1].append(row)
    return found


def _line(title: str, said: str | None, longest: int = _LONGEST) -> str:
    return f"**{title}:** {_shown(said, longest)}" if said and said.strip() else ""


def _list(title: str, items: Iterable[str] | None, *, code: bool = False) -> str:
    shown = list(dict.fromkeys(_shown(each) for each in items or () if each and each.strip()))
    if not shown:
        return ""
    most = _FILES if code else _ITEMS
    lines = [f"- `{each}`" if code and not each.startswith("+") else f"- {each}" for each in shown[:most]]
    more = [f"- … {len(shown) - most} more"] if len(shown) > most else []
    return "\n".join([f"**{title}:**", *lines, *more])


def _shown(said: str | None, longest: int = _LONGEST) -> str:
    """Return a text on one line that cannot pass for a heading, a link or a comment of ours."""
    return unlinked(inline(said, longest))


def _tests(tests: Mapping[str, Any] | None) -> str:
    if not tests:
        return ""
    failed = f", {tests['failed']} failed" if tests.get("failed") else ""
    last = {True: ", the last passed", False: ", the last failed"}.get(bool(tests["last"])) if "last" in tests else ""
    return f"{tests['runs']} runs{failed}{last}"


def _ending(facts: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how it ended, unless that is said already as what is open."""
    said = str(facts.get("ended") or _last(rows))
    return "" if said in (facts.get("open") or ()) else said


def _first(rows: Sequence[Mapping[str, Any]]) -> str:
    return next((row["content"] for row in rows if row["role"] == "user"), "")


def _last(rows: Sequence[Mapping[str, Any]]) -> str:
    return next((row["content"] for row in reversed(rows) if row["role"] == "assistant"), "")
