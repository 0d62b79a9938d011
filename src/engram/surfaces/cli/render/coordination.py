"""Live coordination as text for people: sessions, locks, messages, world states, what Engram prevented."""

from __future__ import annotations

from collections.abc import Sequence

from engram.platform import text
from engram.surfaces.cli.render import LIST_RENDERERS, render
from engram.surfaces.cli.render.layout import (
    MAX_ITEMS,
    Column,
    format_ago,
    format_facts,
    format_table,
    format_time,
    format_time_left,
    number_column,
)
from engram.surfaces.cli.render.project_labels import get_label
from engram.surfaces.cli.terminal import style
from engram.types import Activity, Imported, Lock, Log, Message, Rot, Sent, Session, Stats, WorldState

_STAT_NAMES = {"rot": "stale or duplicate", "takeovers": "locks taken over", "world_versions": "world state versions"}
_PRESENCE_LABELS = {
    "here": ("● running", "green"),
    "stale": ("● quiet", "yellow"),
    "gone": ("⚠ gone", "red"),
    "done": ("✓ done", None),
}


@render.register
def _(session: Session) -> str:
    return format_facts(list_session_facts(session))


def list_session_facts(session: Session) -> list[tuple[str, object]]:
    """Return what is known of a session from its agent, in the order people ask for it."""
    where = session.project + (f" on {session.branch}" if session.branch else "")
    return [
        ("session", session.id),
        ("agent", f"{session.flavor}, {session.model}" if session.model else session.flavor),
        ("type", session.session_type if session.session_type != session.flavor else None),
        ("state", format_presence(session)),
        ("summary", session.summary),
        ("project", where or None),
        ("domain", session.domain or None),
        ("directory", session.cwd if session.cwd != session.project else None),
        ("process", f"{session.process.pid} on {session.process.host}" if session.process else None),
        ("native id", session.native_id),
        ("started", format_time(session.started_at)),
        ("last seen", None if session.completed_at else format_ago(session.last_heartbeat)),
        ("completed", format_time(session.completed_at)),
        ("result", session.completion_summary),
        ("metadata", session.metadata),
    ]


@render.register
def _(lock: Lock) -> str:
    lines = [
        f"Locked {lock.resource} ({lock.kind}, {lock.mode}) for {format_time_left(lock.until)}, token {lock.token}."
    ]
    warnings = text.list_first(lock.overlaps, MAX_ITEMS, _describe_overlap, "overlapping lock")
    warnings += text.list_first(
        lock.clones, MAX_ITEMS, _describe_clone, "lock in another clone", "locks in other clones"
    )
    return "\n".join([*lines, *(style(f"⚠ {warning}", fg="yellow") for warning in warnings)])


def _describe_overlap(other: Lock) -> str:
    note = f': "{text.to_one_line(other.note)}"' if other.note else ""
    return f"{other.session_id} ({other.flavor}) also has {other.resource}, {other.mode}{note}."


def _describe_clone(other: Lock) -> str:
    return f"{other.session_id} ({other.flavor}) has the same file in another clone: {other.resource}."


@render.register
def _(message: Message) -> str:
    return _render_message(message, "")


def _render_message(message: Message, to: str) -> str:
    sender = f"{message.sender} ({message.flavor})" if message.sender else "a person"
    head = "Engram" if message.kind == "loss" else f"From {sender}"
    return f"{style(f'{head}{to}, {format_ago(message.sent_at)}:', bold=True)}\n{text.quote_as_data(message.body)}"


@render.register
def _(sent: Sent) -> str:
    if sent.waiting:
        return "Kept for the next session in this project."
    if not sent.recipients:
        return "No other session is running. Leave a message for the next one with `engram send next …`."
    return f"Sent to {', '.join(sent.recipients)}."


@render.register
def _(state: WorldState) -> str:
    author = f" by {state.updated_by}" if state.updated_by else ""
    scope = state.project or "all projects"
    head = f"World state of {scope}, version {state.version}, {format_ago(state.updated_at)}{author}"
    return f"{style(head, dim=True)}\n{state.content}"


@render.register
def _(log: Log) -> str:
    return f"{style(format_time(log.timestamp) or '', dim=True)}  {log.entry}"


@render.register
def _(stats: Stats) -> str:
    counts = ((name, getattr(stats, name)) for name in type(stats).__match_args__)
    return format_facts(
        (_STAT_NAMES.get(name, name.replace("_", " ")), render(count) if name == "rot" else f"{count:,}")
        for name, count in counts
    )


