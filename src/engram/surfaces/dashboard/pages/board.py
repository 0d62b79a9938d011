"""The parts of the live board: what each shows, and how it is drawn."""

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
from engram.model import Activity, Lock, Session, WorldState
from engram.surfaces.dashboard import frame, words
from engram.surfaces.dashboard.drawing import diff
from engram.value import value

_CARDS = 60  # more than anybody looks at
_LOCKS, _LAPSED, _DONE, _MESSAGES, _WORLDS = 200, 30, 20, 12, 6
_TRAIL, _SHOWN = 100, 12  # entries looked at for those that tell of a conflict, and how many are shown
_UNREAD = 1000
_SILENT = timedelta(days=1)  # who gave no sign of life for longer gets no card
_CONFLICTS = ("refused", "takeover", "trespassed", "reopened")

Facts = dict[str, Any]


def _nothing(_: Engram, __: Facts) -> Facts:
    return {}


@value
class Part:
    """A part of the board: two looks that find the same need no new drawing."""

    id: str
    template: str
    look: Callable[[Engram], Facts]
    more: Callable[[Engram, Facts], Facts] = _nothing  # worth its work only when the part is drawn

    def facts(self, engram: Engram) -> Facts:
        """Return all that the template wants."""
        seen = self.look(engram)
        return seen | self.more(engram, seen)

    def draw(self, engram: Engram, seen: Facts) -> Markup:
        """Return the part as HTML, of what was seen."""
        return frame.part(engram, self.template, **seen, **self.more(engram, seen))


def _sessions(engram: Engram) -> Facts:
    """Return a card for each who is here, by project, and those who fell silent long ago."""
    found = engram.get_active_sessions(limit=_CARDS)
    locks = _steadied(engram.list_locks(limit=_LOCKS))
    held = _by_session(locks)
    unread = Counter(each.recipient for each in engram.list_messages(unread=True, limit=_UNREAD))
    since = words.now(engram) - _SILENT
    near = [each for each in found if each.last_heartbeat > since or each.id in held]
    rooms: dict[str, list[Facts]] = {}
    for each in sorted(near, key=lambda one: one.started_at, reverse=True):
        rooms.setdefault(each.project, []).append({
            "session": each, "locks": held.get(each.id, []), "unread": unread[each.id], "log": _log(engram, each),
            "waits": [lock for lock in locks if each.id in lock.waiters],
        })  # fmt: skip
    silent = [each for each in found if each not in near]
    return {"rooms": rooms, "silent": silent, "full": len(found) == _CARDS, "names": {each.id: each for each in found}}


def _log(engram: Engram, session: Session) -> str:
    """Return the last thing a session wrote down."""
    newest = engram.get_session_logs(session.id, limit=1)
    return newest[0].entry if newest else ""


def _steadied(found: list[Lock]) -> list[Lock]:
    """Return locks whose end does not tremble: it is told by two clocks, and a look a second later finds the same."""
    return [replace(each, until=each.until.replace(microsecond=0)) for each in found]


def _by_session(found: list[Lock]) -> dict[str, list[Lock]]:
    by: dict[str, list[Lock]] = {}
    for each in found:
        by.setdefault(each.session_id, []).append(each)
    return by


def _locks(engram: Engram) -> Facts:
    live, lapsed = engram.list_locks(limit=_LOCKS), engram.list_locks(limit=_LAPSED, lapsed=True)
    return {"locks": _steadied([*live, *lapsed])}


def _waiters(engram: Engram, seen: Facts) -> Facts:
    return {"names": _named(engram, (waiter for lock in seen["locks"] for waiter in lock.waiters))}


def _done(engram: Engram) -> Facts:
    return {"done": engram.get_recent_sessions(limit=_DONE)}


def _conflicts(engram: Engram) -> Facts:
    return {"trail": [each for each in engram.activity(limit=_TRAIL) if each.kind in _CONFLICTS][:_SHOWN]}


def _counted(engram: Engram, seen: Facts) -> Facts:
    trail: list[Activity] = seen["trail"]
    names = _named(engram, (one for each in trail for one in (each.session_id, each.detail.get("holder"))))
    return {"stats": engram.stats(), "names": names}


def _messages(engram: Engram) -> Facts:
    return {"messages": engram.list_messages(limit=_MESSAGES)}


def _writers(engram: Engram, seen: Facts) -> Facts:
    return {"names": _named(engram, (one for each in seen["messages"] for one in (each.sender, each.recipient)))}


def _worlds(engram: Engram) -> Facts:
    """Return the world states that changed last, that of everything among them, and which others there are."""
    found = engram.list_world_states()
    shown = [each for n, each in enumerate(found) if n < _WORLDS or not each.project]
    return {"worlds": shown, "others": [each.project for each in found if each not in shown]}


def _changes(engram: Engram, seen: Facts) -> Facts:
    """Return the last change of each world state, and the projects that have none."""
    worlds: list[WorldState] = seen["worlds"]
    here = {each.project for each in engram.get_active_sessions(limit=_CARDS)}
    return {
        "changes": {each.project: _change(engram, each) for each in worlds},
        "without": sorted(here - {"", *(each.project for each in worlds), *seen["others"]}),
        "names": _named(engram, (each.updated_by for each in worlds)),
        "ids": {each.project: blake2b(each.project.encode(), digest_size=6).hexdigest() for each in worlds},
    }


def _change(engram: Engram, state: WorldState) -> list[diff.Line]:
    if state.version == 1:
        return []
    try:
        return diff.lines(engram.world_diff(state.version - 1, state.version, state.project or None))
    except NotFound:  # an older version that was taken away
        return []


def _named(engram: Engram, ids: Iterable[str | None]) -> dict[str, Session]:
    """Return the sessions of these ids; whoever was deleted since is not among them."""
    found = {}
    for each in {one for one in ids if one}:
        try:
            found[each] = engram.get_session(each)
        except NotFound:
            continue
    return found


PARTS = {
    each.id: each
    for each in (
        Part("board", "now/_board.html", _sessions),
        Part("locks", "now/_locks.html", _locks, _waiters),
        Part("world", "now/_world.html", _worlds, _changes),
        Part("done", "now/_done.html", _done),
        Part("messages", "now/_messages.html", _messages, _writers),
        Part("conflicts", "now/_conflicts.html", _conflicts, _counted),
    )
}
