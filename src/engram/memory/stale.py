"""Forgetting is real: what was made of a deleted session goes with it, and nothing else does.

What was made of quotes goes whole and is made again of what is left. What somebody wrote loses the sentences that only
this session can have given it, in every version. What nobody knows the sources of stays as it is.
"""

from __future__ import annotations

from engram.memory import self_state, versions
from engram.memory.versions import ERA, EXTRACT, GIST, IMPORT, NARRATIVE, PERSON, PROFILE, QUOTES, SELF, STANDING
from engram.store import documents, gisted, news, passages
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.hub import Hub
    from engram.memory.traces import Traces
    from engram.store.engine import Row

_SHOWN = 5  # words
_REFLECTION = "reflection"  # the part of the own state that is made of sessions


@value
class Marked:
    """What the deletion of a session changes."""

    remade: tuple[str, ...]  # gone; made again of what is left, if something is
    changed: tuple[str, ...]  # without what came from it, and how much that was


def mark_deleted(hub: Hub, session_id: str, traces: Traces) -> Marked:
    """Take a session out of everything that was made of it, in every version; call inside a transaction."""
    for kind in (GIST, EXTRACT):
        documents.delete(hub.engine, kind, session_id)
    passages.drop(hub.engine, GIST, session_id)
    gisted.drop(hub.engine, session_id)
    news.drop(hub.engine, session_id)
    for row in documents.naming(hub.engine, STANDING, versions.quoted(session_id)):
        documents.delete(hub.engine, STANDING, row["key"])
    found = [_taken_out(hub, kind, session_id, traces) for kind in (ERA, PROFILE, NARRATIVE)]
    own = _out_of_self(hub, session_id, traces)
    return Marked(
        remade=tuple(name for each in found for name in each.remade),
        changed=tuple(name for each in found for name in each.changed) + own,
    )  # fmt: skip


def _taken_out(hub: Hub, kind: str, session_id: str, traces: Traces) -> Marked:
    newest = documents.numbers(hub.engine, kind)
    remade: list[str] = []
    changed: dict[str, str] = {}
    for row in _made_of(hub, kind, session_id):
        content, note = _left(row, session_id, traces)
        if content:
            _rewrite(hub, row, content, session_id)
        else:
            documents.delete(hub.engine, kind, row["key"], row["version"])
        if newest[row["key"]] == row["version"]:
            remade += [] if content else [row["key"]]
            changed |= {row["key"]: f"{kind} {row['key']} ({versions.author(row)}): {note}"} if note else {}
        elif note and not changed.get(row["key"]):
            changed[row["key"]] = f"{kind} {row['key']}: older versions"
    for key in {*remade, *changed}:
        _show_last(hub, kind, key)
    return Marked(
        remade=tuple(f"{kind} {key}" for key in remade),
        changed=tuple(note for key, note in changed.items() if key not in remade),
    )


def _made_of(hub: Hub, kind: str, session_id: str) -> list[Row]:
    """Return the versions with a session among their sources, whole, the oldest first."""
    named = documents.naming(hub.engine, kind, versions.quoted(session_id))
    rows = [documents.get(hub.engine, kind, row["key"], row["version"]) for row in named]
    return [row for row in rows if row and session_id in _sessions(row)]


def _left(row: Row, session_id: str, traces: Traces) -> tuple[str, str]:
    """Return what a version says without a session, and what was taken out; nothing where it goes whole."""
    who, others = versions.author(row), [each for each in _sessions(row) if each != session_id]
    if who == QUOTES or not (others or who == PERSON):
        return "", ""
    if who == IMPORT and row["kind"] in (PROFILE, NARRATIVE):
        return row["content"], ""  # which of the sessions that came with it are behind it, nobody wrote down
    left = traces.taken_out_of(row["content"], others)
    return left.content, f"{left.removed} of {left.sentences} sentences removed" if left.removed else ""


def _rewrite(hub: Hub, row: Row, content: str, session_id: str) -> None:
    facts = versions.loaded(row["sources"])
    facts["sessions"] = [each for each in _sessions(row) if each != session_id]
    documents.rewrite(hub.engine, row["kind"], row["key"], row["version"], content, versions.dumped(facts))


def _sessions(row: Row) -> list[str]:
    found = versions.loaded(row["sources"]).get("sessions", ())
    return [found] if isinstance(found, str) else list(found)


def _show_last(hub: Hub, kind: str, key: str) -> None:
    row = documents.current(hub.engine, kind, key)
    if row is None:
        passages.drop(hub.engine, kind, key)
    else:
        versions.show(hub, row)


def _out_of_self(hub: Hub, session_id: str, traces: Traces) -> tuple[str, ...]:
    """Take a session out of the reflections in every version of the own states; all else they say is not made of it."""
    changed: dict[str, None] = {}
    for row in documents.telling(hub.engine, SELF, versions.quoted(session_id)):
        state = self_state.read(row["content"]) or {}
        thought = state.get(_REFLECTION)
        content = row["content"]
        if isinstance(thought, dict) and session_id in (thought.get("sessions") or ()):
            changed[f"{SELF} {row['key']}: its reflection"] = None
            left = _reflected(thought, session_id, traces)
            state = {name: each for name, each in state.items() if name != _REFLECTION}
            content = self_state.written({**state, _REFLECTION: left} if left else state)
        _rewrite(hub, row, content, session_id)
    return tuple(changed)


def _reflected(thought: dict[str, Any], session_id: str, traces: Traces) -> dict[str, Any] | None:
    """Return a reflection without what a session gave to it; None if it was about nothing else."""
    others = [each for each in thought["sessions"] if each != session_id]
    if not others:
        return None
    lists = {name: each for name, each in thought.items() if isinstance(each, list) and name != "sessions"}
    items = [item for each in lists.values() for item in each]
    gone = [item for item in items if _names(item, session_id)]
    more = _words_of(gone) - _words_of([item for item in items if item not in gone])
    left = {
        name: [item for item in each if item not in gone and not traces.words_in(_text(item), others, more)]
        for name, each in lists.items()
    }
    narrative = traces.taken_out_of(str(thought.get("narrative") or ""), others, more).content
    return {**thought, **left, "narrative": narrative, "sessions": others}


def _words_of(items: list[Any]) -> set[str]:
    from engram.index.words import words

    return {word for item in items for word in words(_text(item))}


def _names(item: Any, session_id: str) -> bool:
    return isinstance(item, dict) and session_id in (item.get("sessions") or ())


def _text(item: Any) -> str:
    return str(item.get("text") or "") if isinstance(item, dict) else str(item)


def still_mentioned(hub: Hub, traces: Traces) -> tuple[str, ...]:
    """Return the documents of unknown sources that hold words which only the deleted sessions used."""
    rows = [row for kind in (ERA, PROFILE, NARRATIVE) for row in documents.currents(hub.engine, kind)]
    rows = [row for row in rows if versions.is_written(row)] + documents.currents(hub.engine, SELF)
    found = ((row, traces.words_in(row["content"])) for row in rows)
    return tuple(f"{row['kind']} {row['key']} ({', '.join(words[:_SHOWN])})" for row, words in found if words)
