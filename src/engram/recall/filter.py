"""Which docs a question may bring: by session, project, domain, flavor, outcome, file, tool, role, tier and time."""

from __future__ import annotations

from typing import Any

import numpy as np

from engram.errors import InvalidInput
from engram.hub import Hub
from engram.index.kinds import EXCHANGES, KINDS, TIERS
from engram.index.shelf import Shelf, session_number
from engram.recall.when import Window
from engram.store import passages
from engram.store import sessions as session_store
from engram.value import value

Array = np.ndarray[Any, Any]

ROLES = KINDS[:EXCHANGES]


@value
class Filter:
    """What a hit must be; None asks for nothing."""

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
    def of_sessions(self) -> dict[str, str]:
        """Return what is asked of the session a hit comes from."""
        names = ("session", "project", "domain", "flavor", "outcome", "file", "tool")
        named = {name: getattr(self, name) for name in names}
        return {name: each for name, each in named.items() if each is not None}


def tiers(given: list[str] | None) -> tuple[str, ...]:
    """Return the tiers somebody names."""
    for each in given or ():
        if each not in TIERS:
            raise InvalidInput(field="tiers", reason=f"{each!r} is none; there are {', '.join(TIERS)}.")
    return tuple(given or ())


def one_of(field: str, given: str | None, known: tuple[str, ...]) -> str | None:
    """Return what somebody names, if there is such a thing: a wrong word would seem to find nothing."""
    if given and given not in known:
        raise InvalidInput(field=field, reason=f"{given!r} is none; there are {', '.join(known)}.")
    return given or None


def within(wanted: Filter, window: Window | None) -> Filter:
    """Return a filter that also keeps to a time, where it has none of its own."""
    if window is None:
        return wanted
    edges = {"since": window.since, "until": window.until}
    more = {name: round(edge.timestamp() * 1_000_000) for name, edge in edges.items() if edge is not None}
    own = {name: each for name, each in vars(wanted).items() if each is not None}
    return Filter(**{**more, **own})


def mask(hub: Hub, shelf: Shelf, wanted: Filter) -> Array:
    """Return which docs may be brought."""
    allowed = np.ones(shelf.count, bool)
    if wanted.of_sessions:
        found = [*session_store.matching(hub.engine, **wanted.of_sessions), *_of_no_session(hub, wanted)]
        numbers = [session_number(each) for each in found]
        allowed &= np.isin(shelf.session_numbers, numbers)[shelf.session_of]
    if wanted.exclude:
        allowed &= (shelf.session_numbers != session_number(wanted.exclude))[shelf.session_of]
    if wanted.role:
        allowed &= shelf.kinds == (KINDS.index(wanted.role) if wanted.role in KINDS[:EXCHANGES] else 255)
    if wanted.tiers:
        allowed &= np.isin(shelf.kinds, [number for number, kind in enumerate(KINDS) if _tier(kind) in wanted.tiers])
    if wanted.since is not None:
        allowed &= shelf.times >= wanted.since
    if wanted.until is not None:
        allowed &= shelf.times < wanted.until
    return allowed


def _of_no_session(hub: Hub, wanted: Filter) -> list[str]:
    """Return the guides and the world state of a project, where nothing else is asked of sessions."""
    if set(wanted.of_sessions) != {"project"}:
        return []
    return [key for kind in ("guide", "world") for key in passages.known(hub.engine, kind, wanted.project)]


def _tier(kind: str) -> str:
    return "exchange" if kind in KINDS[:EXCHANGES] else kind
