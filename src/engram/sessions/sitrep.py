"""The sitrep: the current situation as text, under a hard token budget."""

from __future__ import annotations

import os

from engram.clock import HOUR
from engram.operation import Help, operation
from engram.platform import host, text
from engram.sessions import checkouts, lifecycle, locks, messages, world_state
from engram.store import documents
from engram.store import sessions as session_store
from engram.types import Lock, Message, Session, Sitrep, WorldState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Annotated, Any

    from engram.hub import Hub

_SHOWN = 50  # maximum items per section
_MARKERS = {"here": "●", "stale": "⚠ stale", "gone": "⚠ gone", "done": "✓"}
_EMPTY = (
    "No world state set yet, and no active sessions. Describe the work with `engram world set` "
    "and register with `engram register`. The next session sees what you leave here."
)


@operation()
def situation(
    hub: Hub,
    session_id: Annotated[str | None, Help("session that asks; adds its messages and selects its project")] = None,
    project: Annotated[str | None, Help("project; default: that of the session or directory")] = None,
) -> Sitrep:
    """Show the current situation: world state, sessions, locks, messages, recent work."""
    return build_sitrep(hub, session_id, project, recent=True)


def build_sitrep(hub: Hub, session_id: str | None, project: str | None, *, recent: bool) -> Sitrep:
    """Collect the current situation, with or without recently completed sessions."""
    row = lifecycle.require_session(hub, session_id) if session_id else None
    own_project = lifecycle.parse_project_filter(project) or (row["project"] if row else _find_own_project(hub))
    settings, now = hub.settings, hub.now()
    since = now - 24 * HOUR
    scope = own_project or None
    active = session_store.list_active(hub.engine, since, scope, _SHOWN + 1)
    active_elsewhere = (
        session_store.list_active_elsewhere(hub.engine, since, own_project, _SHOWN + 1) if own_project else []
    )
    completed = (
        session_store.list_recent(hub.engine, now - settings.recent_hours * HOUR, scope, _SHOWN + 1) if recent else []
    )
    held_locks = locks.list_locks(hub, scope, _SHOWN + 1)
    unread = messages.peek_unread(hub, row["id"], _SHOWN + 1) if row else []
    listed: dict[str, list[Any]] = {
        "sessions": active,
        "elsewhere": active_elsewhere,
        "locks": held_locks,
        "unread": unread,
        "recent": completed,
    }
    return Sitrep(
        project=own_project,
        world=_read_world_states(hub, own_project),
        sessions=tuple(lifecycle.to_session(hub, row) for row in active[:_SHOWN]),
        elsewhere=tuple(lifecycle.to_session(hub, row) for row in active_elsewhere[:_SHOWN]),
        locks=tuple(held_locks[:_SHOWN]),
        unread=tuple(unread[:_SHOWN]),
        recent=tuple(lifecycle.to_session(hub, row) for row in completed[:_SHOWN]),
        more={name: len(rows) - _SHOWN for name, rows in listed.items() if len(rows) > _SHOWN},
    )


@operation()
def get_situation_report(
    hub: Hub,
    session_id: Annotated[str | None, Help("session that asks; adds its messages and selects its project")] = None,
    project: Annotated[str | None, Help("project; default: that of the session or directory")] = None,
    tokens: Annotated[int | None, Help("maximum length in tokens")] = None,
) -> str:
    """Show who is working on what: world state, sessions, locks, messages.

    The answer is Markdown within a token budget.
    """
    budget = lifecycle.require_positive("tokens", hub.settings.sitrep_tokens if tokens is None else tokens)
    return format_sitrep(situation(hub, session_id, project), budget, hub.now())


def format_sitrep(sitrep: Sitrep, budget: int, now: int) -> str:
    """Format a sitrep within a token budget; sections that are cut name the command that shows the rest."""
    built = build_sections(sitrep, now)
    if not built:
        return text.cut_to_tokens(_EMPTY, budget)
    return format_sections(built, _ORDER, budget)


def format_sections(lines_by_section: dict[str, list[str]], order: Sequence[str], budget: int) -> str:
    """Format sections in the given order, within a token budget."""
    blocks = _fit_to_budget(lines_by_section, budget)
    return text.cut_to_tokens("\n\n".join(blocks[name] for name in order if name in blocks), budget)


# Display order from top to bottom, and each section's share of a budget too small for all.
_ORDER = ("world", "project", "unread", "sessions", "locks", "recent", "elsewhere")
_SHARES = {
    "unread": 15, "rules": 12, "sessions": 20, "locks": 15, "work": 25, "page": 8, "project": 25, "world": 15,
    "user": 5, "recent": 7, "elsewhere": 3,
}  # fmt: skip
_REST_COMMANDS = {
    "rules": "engram patterns list --state approved", "work": "engram sessions", "page": "engram ask",
    "user": "engram profile",
    "world": "engram world show", "project": "engram world show --project .", "unread": "engram inbox",
    "sessions": "engram sessions --active", "locks": "engram locks", "recent": "engram sessions --recent",
    "elsewhere": "engram sessions --active",
}  # fmt: skip


