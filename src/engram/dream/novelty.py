"""Novelty: what is new since the last reflection, against what was usual before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engram.clock import HOUR
from engram.digests.commands import signature
from engram.hub import Hub
from engram.store import captures, digests, news
from engram.value import value

if TYPE_CHECKING:
    from engram.store.engine import Row

_LOOKED = 1000  # sessions of one look; the rest come next time
_AT_ONCE = 100  # of them that are reflected on together, the newest
_LATELY = 30 * 24 * HOUR  # what was over longer ago, and is taken in only now, is history
_USUAL = 20  # earlier sessions of a project that say what is usual there
_ENOUGH = 5  # of them, to be surprised at all
_GOOD, _BAD = ("success",), ("failure", "abandoned")


@value
class Novelty:
    """What came since the last reflection."""

    rows: tuple[dict[str, Any], ...]  # digests, the newest first
    seen: tuple[dict[str, Any], ...]  # the news they came with, and those that are mere history
    projects: int  # nobody worked in before
    errors: int  # nobody met there before
    surprises: int  # sessions that ended otherwise than is usual there
    surprising: tuple[str, ...]  # those sessions


def since_reflection(hub: Hub) -> Novelty:
    """Return what is new, by the digests nobody has reflected on."""
    seen = news.waiting(hub.engine, news.REFLECT, _LOOKED)
    found = digests.of_sessions(hub.engine, [row["key"] for row in seen])
    lately = hub.now() - _LATELY
    rows = [row for row in found if row["relation"] != "subagent" and (row["last_at"] or 0) >= lately][:_AT_ONCE]
    mine = {row["session_id"] for row in rows}
    usual = {project: _usual(hub, project, mine) for project in {row["project"] for row in rows}}
    strange = [row["session_id"] for row in rows if _is_surprising(row, usual[row["project"]])]
    return Novelty(
        rows=tuple(rows), seen=tuple(seen),
        projects=sum(bool(project) and not before for project, before in usual.items()),
        errors=len(_errors(rows) - {each for before in usual.values() for each in _errors(before)}),
        surprises=len(strange), surprising=tuple(strange),
    )  # fmt: skip


def facts(row: Row) -> dict[str, Any]:
    """Return the facts of a digest; nothing for those nobody can read."""
    import orjson

    try:
        found = orjson.loads(row["facts"])
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def error_of(told: str) -> str:
    """Return an error of a digest without its count, place and mending."""
    return told.partition(" [")[0].partition(" ×")[0]


def _usual(hub: Hub, project: str, but: set[str]) -> list[Row]:
    """Return the digests of the last sessions of a project before the new ones."""
    found = captures.last_work(hub.engine, project, "", _USUAL + len(but))
    return digests.of_sessions(hub.engine, [row["id"] for row in found if row["id"] not in but][:_USUAL])


def _errors(rows: list[Row]) -> set[str]:
    return {signature(error_of(each)) for row in rows for each in facts(row).get("errors", ())}


def _is_surprising(row: Row, usual: list[Row]) -> bool:
    """Tell whether a session went wrong where they go well, or the other way round."""
    known = [each["outcome"] for each in usual if each["outcome"] in (*_GOOD, *_BAD)]
    if len(known) < _ENOUGH:
        return False
    well = sum(each in _GOOD for each in known) / len(known)
    return (row["outcome"] in _BAD and well >= 0.6) or (row["outcome"] in _GOOD and well <= 0.4)
