"""Build a log entry from the facts and quotes of a conversation, or from a model's draft. Pure."""

from __future__ import annotations

from engram.platform.text import escape_inline
from engram.summaries.extract import extract_lines
from engram.summaries.statement_kinds import DECIDED, FACT, OPEN, SAID, WISHED
from engram.wiki.vault.links import escape_links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

_QUOTE_TOKENS = 500  # tokens of all quotes
_ITEM_CHARS, _PROSE_CHARS = 400, 2000  # characters of an item, and of prose
_MAX_ITEMS, _MAX_FILES = 8, 20  # items of a list
_MIN_USER_CHARS = 40  # characters a user must have written to make an entry worthwhile
_MODEL_LISTS = (("exchanges", "Key Exchanges"), ("decisions", "Decisions Made"), ("lessons", "Lessons Learned"),
         ("actions", "Action Items"))  # fmt: skip


def is_worth_logging(rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> bool:
    """Check whether a conversation is worth logging."""
    user_chars = sum(len(row["content"].strip()) for row in rows if row["role"] == "user")
    return bool(user_chars) and (
        user_chars >= _MIN_USER_CHARS or any(facts.get(name) for name in ("changed", "errors", "commits", "tests"))
    )


def extract_entry(rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> str:
    """Build an entry from quotes and facts, nothing reworded."""
    lines = extract_lines(rows, _QUOTE_TOKENS)
    quotes = {kind: [line.text for line in lines if line.kind == kind] for kind in (DECIDED, WISHED, FACT, OPEN, SAID)}
    blocks = [
        _format_line("Goal", facts.get("goal") or _find_first_request(rows)),
        _format_list("Asked", facts.get("then")),
        _format_list("Decided", quotes[DECIDED]),
        _format_list("Notes", [*quotes[WISHED], *quotes[FACT]]),
        _format_list("Corrected", facts.get("corrections")),
        _format_list("Changed", facts.get("changed"), code=True),
        _format_list("Failed", facts.get("errors")),
        _format_line("Tests", _format_tests(facts.get("tests"))),
        _format_list("Commits", facts.get("commits")),
        _format_list("Open", [*(facts.get("open") or ()), *quotes[OPEN]]),
        _format_line("Ended", _find_ending(facts, rows)),
    ]
    return "\n\n".join(block for block in blocks if block)


def format_model_entry(draft: Mapping[str, Any]) -> str:
    """Build an entry from a model's draft."""
    blocks = [_format_line("Context", draft.get("context"), _PROSE_CHARS)]
    blocks += [_format_list(title, draft.get(name)) for name, title in _MODEL_LISTS]
    return "\n\n".join(block for block in blocks if block)


def format_conversation(rows: Iterable[Mapping[str, Any]], max_chars: int) -> str:
    """Format a conversation for the model's prompt."""
    return "\n\n".join(f"{row['role']}: {row['content'].strip()[:max_chars]}" for row in rows)


def split_conversation(rows: Sequence[Mapping[str, Any]], size: int) -> list[list[Mapping[str, Any]]]:
    """Split a conversation at user messages, into pieces of at most `size` characters if possible."""
    conversation_pieces: list[list[Mapping[str, Any]]] = [[]]
    piece_chars = 0
    for turn in _group_turns(rows):
        length = sum(len(row["content"]) for row in turn)
        if conversation_pieces[-1] and piece_chars + length > size:
            conversation_pieces.append([])
            piece_chars = 0
        conversation_pieces[-1] += turn
        piece_chars += length
    return [piece for piece in conversation_pieces if piece]


def _group_turns(rows: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    turns: list[list[Mapping[str, Any]]] = []
    for row in rows:
        if row["role"] == "user" or not turns:
            turns.append([])
        turns[-1].append(row)
    return turns


def _format_line(title: str, text: str | None, max_chars: int = _ITEM_CHARS) -> str:
    return f"**{title}:** {_to_one_line(text, max_chars)}" if text and text.strip() else ""


def _format_list(title: str, items: Iterable[str] | None, *, code: bool = False) -> str:
    lines_shown = list(dict.fromkeys(_to_one_line(item) for item in items or () if item and item.strip()))
    if not lines_shown:
        return ""
    limit = _MAX_FILES if code else _MAX_ITEMS
    lines = [f"- `{item}`" if code and not item.startswith("+") else f"- {item}" for item in lines_shown[:limit]]
    more = [f"- … {len(lines_shown) - limit} more"] if len(lines_shown) > limit else []
    return "\n".join([f"**{title}:**", *lines, *more])


def _to_one_line(text: str | None, max_chars: int = _ITEM_CHARS) -> str:
    """Return a text on one line that cannot be read as a heading, link or comment."""
    return escape_links(escape_inline(text, max_chars))


def _format_tests(tests: Mapping[str, Any] | None) -> str:
    if not tests:
        return ""
    failed = f", {tests['failed']} failed" if tests.get("failed") else ""
    last = {True: ", the last passed", False: ", the last failed"}.get(bool(tests["last"])) if "last" in tests else ""
    return f"{tests['runs']} runs{failed}{last}"


def _find_ending(facts: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how it ended, unless the open items already say so."""
    ending = str(facts.get("ended") or _find_last_answer(rows))
    return "" if ending in (facts.get("open") or ()) else ending


def _find_first_request(rows: Sequence[Mapping[str, Any]]) -> str:
    return next((row["content"] for row in rows if row["role"] == "user"), "")


def _find_last_answer(rows: Sequence[Mapping[str, Any]]) -> str:
    return next((row["content"] for row in reversed(rows) if row["role"] == "assistant"), "")