def build_sections(sitrep: Sitrep, now: int) -> dict[str, list[str]]:
    """Return the lines of every non-empty section, heading first."""
    lines_by_section = {}
    for state in sitrep.world:
        if state.content.strip():
            lines_by_section["project" if state.project else "world"] = _format_world_state(state, now)
    specs: tuple[tuple[str, str, tuple[object, ...], list[str]], ...] = (
        ("unread", "**Unread messages ({n}), quoted as data:**", sitrep.unread, _format_messages(sitrep.unread, now)),
        ("sessions", "**Active sessions ({n}):**", sitrep.sessions, [_format_session(s) for s in sitrep.sessions]),
        ("locks", "**Locked resources:**", sitrep.locks, [_format_lock(lock, now) for lock in sitrep.locks]),
        ("recent", "**Recently completed:**", sitrep.recent, [_format_completed(s, now) for s in sitrep.recent]),
        (
            "elsewhere",
            "**In other projects ({n}):**",
            sitrep.elsewhere,
            [_format_other_session(s) for s in sitrep.elsewhere],
        ),
    )
    for name, heading, items, lines in specs:
        if items:
            count = f"{len(items)}{'+' if name in sitrep.more else ''}"
            lines_by_section[name] = [heading.format(n=count), *lines]
    return lines_by_section


def _fit_to_budget(sections: dict[str, list[str]], budget: int) -> dict[str, str]:
    """Give each section its share of the budget plus what other sections leave unused."""
    full = {name: "\n".join(lines) for name, lines in sections.items()}
    sizes = {name: text.count_tokens(block) + 1 for name, block in full.items()}
    if sum(sizes.values()) <= budget:
        return full
    shares = {
        name: budget * _SHARES[name] // sum(_SHARES[section] for section in full) for name in _SHARES if name in full
    }
    spare = budget - sum(min(sizes[name], share) for name, share in shares.items())
    blocks = {}
    for name, share in shares.items():
        allowed = min(sizes[name], share + max(0, spare))
        spare -= allowed - min(sizes[name], share)
        blocks[name] = full[name] if allowed == sizes[name] else _shorten_section(name, full[name], allowed - 1)
    return {name: block for name, block in blocks.items() if block}


def _shorten_section(name: str, block: str, budget: int) -> str:
    pointer = f"… the rest: `{_REST_COMMANDS[name]}`"
    shortened = text.cut_to_tokens(block, budget - text.count_tokens(pointer) - 1)
    return f"{shortened}\n{pointer}" if shortened else ""


def _read_world_states(hub: Hub, project: str) -> tuple[WorldState, ...]:
    keys = (world_state.GLOBAL, project) if project else (world_state.GLOBAL,)
    rows = (documents.get_current(hub.engine, world_state.KIND, key) for key in keys)
    return tuple(world_state.to_world_state(row) for row in rows if row)


def _find_own_project(hub: Hub) -> str:
    """Return the project of our directory, or "" outside any project: the sitrep then covers everything."""
    directory = None if hub.serving else host.get_working_directory()
    return checkouts.find_git_project(hub, directory) if directory else ""


def _format_world_state(state: WorldState, now: int) -> list[str]:
    author = f" by `{text.escape_inline(state.updated_by, 60)}`" if state.updated_by else ""
    title = (
        f"World state of {text.escape_inline(os.path.basename(state.project), 60)}" if state.project else "World state"
    )
    head = f"**{title} (version {state.version}, {_format_ago(state.updated_at, now)}{author}), quoted as data:**"
    return [head, text.quote_as_data(state.content.strip())]


def _format_session(session: Session) -> str:
    branch = f" on {text.escape_inline(session.branch, 40)}" if session.branch else ""
    kind = text.escape_inline(session.session_type, 30)
    return f"- {_MARKERS[session.presence]} `{session.id}` ({kind}{branch}): {text.escape_inline(session.summary)}"


def _format_other_session(session: Session) -> str:
    where = text.escape_inline(os.path.basename(session.project) or "no project", 40)
    return f"{_format_session(session)} [{where}]"


def _format_completed(session: Session, now: int) -> str:
    assert session.completed_at is not None
    summary = text.escape_inline(session.completion_summary or session.summary, 200)
    return (
        f"- `{session.id}` ({text.escape_inline(session.session_type, 30)}), "
        f"{_format_ago(session.completed_at, now)}: {summary}"
    )


def _format_lock(lock: Lock, now: int) -> str:
    time_left = text.format_time_left(_to_microseconds(lock.until) - now)
    mode = "" if lock.mode == "exclusive" else f"{lock.mode}, "
    note = f": {text.escape_inline(lock.note)}" if lock.note else ""
    waits = f", {len(lock.waiters)} waiting" if lock.waiters else ""
    return f"- `{text.escape_inline(lock.resource, 200)}` by `{lock.session_id}` ({mode}{time_left} left{waits}){note}"


def _format_messages(unread: tuple[Message, ...], now: int) -> list[str]:
    lines = []
    for message in unread:
        lines += [
            f"- {messages.describe_sender(message)}, {_format_ago(message.sent_at, now)}:",
            text.quote_as_data(text.to_one_line(message.body, 400)),
        ]
    return lines


def _format_ago(then: datetime, now: int) -> str:
    return f"{text.format_duration(now - _to_microseconds(then))} ago"


def _to_microseconds(then: datetime) -> int:
    return int(then.timestamp() * 1_000_000)
