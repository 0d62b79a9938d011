"""The decisions of a project that are worth a line: what was settled, once each, and what became of it."""

from __future__ import annotations

from engram.evidence import lasting
from engram.evidence.decision_text import is_put_as_question
from engram.platform import plain_json
from engram.platform.value import value
from engram.store import episodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from engram.hub import Hub
    from engram.store.engine import Row

IN_FORCE, SUPERSEDED, REJECTED = "in force", "superseded", "rejected"
_READ = 2_000  # decisions of a project
_COMPARED = 40  # earlier decisions that one is compared with
_SAME_WORDS = 0.75  # share of the words of the shorter of two decisions that say the same
_LEAST_WORDS = 3  # words that name what a decision is about
_SHARED_WORDS, _SHARED = 2, 0.3  # words, and share of them, that a decision and its successor have in common
_BY_PERSON = ("rule", "correction", "answer")


@value
class DecisionEntry:
    """A decision and what became of it."""

    text: str
    about: str  # the question or proposal it settles
    status: str
    is_rule: bool  # a person's rule for work to come
    session_id: str
    at: int
    place: tuple[int, int]  # its episode
    successor: str = ""
    succeeded_at: int = 0


def list_decisions(hub: Hub, project: str) -> list[DecisionEntry]:
    """Return the decisions of a project, newest first, each once."""
    decided = episodes.list_items(hub.engine, "decision", _READ, project=project)
    rejected = episodes.list_items(hub.engine, "rejected", _READ, project=project)
    by_id = {row["id"]: row for row in decided}
    rows = sorted([*decided, *rejected], key=lambda row: (-row["at"], row["id"]))
    return [_build_entry(row, by_id) for row in _keep_distinct(row for row in rows if is_settled(row["text"]))]


def is_settled(text: str) -> bool:
    """Return whether a text settles something that holds beyond the step at hand."""
    bare = text.strip()
    if lasting.is_about_procedure(bare) or is_put_as_question(bare):
        return False
    return lasting.names_something(bare)


def _keep_distinct(rows: Iterable[Row]) -> list[Row]:
    """Drop what a newer decision says in nearly the same words: forks repeat it, and people say it again."""
    kept: list[Row] = []
    words_of_kept: list[frozenset[str]] = []
    for row in rows:
        words = frozenset(row["words"].split())
        if len(words) < _LEAST_WORDS or any(_is_same(words, other) for other in words_of_kept[-_COMPARED:]):
            continue
        kept.append(row)
        words_of_kept.append(words)
    return kept


def _is_same(words: frozenset[str], other: frozenset[str]) -> bool:
    shorter = min(len(words), len(other))
    return len(words & other) >= _SAME_WORDS * shorter and max(len(words), len(other)) <= 2 * shorter


def _find_successor(row: Row, by_id: dict[str, Row]) -> Row | None:
    """Return the decision that replaced one; none if they have no subject in common."""
    newer = by_id.get(row["superseded_by"] or "")
    if newer is None:
        return None
    words, other = (frozenset(item["words"].split()) for item in (row, newer))
    return newer if len(words & other) >= max(_SHARED_WORDS, _SHARED * min(len(words), len(other))) else None


def _build_entry(row: Row, by_id: dict[str, Row]) -> DecisionEntry:
    facts = plain_json.loads(row["facts"])
    newer = _find_successor(row, by_id)
    status = REJECTED if row["kind"] == "rejected" else SUPERSEDED if newer else IN_FORCE
    return DecisionEntry(
        text=row["text"], about=facts.get("about") or "", status=status,
        is_rule=facts.get("kind") in _BY_PERSON and lasting.is_standing(row["text"]),
        session_id=row["session_id"], at=row["at"], place=(row["capture"], row["episode"]),
        successor=newer["text"] if newer else "", succeeded_at=newer["at"] if newer else 0,
    )  # fmt: skip