@render.register
def _(rot: Rot) -> str:
    counts = {
        "duplicates": rot.duplicates, "near-duplicates": rot.near_duplicates, "loops": rot.loops,
        "never recalled": rot.never_recalled, "stale": rot.stale, "contradicted": rot.contradicted,
    }  # fmt: skip
    problems = ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "none"
    waiting = f"; {rot.waiting} not checked yet" if rot.waiting else ""
    return f"{problems} in {text.format_count(rot.documents, 'document')}{waiting}"


@render.register
def _(imported: Imported) -> str:
    logs, locks = (
        text.format_count(imported.logs, "log entry", "log entries"),
        text.format_count(imported.locks, "lock"),
    )
    worlds = text.format_count(imported.world_versions, "world state version")
    counts = f"{text.format_count(imported.sessions, 'session')}, {logs}, {locks}, {worlds}"
    known = text.format_count(imported.already_here, "row was", "rows were")
    rest = f"{text.format_count(imported.updated, 'session')} updated, {known} already here"
    verb = "Would import" if imported.dry_run else "Imported"
    lines = [f"{verb} {imported.source}: {counts}; {rest}."]
    lines += [f"  repaired {count} × {problem}" for problem, count in imported.mended.items()]
    lines += [style(f"  left out {row}", fg="yellow") for row in imported.dropped]
    return "\n".join(lines)


def format_presence(session: Session) -> str:
    """Return whether a session is running, in colour."""
    label, colour = _PRESENCE_LABELS[session.presence]
    return style(label, fg=colour)


def _render_sessions(sessions: Sequence[Session]) -> str:
    columns = (
        Column("state"),
        Column("session"),
        Column("agent", drop=2),
        Column("project", min_width=8, drop=3),
        Column("last seen", drop=1),
        "summary",
    )
    rows = [
        (
            format_presence(session),
            session.id,
            session.flavor,
            _format_project(session),
            format_ago(session.completed_at or session.last_heartbeat),
            text.to_one_line(session.completion_summary or session.summary),
        )
        for session in sessions
    ]
    return format_table(columns, rows)


def _render_locks(locks: Sequence[Lock]) -> str:
    columns = (
        number_column("token", drop=5),
        Column("holder"),
        Column("agent", drop=3),
        Column("mode", drop=4),
        Column("expires in", right=True, drop=1),
        number_column("waiting", drop=6),
        Column("note", min_width=8, drop=2),
        Column("resource", keep_end=True),
    )
    rows = [
        (
            str(lock.token),
            lock.session_id,
            lock.flavor,
            lock.mode,
            format_time_left(lock.until),
            str(len(lock.waiters) or ""),
            text.to_one_line(lock.note),
            lock.resource,
        )
        for lock in locks
    ]
    return format_table(columns, rows)


def _render_world_versions(states: Sequence[WorldState]) -> str:
    columns: tuple[Column | str, ...] = (
        number_column("version"),
        Column("when", drop=2),
        Column("by", min_width=8, drop=1),
        number_column("tokens", drop=3),
        "begins",
    )
    rows: list[tuple[str, ...]] = [
        (
            str(state.version),
            format_ago(state.updated_at),
            state.updated_by or "",
            f"{text.count_tokens(state.content):,}",
            text.to_one_line(state.content),
        )
        for state in states
    ]
    if len({state.project for state in states}) > 1:
        columns = (Column("project", min_width=10, keep_end=True), *columns)
        rows = [(state.project or "all projects", *row) for state, row in zip(states, rows, strict=True)]
    return format_table(columns, rows)


def _render_activity(activities: Sequence[Activity]) -> str:
    columns = (
        Column("when"),
        Column("event"),
        Column("session", drop=2),
        Column("resource", min_width=12, keep_end=True),
        "detail",
    )
    rows = [
        (format_ago(activity.at), activity.kind, activity.session_id or "", activity.subject, _format_detail(activity))
        for activity in activities
    ]
    return format_table(columns, rows)


def _render_messages(messages: Sequence[Message]) -> str:
    """Return messages; the recipient is only named where there are several, so never in an inbox."""
    several = len({message.recipient for message in messages}) > 1
    return "\n\n".join(_render_message(message, _format_recipient(message) if several else "") for message in messages)


def _format_recipient(message: Message) -> str:
    if message.recipient is None:
        return f" for the next session in {get_label(message.project) or 'no project'}"
    return f" to {message.recipient}{'' if message.delivered_at else ' (unread)'}"


def _format_project(session: Session) -> str:
    name = get_label(session.project)
    return f"{name}@{session.branch}" if name and session.branch else name


def _format_detail(activity: Activity) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {'cleared' if value is None else value}" for name, value in activity.detail.items()
    )


LIST_RENDERERS.update({
    Session: _render_sessions,
    Lock: _render_locks,
    WorldState: _render_world_versions,
    Activity: _render_activity,
    Message: _render_messages,
})  # fmt: skip
