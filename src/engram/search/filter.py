"""Filters on search results: session, project, domain, agent, outcome, file, tool, role, tier and time."""

from __future__ import annotations

from typing import Any

import numpy as np

from engram.errors import InvalidInput
from engram.hub import Hub
from engram.index.doc_kinds import EXCHANGES, KINDS, TIERS
from engram.index.snapshot import IndexSnapshot, hash_session_id
from engram.platform.value import value
from engram.search.time_expressions import Window
from engram.store import passages, sessions

Array = np.ndarray[Any, Any]

ROLES = KINDS[:EXCHANGES]


@value
class Filter:
    """Conditions a hit must meet; None means any."""

    session: str | None = None
    exclude: str | None = None
    project: str | None = None
    domain: str | None = None
    flavor: str | None = None
    outcome: str | None = None
    file: str | None = None
    tool: str | None = None
    role: str | None = None
    tiers: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None

    @property
    def session_criteria(self) -> dict[str, str]:
        """The conditions on the session of a hit."""
        names = ("session", "project", "domain", "flavor", "outcome", "file", "tool")
        values = {name: getattr(self, name) for name in names}
        return {name: wanted for name, wanted in values.items() if wanted is not None}


def parse_tiers(names: list[str] | None) -> tuple[str, ...]:
    """Return the given tiers; raise InvalidInput for an unknown one."""
    for name in names or ():
        if name not in TIERS:
            raise InvalidInput(field="tiers", reason=f"Unknown value {name!r}. Choose one of: {', '.join(TIERS)}.")
    return tuple(names or ())


def check_choice(field: str, choice: str | None, choices: tuple[str, ...]) -> str | None:
    """Return the choice; raise InvalidInput for an unknown one, which would otherwise seem to find nothing."""
    if choice and choice not in choices:
        raise InvalidInput(field=field, reason=f"Unknown value {choice!r}. Choose one of: {', '.join(choices)}.")
    return choice or None


def limit_to_window(filters: Filter, window: Window | None) -> Filter:
    """Return the filter limited to a time window, unless it already has times."""
    if window is None:
        return filters
    edges = {"since": window.since, "until": window.until}
    window_edges = {name: round(edge.timestamp() * 1_000_000) for name, edge in edges.items() if edge is not None}
    own = {name: setting for name, setting in vars(filters).items() if setting is not None}
    return Filter(**{**window_edges, **own})


def build_mask(hub: Hub, snapshot: IndexSnapshot, filters: Filter) -> Array:
    """Return a mask of the docs that pass the filters."""
    allowed = np.ones(snapshot.count, bool)
    if filters.session_criteria:
        session_ids = [
            *sessions.find_matching_ids(hub.engine, **filters.session_criteria),
            *_find_project_documents(hub, filters),
        ]
        numbers = [hash_session_id(session_id) for session_id in session_ids]
        allowed &= np.isin(snapshot.session_numbers, numbers)[snapshot.session_of]
    if filters.exclude:
        allowed &= (snapshot.session_numbers != hash_session_id(filters.exclude))[snapshot.session_of]
    if filters.role:
        allowed &= snapshot.kinds == (KINDS.index(filters.role) if filters.role in KINDS[:EXCHANGES] else 255)
    if filters.tiers:
        allowed &= np.isin(
            snapshot.kinds, [number for number, kind in enumerate(KINDS) if _tier_of_kind(kind) in filters.tiers]
        )
    if filters.since is not None:
        allowed &= snapshot.times >= filters.since
    if filters.until is not None:
        allowed &= snapshot.times < filters.until
    return allowed


def _find_project_documents(hub: Hub, filters: Filter) -> list[str]:
    """Return the guides and the world state of a project, unless other session filters apply."""
    if set(filters.session_criteria) != {"project"}:
        return []
    return [key for kind in ("guide", "world") for key in passages.list_documents(hub.engine, kind, filters.project)]


def _tier_of_kind(kind: str) -> str:
    return "exchange" if kind in KINDS[:EXCHANGES] else kind
