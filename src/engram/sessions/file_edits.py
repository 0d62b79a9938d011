"""File edits seen by hooks: upcoming writes, files read, and files changed by shell commands."""

from __future__ import annotations

import os

from engram.clock import HOUR
from engram.platform import text
from engram.sessions import clone_locks, lifecycle, lock_view, locks, resources
from engram.sessions.lock_requests import LockRequest
from engram.sessions.overlap import resources_overlap
from engram.store import activity, file_snapshots, handled_events, messages
from engram.store import locks as lock_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from engram.hub import Hub
    from engram.store.engine import Row
    from engram.types import Resource

_NOTE = "editing it"
_LARGEST = 1_000_000  # bytes; larger files are compared by size and time, not by content
_FILES = 300  # files watched while a command runs
_UNWATCHED = (".git", "node_modules", ".venv", "__pycache__", "target", "dist")


def begin_edit(hub: Hub, session_id: str, paths: list[str], cwd: str | None) -> list[str]:
    """Allow a session to write files, or raise a refusal; return warnings to show first."""
    if hub.settings.auto_claim:
        minutes = hub.settings.edit_lock_minutes  # short, for an interrupted turn never reports its end
        request = LockRequest(hub, session_id, paths, _NOTE, "exclusive", minutes, cwd, by_edit=True)
        refusal = request.attempt(record=True)
        if refusal is not None:
            raise refusal
        session, targets = request.session, request.resources
    else:
        for path in paths:
            locks.check_edit(hub, session_id, path, cwd=cwd)
        session = lifecycle.require_session(hub, session_id)
        targets = [lock_view.resolve_resource(hub, session, path, cwd) for path in paths]
    changes = [warning for path in paths for warning in _warn_if_changed(hub, session_id, _resolve_path(path, cwd))]
    return [*changes, *_warn_of_clones(hub, session, targets)]


def _warn_of_clones(hub: Hub, session: Row, targets: list[Resource]) -> Iterator[str]:
    """Yield a line for each session that has one of these files locked in another clone; each once."""
    instant = hub.instant()
    for resource in targets:
        for row in clone_locks.list_clone_locks(hub, session, resource, instant):
            holder, name, week = row["session_id"], row["name"], handled_events.WEEK
            with hub.engine.transaction():
                is_new = handled_events.mark_first_time(
                    hub.engine, "clones", session["id"], holder, name, instant.now, week
                )
            if is_new:
                yield clone_locks.describe_clone_lock(row)


def record_files_seen(hub: Hub, session_id: str, paths: list[str], cwd: str | None) -> None:
    """Save a snapshot of files a session has just read or written."""
    snapshots = [(path, _read_snapshot(path)) for path in (_resolve_path(path, cwd) for path in paths)]
    with hub.engine.transaction():
        for path, snapshot in snapshots:
            if snapshot is not None:
                file_snapshots.save(
                    hub.engine, session_id=session_id, kind=file_snapshots.READ, path=path, now=hub.now(), **snapshot
                )


def list_freed_resources(hub: Hub, session_id: str) -> list[tuple[int, str]]:
    """Return resources the session was refused in the last hour that are free now, with the refusal's id."""
    refusals = activity.list_refusals(hub.engine, session_id, hub.now() - HOUR)
    return [(row["id"], row["subject"]) for row in refusals if not _is_held_by_others(hub, session_id, row["subject"])]


def _is_held_by_others(hub: Hub, session_id: str, name: str) -> bool:
    return any(lock.session_id != session_id for lock in locks.check_locks(hub, name, session_id))


def release_edit_locks(hub: Hub, session_id: str) -> None:
    """Release the locks a session held only for the current turn."""
    with hub.engine.transaction():
        lock_store.delete_edits(hub.engine, session_id)


def record_before_command(hub: Hub, session_id: str) -> None:
    """Save a snapshot of files locked by others before a shell command that may write anywhere."""
    snapshots = {path: _read_snapshot(path) for path, _ in _find_others_locked_files(hub, session_id)}
    if not snapshots:
        return
    with hub.engine.transaction():
        file_snapshots.pop_held(hub.engine, session_id)
        for path, snapshot in snapshots.items():
            facts = snapshot or _ABSENT
            file_snapshots.save(
                hub.engine, session_id=session_id, kind=file_snapshots.HELD, path=path, now=hub.now(), **facts
            )


def check_after_command(hub: Hub, session_id: str) -> list[str]:
    """Report to the session and the lock holders which locked files changed while its command ran."""
    before = {row["path"]: row for row in file_snapshots.pop_held(hub.engine, session_id)}
    if not before:
        return []
    changed = [
        (path, holder)
        for path, holder in _find_others_locked_files(hub, session_id)
        if path in before and not _is_unchanged(before[path], _read_snapshot(path))
    ]
    notices = []
    for path, holder in changed:
        notices.append(_report_change(hub, lifecycle.require_session(hub, session_id), path, holder))
    return notices


