"""Forgetting is real: what was made of a deleted session goes with it."""

from __future__ import annotations

from json import dumps

from engram.memory import versions
from engram.memory.self_state import get_self_state, keep
from engram.memory.versions import ERA, EVERYTHING, EXTRACT, GIST, NARRATIVE, PROFILE, SELF, STANDING
from engram.store import documents, gisted, news, passages, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.hub import Hub
    from engram.store.engine import Row


def mark_deleted(hub: Hub, session_id: str) -> list[str]:
    """Remove every version of everything made of a session, and return what has to be made again; in a transaction.

    An older version that knew nothing of the session stands again until `integrate` makes a new one.
    """
    for kind in (GIST, EXTRACT):
        documents.delete(hub.engine, kind, session_id)
    passages.drop(hub.engine, GIST, session_id)
    gisted.drop(hub.engine, session_id)
    news.drop(hub.engine, session_id)
    for row in documents.naming(hub.engine, STANDING, versions.quoted(session_id)):
        documents.delete(hub.engine, STANDING, row["key"])
    began = int((sessions.get(hub.engine, session_id) or {"started_at": 0})["started_at"])
    _hush(hub, began)
    return [name for kind in (ERA, PROFILE, NARRATIVE) for name in _forgotten(hub, kind, session_id, began)]


def _hush(hub: Hub, began: int) -> None:
    """Take the words out of every self state since a session began, in all versions: they may speak of it."""
    for key in documents.numbers(hub.engine, SELF):
        newest = documents.current(hub.engine, SELF, key)
        if newest and newest["made_at"] < began:
            continue
        state = get_self_state(hub, key)
        documents.delete(hub.engine, SELF, key)
        if left := _wordless(state):
            keep(hub, key, dumps(left), versions.GIVEN)


def _wordless(state: Any) -> Any:
    """Return what a state says in numbers: drives and moods stay."""
    if isinstance(state, dict):
        return {name: left for name, each in state.items() if (left := _wordless(each)) not in (None, {}, [])}
    if isinstance(state, list):
        return [left for each in state if (left := _wordless(each)) not in (None, {}, [])]
    return None if isinstance(state, str) else state


def _forgotten(hub: Hub, kind: str, session_id: str, began: int) -> list[str]:
    newest = documents.numbers(hub.engine, kind)
    found: list[str] = []
    for row in _made_of(hub, kind, session_id, began):
        documents.delete(hub.engine, kind, row["key"], row["version"])
        if newest[row["key"]] == row["version"]:
            found.append(f"{kind} {row['key']}")
    for name in found:
        _show_last(hub, kind, name.removeprefix(f"{kind} "))
    return found


def _made_of(hub: Hub, kind: str, session_id: str, began: int) -> list[Row]:
    """Return the versions with a session among their sources, or made of nobody knows what since it began."""
    asked = (session_id, EVERYTHING)
    rows = [row for each in asked for row in documents.naming(hub.engine, kind, versions.quoted(each))]
    named = [(row, _sessions(row)) for row in rows]
    return [
        row for row, made_of in named if session_id in made_of or (EVERYTHING in made_of and row["made_at"] >= began)
    ]


def _sessions(row: Row) -> list[str]:
    found = versions.loaded(row["sources"]).get("sessions", ())
    return [found] if isinstance(found, str) else list(found)


def _show_last(hub: Hub, kind: str, key: str) -> None:
    row = documents.current(hub.engine, kind, key)
    if row is None:
        passages.drop(hub.engine, kind, key)
    else:
        versions.show(hub, row)
