"""The parts of the live board: how to load and render each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from hashlib import blake2b
from typing import Any

from markupsafe import Markup

from engram.api import Engram
from engram.errors import NotFound
from engram.platform.value import value
from engram.surfaces.dashboard import layout, template_filters
from engram.surfaces.dashboard.drawing import diff
from engram.types import Activity, Lock, Session, WorldState

_MAX_CARDS = 60
_MAX_LOCKS, _MAX_LAPSED, _MAX_DONE, _MAX_MESSAGES, _MAX_WORLDS = 200, 30, 20, 12, 6
_MAX_ACTIVITY, _MAX_CONFLICTS = 100, 12  # activity entries searched for conflicts, and conflicts shown
_MAX_UNREAD = 1000
_SILENT_TIME = timedelta(days=1)  # sessions idle for longer get no card
_CONFLICT_KINDS = ("refused", "takeover", "trespassed", "reopened")

Facts = dict[str, Any]


def _load_nothing(_: Engram, __: Facts) -> Facts:
    return {}


@value
class BoardPart:
    """A part of the board; it is rendered again only if its loaded facts change."""

    id: str
    template: str
    load: Callable[[Engram], Facts]
    load_more: Callable[[Engram, Facts], Facts] = _load_nothing  # called only when the part is rendered

    def load_all(self, engram: Engram) -> Facts:
        """Return all values for the template."""
        facts = self.load(engram)
        return facts | self.load_more(engram, facts)

    def render(self, engram: Engram, facts: Facts) -> Markup:
        """Return the part as HTML."""
        return layout.render_part(engram, self.template, **facts, **self.load_more(engram, facts))


def _load_sessions(engram: Engram) -> Facts:
    """Return cards of active sessions by project, and the sessions that have been idle for long."""
    active = engram.get_active_sessions(limit=_MAX_CARDS)
    locks = _round_lock_ends(engram.list_locks(limit=_MAX_LOCKS))
    locks_by_session = _group_by_session(locks)
    unread = Counter(item.recipient for item in engram.list_messages(unread=True, limit=_MAX_UNREAD))
    since = template_filters.current_time(engram) - _SILENT_TIME
    recent = [item for item in active if item.last_heartbeat > since or item.id in locks_by_session]
    cards_by_project: dict[str, list[Facts]] = {}
    for item in sorted(recent, key=lambda session: session.started_at, reverse=True):
        cards_by_project.setdefault(item.project, []).append(
            {
                "session": item,
                "locks": locks_by_session.get(item.id, []),
                "unread": unread[item.id],
                "log": _last_log_entry(engram, item),
                "waits": [lock for lock in locks if item.id in lock.waiters],
            }
        )
    silent = [item for item in active if item not in recent]
    return {
        "rooms": cards_by_project,
        "silent": silent,
        "full": len(active) == _MAX_CARDS,
        "names": {item.id: item for item in active},
    }


def _last_log_entry(engram: Engram, session: Session) -> str:
    """Return the last log entry of a session."""
    newest = engram.get_session_logs(session.id, limit=1)
    return newest[0].entry if newest else ""


def _round_lock_ends(locks: list[Lock]) -> list[Lock]:
    """Round expiry times to seconds, because they jitter between reads and would look like changes."""
    return [replace(lock, until=lock.until.replace(microsecond=0)) for lock in locks]


def _group_by_session(locks: list[Lock]) -> dict[str, list[Lock]]:
    locks_by_session: dict[str, list[Lock]] = {}
    for lock in locks:
        locks_by_session.setdefault(lock.session_id, []).append(lock)
    return locks_by_session


def _load_locks(engram: Engram) -> Facts:
    live, lapsed = engram.list_locks(limit=_MAX_LOCKS), engram.list_locks(limit=_MAX_LAPSED, lapsed=True)
    return {"locks": _round_lock_ends([*live, *lapsed])}


def _load_waiters(engram: Engram, facts: Facts) -> Facts:
    return {"names": _find_sessions(engram, (waiter for lock in facts["locks"] for waiter in lock.waiters))}


def _load_done(engram: Engram) -> Facts:
    return {"done": engram.get_recent_sessions(limit=_MAX_DONE)}


def _load_conflicts(engram: Engram) -> Facts:
    return {
        "trail": [activity for activity in engram.activity(limit=_MAX_ACTIVITY) if activity.kind in _CONFLICT_KINDS][
            :_MAX_CONFLICTS
        ]
    }


def _load_conflict_stats(engram: Engram, facts: Facts) -> Facts:
    trail: list[Activity] = facts["trail"]
    names = _find_sessions(
        engram,
        (session_id for activity in trail for session_id in (activity.session_id, activity.detail.get("holder"))),
    )
    return {"stats": engram.stats(), "names": names}


def _load_messages(engram: Engram) -> Facts:
    return {"messages": engram.list_messages(limit=_MAX_MESSAGES)}


def _load_writers(engram: Engram, facts: Facts) -> Facts:
    return {
        "names": _find_sessions(
            engram, (session_id for message in facts["messages"] for session_id in (message.sender, message.recipient))
        )
    }


def _load_worlds(engram: Engram) -> Facts:
    """Return the recently changed world states and the global one, and the projects of the others."""
    states = engram.list_world_states()
    shown_states = [state for n, state in enumerate(states) if n < _MAX_WORLDS or not state.project]
    return {"worlds": shown_states, "others": [state.project for state in states if state not in shown_states]}


def _load_changes(engram: Engram, facts: Facts) -> Facts:
    """Return the last change of each world state, and the active projects without one."""
    worlds: list[WorldState] = facts["worlds"]
    active_projects = {item.project for item in engram.get_active_sessions(limit=_MAX_CARDS)}
    return {
        "changes": {item.project: _diff_last_change(engram, item) for item in worlds},
        "without": sorted(active_projects - {"", *(item.project for item in worlds), *facts["others"]}),
        "names": _find_sessions(engram, (item.updated_by for item in worlds)),
        "ids": {item.project: blake2b(item.project.encode(), digest_size=6).hexdigest() for item in worlds},
    }


def _diff_last_change(engram: Engram, state: WorldState) -> list[diff.DiffLine]:
    if state.version == 1:
        return []
    try:
        return diff.parse_diff(engram.world_diff(state.version - 1, state.version, state.project or None))
    except NotFound:  # the older version was deleted
        return []


def _find_sessions(engram: Engram, ids: Iterable[str | None]) -> dict[str, Session]:
    """Return the sessions with these ids, without deleted ones."""
    sessions_by_id = {}
    for session_id in {possible_id for possible_id in ids if possible_id}:
        try:
            sessions_by_id[session_id] = engram.get_session(session_id)
        except NotFound:
            continue
    return sessions_by_id


PARTS = {
    part.id: part
    for part in (
        BoardPart("board", "now/_board.html", _load_sessions),
        BoardPart("locks", "now/_locks.html", _load_locks, _load_waiters),
        BoardPart("world", "now/_world.html", _load_worlds, _load_changes),
        BoardPart("done", "now/_done.html", _load_done),
        BoardPart("messages", "now/_messages.html", _load_messages, _load_writers),
        BoardPart("conflicts", "now/_conflicts.html", _load_conflicts, _load_conflict_stats),
    )
}
