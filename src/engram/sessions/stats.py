"""Counts over the store, and the activity log."""

from __future__ import annotations

import json

from engram.clock import HOUR, to_datetime
from engram.errors import InvalidInput
from engram.operation import Help, operation
from engram.platform import text
from engram.platform.value import value
from engram.sessions import lifecycle, locks
from engram.sessions.project_names import name_projects
from engram.store import activity as store
from engram.store import documents, dream_inbox, messages, rot
from engram.store import sessions as session_store
from engram.types import Activity, Rot, Stats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Annotated

    from engram.hub import Hub
    from engram.store.engine import Row

_ACTIVITY_KINDS = ("refused", "takeover", "trespassed", "reopened", "corrected", "imported", "joined", "separated")
_UNUSED = 30 * 24 * HOUR  # not shown by any recall for this long


@operation()
def stats(hub: Hub) -> Stats:
    """Show counts of what the store holds and what it prevented."""
    return Stats(
        **session_store.count_all(hub.engine),
        active_locks=len(locks.list_locks(hub, limit=100_000)),
        unread_messages=messages.count_all_unread(hub.engine),
        world_versions=documents.count_versions(hub.engine, "world"),
        conflicts_prevented=store.count_by_kind(hub.engine, "refused"),
        takeovers=store.count_by_kind(hub.engine, "takeover"),
        rot=measure_rot(hub),
    )


def measure_rot(hub: Hub) -> Rot:
    """Measure how much of the memory is duplicated, our own output, unused or outdated."""
    counts = rot.count_findings(hub.engine, hub.now() - _UNUSED)
    document_count = max(1, counts["documents"])
    parts = {"repeated": counts["duplicates"] + counts["near_duplicates"]}
    parts |= {name: counts[name] for name in ("never_recalled", "stale")}
    shares = {name: round(min(1.0, count / document_count), 3) for name, count in parts.items()}
    return Rot(**counts, waiting=dream_inbox.count_waiting(hub.engine, dream_inbox.ROT), shares=shares)


@value
class Project:
    """A project that sessions worked in."""

    project: str  # empty: no project
    name: str  # of its repository; with owner or folder where two projects share a name
    flavors: dict[str, int]  # sessions of each agent
    last_at: datetime


@operation()
def list_projects(hub: Hub) -> list[Project]:
    """Show every project with sessions, last active first."""
    rows_by_project: dict[str, list[Row]] = {}
    names = name_projects(hub)
    for row in session_store.count_by_project(hub.engine):
        rows_by_project.setdefault(row["project"], []).append(row)
    projects = [
        Project(
            project=name, name=names.get(name, ""),
            flavors={row["flavor"]: row["n"] for row in sorted(rows, key=lambda row: -row["n"])},
            last_at=to_datetime(max(row["last_at"] for row in rows)),
        )
        for name, rows in rows_by_project.items()
    ]  # fmt: skip
    return sorted(projects, key=lambda project: project.last_at, reverse=True)


@operation()
def activity(
    hub: Hub,
    kind: Annotated[
        str | None,
        Help("only this kind: refused, takeover, trespassed, reopened, corrected, imported, joined or separated"),
    ] = None,
    limit: Annotated[int, Help("maximum number to show")] = 20,
) -> list[Activity]:
    """Show what Engram did and prevented, newest first."""
    if kind and kind not in _ACTIVITY_KINDS:
        reason = f"Unknown value {kind!r}. Choose one of: {', '.join(_ACTIVITY_KINDS)}."
        raise InvalidInput(field="kind", reason=reason)
    rows = store.list_newest(
        hub.engine, text.validate_optional_name("kind", kind), lifecycle.require_positive("limit", limit)
    )
    return [
        Activity(
            id=row["id"], at=to_datetime(row["at"]), kind=row["kind"], session_id=row["session_id"],
            project=row["project"], subject=row["subject"], detail=json.loads(row["detail"] or "{}"),
        )
        for row in rows
    ]  # fmt: skip
