"""The sitrep: the computed picture of now, under a hard token budget."""

from __future__ import annotations

import os

from engram import host, text
from engram.clock import HOUR
from engram.coordination import locks, messages, projects, sessions, world_state
from engram.model import Lock, Message, Session, Sitrep, WorldState
from engram.operation import Help, operation
from engram.store import documents
from engram.store import sessions as session_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Annotated, Any

    from engram.hub import Hub

_SHOWN = 50  # more of one kind than anybody reads
_MARKERS = {"here": "●", "stale": "⚠ stale", "gone": "⚠ gone", "done": "✓"}
_EMPTY = (
    "No world state set yet, and nobody is here. Describe the work with `engram world set`, "
    "announce yourself with `engram register`; what you leave is what the next session finds here."
)


@operation()
def situation(
    hub: Hub,
    session_id: Annotated[str | None, Help("who asks: adds its messages, and means its project")] = None,
    project: Annotated[str | None, Help("which project; without it the one of session or directory")] = None,
) -> Sitrep:
    """Show the picture of now: world state, sessions, locks, messages, recent work."""
    return picture(hub, session_id, project, recent=True)


def picture(hub: Hub, session_id: str | None, project: str | None, *, recent: bool) -> Sitrep:
    """Return the picture of now, with or without what was completed lately."""
    row = sessions.require(hub, session_id) if session_id else None
    room = sessions.room(project) or (row["project"] if row else _here(hub))
    settings, now = hub.settings, hub.now()
    since = now - 24 * HOUR
    scope = room or None
    active = session_store.active(hub.engine, since, scope, _SHOWN + 1)
    others = session_store.active_elsewhere(hub.engine, since, room, _SHOWN + 1) if room else []
    done = session_store.recent(hub.engine, now - settings.recent_hours * HOUR, scope, _SHOWN + 1) if recent else []
    held = locks.list_locks(hub, scope, _SHOWN + 1)
    unread = messages.peek(hub, row["id"], _SHOWN + 1) if row else []
    found: dict[str, list[Any]] = {
        "sessions": active,
        "elsewhere": others,
        "locks": held,
        "unread": unread,
        "recent": done,
    }
    return Sitrep(
        project=room,
        world=_world(hub, room),
        sessions=tuple(sessions.view(hub, row) for row in active[:_SHOWN]),
        elsewhere=tuple(sessions.view(hub, row) for row in others[:_SHOWN]),
        locks=tuple(held[:_SHOWN]),
        unread=tuple(unread[:_SHOWN]),
        recent=tuple(sessions.view(hub, row) for row in done[:_SHOWN]),
        more={name: len(rows) - _SHOWN for name, rows in found.items() if len(rows) > _SHOWN},
    )


@operation()
def get_situation_report(
    hub: Hub,
    session_id: Annotated[str | None, Help("who asks: adds its messages, and means its project")] = None,
    project: Annotated[str | None, Help("which project; without it the one of session or directory")] = None,
    tokens: Annotated[int | None, Help("hard limit of its length")] = None,
) -> str:
    """Show the sitrep as markdown that fits a context window."""
    budget = sessions.positive("tokens", hub.settings.sitrep_tokens if tokens is None else tokens)
    return report(situation(hub, session_id, project), budget, hub.now())


def report(picture: Sitrep, budget: int, now: int) -> str:
    """Write a picture down within a budget, most useful things first, the rest one command away."""
    found = sections(picture, now)
    if not found:
        return text.cut(_EMPTY, budget)
    return written(found, _ORDER, budget)


def written(found: dict[str, list[str]], order: Sequence[str], budget: int) -> str:
    """Write sections down in an order, within a budget."""
    blocks = _fit(found, budget)
    return text.cut("\n\n".join(blocks[name] for name in order if name in blocks), budget)


# What a reader sees, top to bottom, and each section's share of a budget that is too small for all.
_ORDER = ("world", "project", "unread", "sessions", "locks", "recent", "elsewhere")
_SHARES = {
    "unread": 15, "rules": 12, "sessions": 20, "locks": 15, "work": 25, "page": 8, "project": 25, "world": 15,
    "user": 5, "recent": 7, "elsewhere": 3,
}  # fmt: skip
_REST = {
    "rules": "engram patterns list --state approved", "work": "engram sessions --captured", "page": "engram ask",
    "user": "engram profile",
    "world": "engram world show", "project": "engram world show --project .", "unread": "engram inbox",
    "sessions": "engram sessions", "locks": "engram locks", "recent": "engram sessions --recent",
    "elsewhere": "engram sessions --all",
}  # fmt: skip


