"""Counts over the store, and the trail of what Engram did and prevented."""

from __future__ import annotations

import json

from engram import text
from engram.clock import HOUR, moment
from engram.coordination import locks, sessions
from engram.model import Activity, Rot, Stats
from engram.operation import Help, operation
from engram.store import activity as store
from engram.store import documents, messages, news
from engram.store import rot as rot_store
from engram.store import sessions as session_store
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Annotated

    from engram.hub import Hub
    from engram.store.engine import Row

_UNUSED = 30 * 24 * HOUR  # what nobody was shown for so long is not needed


@operation()
def stats(hub: Hub) -> Stats:
    """Count what the store holds and what it prevented."""
    return Stats(
        **session_store.counts(hub.engine),
        active_locks=len(locks.list_locks(hub, limit=100_000)),
        unread_messages=messages.unread_total(hub.engine),
        world_versions=documents.count(hub.engine, "world"),
        conflicts_prevented=store.count(hub.engine, "refused"),
        takeovers=store.count(hub.engine, "takeover"),
        rot=rot(hub),
    )


def rot(hub: Hub) -> Rot:
    """Tell how much of memory repeats itself, comes back to it, helps nobody, or no longer holds."""
    found = rot_store.figures(hub.engine, hub.now() - _UNUSED)
    of = max(1, found["documents"])
    parts = {"repeated": found["duplicates"] + found["near_duplicates"]}
    parts |= {name: found[name] for name in ("never_recalled", "stale")}
    shares = {name: round(min(1.0, count / of), 3) for name, count in parts.items()}
    return Rot(**found, waiting=news.count(hub.engine, news.ROT), shares=shares)


@value
class Project:
    """Where sessions worked."""

    project: str  # empty: nowhere in particular
    flavors: dict[str, int]  # sessions of each agent
    last_at: datetime


@operation()
def list_projects(hub: Hub) -> list[Project]:
    """Show every project sessions worked in, the last active first."""
    found: dict[str, list[Row]] = {}
    for row in session_store.by_project(hub.engine):
        found.setdefault(row["project"], []).append(row)
    projects = [
        Project(
            project=name, flavors={row["flavor"]: row["n"] for row in sorted(rows, key=lambda row: -row["n"])},
            last_at=moment(max(row["last_at"] for row in rows)),
        )
        for name, rows in found.items()
    ]  # fmt: skip
    return sorted(projects, key=lambda each: each.last_at, reverse=True)


@operation()
def activity(
    hub: Hub,
    kind: Annotated[str | None, Help("only refused, takeover, trespassed, reopened or imported")] = None,
    limit: Annotated[int, Help("at most so many")] = 20,
) -> list[Activity]:
    """Show what Engram did and prevented, newest first."""
    rows = store.newest(hub.engine, text.name_or_none("kind", kind), sessions.positive("limit", limit))
    return [
        Activity(
            id=row["id"], at=moment(row["at"]), kind=row["kind"], session_id=row["session_id"],
            project=row["project"], subject=row["subject"], detail=json.loads(row["detail"] or "{}"),
        )
        for row in rows
    ]  # fmt: skip
