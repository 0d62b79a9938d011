"""Values as text for people, one function per type."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from functools import singledispatch
from typing import Any

import click

from engram import text
from engram.coordination.overview import Project
from engram.model import Activity, Imported, Lock, Log, Message, Rot, Sent, Session, Stats, WorldState
from engram.surfaces.cli.table import table

_PRESENCE = {
    "here": ("● here", "green"),
    "stale": ("⚠ stale", "yellow"),
    "gone": ("⚠ gone", "red"),
    "done": ("✓ done", None),
}


@singledispatch
def render(given: Any) -> str:
    """Return a value as a person reads it."""
    return str(given)


@render.register
def _(given: list) -> str:  # type: ignore[type-arg]
    return LISTS[type(given[0])](given) if given and type(given[0]) in LISTS else "\n".join(map(render, given))


@render.register
def _(session: Session) -> str:
    where = session.project + (f" on {session.branch}" if session.branch else "")
    process = f"{session.process.pid} on {session.process.host}" if session.process else None
    shown = (
        ("id", session.id), ("flavor", f"{session.flavor} ({session.session_type})"), ("presence", presence(session)),
        ("doing", session.summary), ("project", where or None), ("domain", session.domain or None),
        ("directory", session.cwd), ("process", process),
        ("model", session.model), ("own id", session.native_id), ("started", _when(session.started_at)),
        ("last sign", ago(session.last_heartbeat)), ("completed", _when(session.completed_at)),
        ("result", session.completion_summary), ("metadata", session.metadata),
    )  # fmt: skip
    return facts(shown)


@render.register
def _(lock: Lock) -> str:
    lines = [f"Locked {lock.resource} ({lock.kind}, {lock.mode}) for {left(lock.until)}, token {lock.token}."]
    for other in lock.overlaps:
        note = f': "{text.one_line(other.note)}"' if other.note else ""
        what = f"{other.session_id} ({other.flavor}) has {other.resource} too, {other.mode}{note}."
        lines.append(click.style(f"⚠ {what}", fg="yellow"))
    return "\n".join(lines)


@render.register
def _(message: Message) -> str:
    return _message(message, "")


def _message(message: Message, to: str) -> str:
    who = f"{message.sender} ({message.flavor})" if message.sender else "a person"
    head = "Engram" if message.kind == "loss" else f"From {who}"
    return f"{click.style(f'{head}{to}, {ago(message.sent_at)}:', bold=True)}\n{text.quote(message.body)}"


@render.register
def _(sent: Sent) -> str:
    if sent.waiting:
        return "Kept for the next session of the project."
    if not sent.recipients:
        return "Nobody else is here. Leave it for the next session with `engram send next …`."
    return f"Sent to {', '.join(sent.recipients)}."


@render.register
def _(state: WorldState) -> str:
    who = f" by {state.updated_by}" if state.updated_by else ""
    title = state.project or "everything"
    head = f"World state of {title}, version {state.version}, {ago(state.updated_at)}{who}"
    return f"{click.style(head, dim=True)}\n{state.content}"


@render.register
def _(log: Log) -> str:
    return f"{click.style(_when(log.timestamp) or '', dim=True)}  {log.entry}"


@render.register
def _(stats: Stats) -> str:
    plain = ((name, getattr(stats, name)) for name in type(stats).__match_args__)
    return facts((name.replace("_", " "), render(each) if name == "rot" else str(each)) for name, each in plain)


@render.register
def _(rot: Rot) -> str:
    counts = {
        "duplicates": rot.duplicates, "near-duplicates": rot.near_duplicates, "loops": rot.loops,
        "never recalled": rot.never_recalled, "stale": rot.stale, "contradicted": rot.contradicted,
    }  # fmt: skip
    found = ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "none found"
    waiting = f"; {rot.waiting} not looked at yet" if rot.waiting else ""
    return f"{found} in {rot.documents} documents{waiting}"


@render.register
def _(imported: Imported) -> str:
    took = f"{imported.sessions} sessions, {imported.logs} log entries, {imported.locks} locks"
    rest = f"{imported.updated} sessions brought up to date, {imported.already_here} rows were here already"
    verb = "Would import" if imported.dry_run else "Imported"
    counts = [f"{verb} {imported.source}: {took}, {imported.world_versions} world state; {rest}."]
    counts += [f"  mended {count} × {what}" for what, count in imported.mended.items()]
    counts += [click.style(f"  left out {what}", fg="yellow") for what in imported.dropped]
    return "\n".join(counts)


def presence(session: Session) -> str:
    """Return whether a session is alive, in colour."""
    words, colour = _PRESENCE[session.presence]
    return click.style(words, fg=colour)


def ago(then: datetime) -> str:
    """Return how long ago something was."""
    return f"{text.duration(_microseconds(datetime.now(timezone.utc) - then))} ago"


def left(until: datetime) -> str:
    """Return how long something still lasts."""
    return text.time_left(_microseconds(until - datetime.now(timezone.utc)))


def _sessions(found: Sequence[Session]) -> str:
    rows = [
        (presence(s), s.id, s.flavor, _project(s), ago(s.completed_at or s.last_heartbeat), _doing(s)) for s in found
    ]
    return table(("", "session", "flavor", "project", "last sign", "doing"), rows)


def _locks(found: Sequence[Lock]) -> str:
    rows = [
        (str(lock.token), lock.session_id, lock.flavor, lock.mode, left(lock.until), str(len(lock.waiters) or ""),
         lock.resource, text.one_line(lock.note))
        for lock in found
    ]  # fmt: skip
    return table(("token", "holder", "flavor", "mode", "left", "waiting", "resource", "note"), rows)


def _versions(found: Sequence[WorldState]) -> str:
    rows = [
        (str(v.version), ago(v.updated_at), v.updated_by or "", f"{text.tokens(v.content)}", text.one_line(v.content))
        for v in found
    ]
    headings = ("version", "when", "by", "tokens", "begins")
    if len({v.project for v in found}) == 1:
        return table(headings, rows)
    return table(("of", *headings), [(v.project or "everything", *row) for v, row in zip(found, rows, strict=True)])


def _trail(found: Sequence[Activity]) -> str:
    rows = [(ago(each.at), each.kind, each.session_id or "", each.subject, _detail(each)) for each in found]
    return table(("when", "what", "session", "about", "detail"), rows)


def _messages(found: Sequence[Message]) -> str:
    """Return messages; whom each is for only where that differs, which it never does in an inbox."""
    several = len({each.recipient for each in found}) > 1
    return "\n\n".join(_message(each, _recipient(each) if several else "") for each in found)


def _recipient(message: Message) -> str:
    if message.recipient is None:
        return f" for the next in {os.path.basename(message.project) or 'no project'}"
    return f" to {message.recipient}{'' if message.delivered_at else ' (unread)'}"


def _projects(found: Sequence[Project]) -> str:
    rows = [
        (each.project or "(none)", ago(each.last_at), ", ".join(f"{name} {n:,}" for name, n in each.flavors.items()))
        for each in found
    ]
    return table(("project", "last sign", "sessions"), rows)


LISTS: dict[type, Any] = {
    Project: _projects, Session: _sessions, Lock: _locks, WorldState: _versions, Activity: _trail, Message: _messages,
}  # fmt: skip


def _project(session: Session) -> str:
    name = os.path.basename(session.project)
    return f"{name}@{session.branch}" if name and session.branch else name


def _doing(session: Session) -> str:
    return text.one_line(session.completion_summary or session.summary)


def _detail(each: Activity) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in each.detail.items())


def facts(given: Any) -> str:
    """Return names and facts in two columns."""
    shown = [(name, str(fact)) for name, fact in given if fact is not None]
    longest = max(len(name) for name, _ in shown)
    return "\n".join(f"{click.style(name.ljust(longest), dim=True)}  {fact}" for name, fact in shown)


def _when(then: datetime | None) -> str | None:
    return then.astimezone().strftime("%Y-%m-%d %H:%M:%S") if then else None


def _microseconds(span: timedelta) -> int:
    return span // timedelta(microseconds=1)