_ABSENT: dict[str, Any] = {"size": -1, "changed_at": 0, "hash": ""}


def _report_change(hub: Hub, actor: Row, path: str, holder: Row) -> str:
    """Record a change under a lock, notify the holder, and return the notice for the actor."""
    body = (
        f"{text.escape_inline(path, 200)}, which you have locked, was changed while {actor['id']} "
        f"({actor['flavor']}: "
        f"{text.escape_inline(actor['summary'])}) ran a shell command. Read it again before you write it."
    )
    with hub.engine.transaction(durable=True):
        messages.insert(
            hub.engine, sender=actor["id"], recipient=holder["session_id"], project=holder["project"], kind="change",
            body=body, now=hub.now(),
        )  # fmt: skip
        activity.record(
            hub.engine, hub.now(), "trespassed", path, session_id=actor["id"], project=holder["project"],
            holder=holder["session_id"], token=holder["token"],
        )  # fmt: skip
    return (
        f"{text.escape_inline(path, 200)} changed while your command ran, and {holder['session_id']} "
        f"({holder['flavor']}: "
        f"{text.escape_inline(holder['summary'])}) has locked it. That session has been notified. If it was you, "
        f"undo it or agree on it with that session."
    )


def _find_others_locked_files(hub: Hub, session_id: str) -> Iterator[tuple[str, Row]]:
    """Yield files locked by other live sessions in the project, each with the lock."""
    session = lifecycle.require_session(hub, session_id)
    instant = hub.instant()
    count = 0
    for row in lock_store.list_unlapsed(hub.engine, session["project"], instant.steady, _FILES):
        is_own = (
            row["session_id"] == session_id
            or lifecycle.process_from_row(row) == lifecycle.process_from_row(session) is not None
        )
        if (
            is_own
            or row["kind"] == "name"
            or row["mode"] != "exclusive"
            or lock_view.is_on_other_machine(hub, session, row)
            or lock_view.explain_lapse(row, instant) is not None
        ):
            continue
        for path in _list_locked_files(row):
            count += 1
            if count > _FILES:
                return
            yield path, row


def _list_locked_files(row: Row) -> Iterator[str]:
    """Yield the files a lock covers; for a large directory only some."""
    if row["kind"] == "file" or not os.path.isdir(row["base"]):
        yield row["base"]
        return
    resource, count = lock_view.resource_from_row(row), 0
    for folder, inner, names in os.walk(row["base"]):
        inner[:] = sorted(name for name in inner if name not in _UNWATCHED)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if row["kind"] == "directory" or resources_overlap(resources.parse_resource(path, folder), resource):
                yield path
            count += 1
            if count > 10 * _FILES:
                return


def _warn_if_changed(hub: Hub, session_id: str, path: str) -> Iterator[str]:
    """Yield a warning if a file changed since the session read it; warn once."""
    before = file_snapshots.get(hub.engine, session_id, path)
    if before is None:
        return
    after, display_path = _read_snapshot(path), text.escape_inline(path, 200)
    if _is_unchanged(before, after):
        return
    if after is None:
        yield f"{display_path} was deleted after you read it."
    else:
        yield (f"{display_path} was changed by someone else after you read it. Read it again before you edit it.")
        record_files_seen(hub, session_id, [path], None)


def _is_unchanged(before: Row, after: dict[str, Any] | None) -> bool:
    if after is None:
        return bool(before["size"] < 0)
    if before["hash"] and after["hash"]:
        return bool(before["hash"] == after["hash"])
    return bool((before["size"], before["changed_at"]) == (after["size"], after["changed_at"]))


def _read_snapshot(path: str) -> dict[str, Any] | None:
    """Return a file's size, time and hash, or None if it is not a file."""
    from _blake2 import blake2b  # hashlib would load OpenSSL, which slows down a hook

    try:
        if not os.path.isfile(path):
            return None  # opening a pipe would unblock its writer and lose its data
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            stat = os.fstat(descriptor)
            is_small = stat.st_size <= _LARGEST
            content = os.read(descriptor, _LARGEST + 1) if is_small else b""
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return None
    digest = blake2b(content, digest_size=16).hexdigest() if is_small else ""
    return {"size": stat.st_size, "changed_at": stat.st_mtime_ns // 1000, "hash": digest}


def _resolve_path(path: str, cwd: str | None) -> str:
    return os.path.realpath(os.path.join(cwd or "/", os.path.expanduser(path)))
