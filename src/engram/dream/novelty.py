"""Novelty: what is new since the last reflection, compared to what is usual."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engram.clock import HOUR
from engram.evidence.error_signature import make_signature
from engram.hub import Hub
from engram.platform.value import value
from engram.store import captures, digests, dream_inbox

if TYPE_CHECKING:
    from engram.store.engine import Row

_LOOKED = 1000  # sessions read at a time; the rest follow next time
_AT_ONCE = 100  # of these, the newest reflected on together
_LATELY = 30 * 24 * HOUR  # sessions that ended earlier and are only ingested now are history
_USUAL = 20  # earlier sessions of a project that define what is usual
_ENOUGH = 5  # minimum of those to call something surprising
_GOOD, _BAD = ("success",), ("failure", "abandoned")


@value
class Novelty:
    """What is new since the last reflection."""

    rows: tuple[dict[str, Any], ...]  # digests, newest first
    seen: tuple[dict[str, Any], ...]  # all inbox rows read, including history
    projects: int  # new projects
    errors: int  # errors new in their project
    surprises: int  # sessions with an unusual outcome for their project
    surprising: tuple[str, ...]  # those sessions


def find_novelty(hub: Hub) -> Novelty:
    """Return what is new, from digests that were not reflected on yet."""
    inbox_rows = dream_inbox.list_waiting(hub.engine, dream_inbox.REFLECT, _LOOKED)
    digest_rows = digests.list_by_sessions(hub.engine, [row["key"] for row in inbox_rows])
    lately = hub.now() - _LATELY
    rows = [row for row in digest_rows if row["relation"] != "subagent" and (row["last_at"] or 0) >= lately][:_AT_ONCE]
    new_ids = {row["session_id"] for row in rows}
    usual = {project: _list_usual(hub, project, new_ids) for project in {row["project"] for row in rows}}
    strange = [row["session_id"] for row in rows if _is_surprising(row, usual[row["project"]])]
    return Novelty(
        rows=tuple(rows), seen=tuple(inbox_rows),
        projects=sum(bool(project) and not before for project, before in usual.items()),
        errors=len(_collect_errors(rows) - {error for before in usual.values() for error in _collect_errors(before)}),
        surprises=len(strange), surprising=tuple(strange),
    )  # fmt: skip


def load_facts(row: Row) -> dict[str, Any]:
    """Return the facts of a digest; empty if unreadable."""
    import orjson

    try:
        parsed = orjson.loads(row["facts"])
    except orjson.JSONDecodeError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def strip_error(error: str) -> str:
    """Return an error of a digest without its count, place and fix."""
    return error.partition(" [")[0].partition(" ×")[0]


def _list_usual(hub: Hub, project: str, excluded: set[str]) -> list[Row]:
    """Return the digests of the last sessions of a project before the new ones."""
    work_rows = captures.list_recent_work(hub.engine, project, "", _USUAL + len(excluded))
    return digests.list_by_sessions(hub.engine, [row["id"] for row in work_rows if row["id"] not in excluded][:_USUAL])


def _collect_errors(rows: list[Row]) -> set[str]:
    return {make_signature(strip_error(error)) for row in rows for error in load_facts(row).get("errors", ())}


def _is_surprising(row: Row, usual: list[Row]) -> bool:
    """Check whether a session failed where they usually succeed, or the other way round."""
    outcomes = [earlier["outcome"] for earlier in usual if earlier["outcome"] in (*_GOOD, *_BAD)]
    if len(outcomes) < _ENOUGH:
        return False
    well = sum(earlier in _GOOD for earlier in outcomes) / len(outcomes)
    return (row["outcome"] in _BAD and well >= 0.6) or (row["outcome"] in _GOOD and well <= 0.4)