def sections(picture: Sitrep, now: int) -> dict[str, list[str]]:
    """Return the lines of every section that has any, heading first."""
    found = {}
    for state in picture.world:
        if state.content.strip():
            found["project" if state.project else "world"] = _world_lines(state, now)
    listed: tuple[tuple[str, str, tuple[object, ...], list[str]], ...] = (
        ("unread", "**Unread messages ({n}), quoted as data:**", picture.unread, _message_lines(picture.unread, now)),
        ("sessions", "**Active sessions ({n}):**", picture.sessions, [_session_line(s) for s in picture.sessions]),
        ("locks", "**Locked resources:**", picture.locks, [_lock_line(lock, now) for lock in picture.locks]),
        ("recent", "**Recently completed:**", picture.recent, [_done_line(s, now) for s in picture.recent]),
        ("elsewhere", "**In other projects ({n}):**", picture.elsewhere, [_far_line(s) for s in picture.elsewhere]),
    )
    for name, heading, items, lines in listed:
        if items:
            count = f"{len(items)}{'+' if name in picture.more else ''}"
            found[name] = [heading.format(n=count), *lines]
    return found


def _fit(sections: dict[str, list[str]], budget: int) -> dict[str, str]:
    """Give every section its share of the budget, and what others leave of theirs."""
    full = {name: "\n".join(lines) for name, lines in sections.items()}
    sizes = {name: text.tokens(block) + 1 for name, block in full.items()}
    if sum(sizes.values()) <= budget:
        return full
    shares = {name: budget * _SHARES[name] // sum(_SHARES[each] for each in full) for name in _SHARES if name in full}
    spare = budget - sum(min(sizes[name], share) for name, share in shares.items())
    blocks = {}
    for name, share in shares.items():
        allowed = min(sizes[name], share + max(0, spare))
        spare -= allowed - min(sizes[name], share)
        blocks[name] = full[name] if allowed == sizes[name] else _shorten(name, full[name], allowed - 1)
    return {name: block for name, block in blocks.items() if block}


def _shorten(name: str, block: str, budget: int) -> str:
    pointer = f"… the rest: `{_REST[name]}`"
    kept = text.cut(block, budget - text.tokens(pointer) - 1)
    return f"{kept}\n{pointer}" if kept else ""


def _world(hub: Hub, project: str) -> tuple[WorldState, ...]:
    keys = (world_state.GLOBAL, project) if project else (world_state.GLOBAL,)
    rows = (documents.current(hub.engine, world_state.KIND, key) for key in keys)
    return tuple(world_state.view(row) for row in rows if row)


def _here(hub: Hub) -> str:
    """Return the project of our directory, if it is one: outside any, the picture is of everything."""
    here = None if hub.serving else host.directory()
    return projects.place(here).project if here else ""


def _world_lines(state: WorldState, now: int) -> list[str]:
    who = f" by `{text.inline(state.updated_by, 60)}`" if state.updated_by else ""
    title = f"World state of {text.inline(os.path.basename(state.project), 60)}" if state.project else "World state"
    head = f"**{title} (version {state.version}, {_ago(state.updated_at, now)}{who}), quoted as data:**"
    return [head, text.quote(state.content.strip())]


def _session_line(session: Session) -> str:
    branch = f" on {text.inline(session.branch, 40)}" if session.branch else ""
    kind = text.inline(session.session_type, 30)
    return f"- {_MARKERS[session.presence]} `{session.id}` ({kind}{branch}): {text.inline(session.summary)}"


def _far_line(session: Session) -> str:
    where = text.inline(os.path.basename(session.project) or "no project", 40)
    return f"{_session_line(session)} [{where}]"


def _done_line(session: Session, now: int) -> str:
    assert session.completed_at is not None
    said = text.inline(session.completion_summary or session.summary, 200)
    return f"- `{session.id}` ({text.inline(session.session_type, 30)}), {_ago(session.completed_at, now)}: {said}"


def _lock_line(lock: Lock, now: int) -> str:
    left = text.time_left(_microseconds(lock.until) - now)
    mode = "" if lock.mode == "exclusive" else f"{lock.mode}, "
    note = f": {text.inline(lock.note)}" if lock.note else ""
    waits = f", {len(lock.waiters)} waiting" if lock.waiters else ""
    return f"- `{text.inline(lock.resource, 200)}` by `{lock.session_id}` ({mode}{left} left{waits}){note}"


def _message_lines(found: tuple[Message, ...], now: int) -> list[str]:
    lines = []
    for message in found:
        lines += [
            f"- {messages.origin(message)}, {_ago(message.sent_at, now)}:",
            text.quote(text.one_line(message.body, 400)),
        ]
    return lines


def _ago(then: datetime, now: int) -> str:
    return f"{text.duration(now - _microseconds(then))} ago"


def _microseconds(then: datetime) -> int:
    return int(then.timestamp() * 1_000_000)
