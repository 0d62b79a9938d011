"""Edits as hooks see them: what a session is about to write, what it has read, what its commands changed unseen."""

from __future__ import annotations

import os

from engram import text
from engram.clock import HOUR
from engram.coordination import holds, locks, resources, sessions
from engram.coordination.claims import Claim
from engram.coordination.overlap import overlaps
from engram.store import activity, messages, sightings
from engram.store import locks as lock_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from engram.hub import Hub
    from engram.store.engine import Row

_NOTE = "editing it"
_MINUTES = 10  # without a sign of life: a turn that was broken off tells nobody that it is over
_LARGEST = 1_000_000  # bytes of a file whose content is compared; of a larger one size and time
_FILES = 300  # files watched while a command runs
_UNWATCHED = (".git", "node_modules", ".venv", "__pycache__", "target", "dist")


def begin(hub: Hub, session_id: str, paths: list[str], cwd: str | None) -> list[str]:
    """Let a session write files, or raise why not; return what it should know before it does."""
    if hub.settings.auto_claim:
        refusal = Claim(hub, session_id, paths, _NOTE, "exclusive", _MINUTES, cwd, by_edit=True).attempt(record=True)
        if refusal is not None:
            raise refusal
    else:
        for path in paths:
            locks.check_edit(hub, session_id, path, cwd=cwd)
    return [warning for path in paths for warning in _changed_since_read(hub, session_id, _full(path, cwd))]


def saw(hub: Hub, session_id: str, paths: list[str], cwd: str | None) -> None:
    """Remember files as a session has now read or written them."""
    found = [(path, _look(path)) for path in (_full(path, cwd) for path in paths)]
    with hub.engine.transaction():
        for path, stamp in found:
            if stamp is not None:
                sightings.put(hub.engine, session_id=session_id, kind=sightings.READ, path=path, now=hub.now(), **stamp)


def freed(hub: Hub, session_id: str) -> list[tuple[int, str]]:
    """Return what a session was refused in the last hour and could have now, with the number of the refusal."""
    found = activity.refusals(hub.engine, session_id, hub.now() - HOUR)
    return [(row["id"], row["subject"]) for row in found if not _is_held(hub, session_id, row["subject"])]


def _is_held(hub: Hub, session_id: str, name: str) -> bool:
    return any(lock.session_id != session_id for lock in locks.check_locks(hub, name, session_id))


def let_go(hub: Hub, session_id: str) -> None:
    """Free what a session held only while its turn lasted."""
    with hub.engine.transaction():
        lock_store.delete_edits(hub.engine, session_id)


def before_command(hub: Hub, session_id: str) -> None:
    """Remember what others hold as it is before a command runs that may write anywhere."""
    found = {path: _look(path) for path, _ in _held_by_others(hub, session_id)}
    if not found:
        return
    with hub.engine.transaction():
        sightings.take_held(hub.engine, session_id)
        for path, stamp in found.items():
            facts = stamp or _ABSENT
            sightings.put(hub.engine, session_id=session_id, kind=sightings.HELD, path=path, now=hub.now(), **facts)


def after_command(hub: Hub, session_id: str) -> list[str]:
    """Tell a session and the holders what changed under their locks while its command ran."""
    before = {row["path"]: row for row in sightings.take_held(hub.engine, session_id)}
    if not before:
        return []
    changed = [
        (path, holder)
        for path, holder in _held_by_others(hub, session_id)
        if path in before and not _same(before[path], _look(path))
    ]
    told = []
    for path, holder in changed:
        told.append(_tell_of_change(hub, sessions.require(hub, session_id), path, holder))
    return told


_ABSENT: dict[str, Any] = {"size": -1, "changed_at": 0, "hash": ""}


def _tell_of_change(hub: Hub, actor: Row, path: str, holder: Row) -> str:
    """Write a change under a lock down, tell its holder, and return what the actor is told."""
    body = (
        f"{text.inline(path, 200)}, which you hold, changed while a shell command of {actor['id']} ({actor['flavor']}: "
        f"{text.inline(actor['summary'])}) ran. Read it again before you write it."
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
        f"{text.inline(path, 200)} changed while your command ran, and {holder['session_id']} ({holder['flavor']}: "
        f"{text.inline(holder['summary'])}) holds it. That session was told. Undo it if it was you, or agree with it."
    )


def _held_by_others(hub: Hub, session_id: str) -> Iterator[tuple[str, Row]]:
    """Yield files under live locks of other sessions in the project, each with the lock."""
    session = sessions.require(hub, session_id)
    at = hub.instant()
    count = 0
    for row in lock_store.every(hub.engine, session["project"], at.steady, _FILES):
        own = row["session_id"] == session_id or sessions.process_of(row) == sessions.process_of(session) is not None
        if own or row["kind"] == "name" or row["mode"] != "exclusive" or holds.lapse(row, at) is not None:
            continue
        for path in _files(row):
            count += 1
            if count > _FILES:
                return
            yield path, row


def _files(row: Row) -> Iterator[str]:
    """Yield the files a lock is on; of a large directory some."""
    if row["kind"] == "file" or not os.path.isdir(row["base"]):
        yield row["base"]
        return
    held, seen = holds.resource_of(row), 0
    for folder, inner, names in os.walk(row["base"]):
        inner[:] = sorted(name for name in inner if name not in _UNWATCHED)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if row["kind"] == "directory" or overlaps(resources.canonical(path, folder), held):
                yield path
            seen += 1
            if seen > 10 * _FILES:
                return


def _changed_since_read(hub: Hub, session_id: str, path: str) -> Iterator[str]:
    """Yield a warning if a file is no longer what the session read; warn once."""
    known = sightings.get(hub.engine, session_id, path)
    if known is None:
        return
    now, shown = _look(path), text.inline(path, 200)
    if _same(known, now):
        return
    if now is None:
        yield f"{shown} is gone since you read it."
    else:
        yield f"{shown} changed since you read it, and not by you. Read it again before you rely on what you know."
        saw(hub, session_id, [path], None)


def _same(known: Row, now: dict[str, Any] | None) -> bool:
    if now is None:
        return bool(known["size"] < 0)
    if known["hash"] and now["hash"]:
        return bool(known["hash"] == now["hash"])
    return bool((known["size"], known["changed_at"]) == (now["size"], now["changed_at"]))


def _look(path: str) -> dict[str, Any] | None:
    """Return a file's size, time and hash; None if it is none."""
    from _blake2 import blake2b  # hashlib would load OpenSSL, which costs a hook more than all the rest

    try:
        if not os.path.isfile(path):
            return None  # merely opening a pipe would let its writer go on, and lose what it writes
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            stat = os.fstat(handle)
            small = stat.st_size <= _LARGEST
            content = os.read(handle, _LARGEST + 1) if small else b""
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return None
    digest = blake2b(content, digest_size=16).hexdigest() if small else ""
    return {"size": stat.st_size, "changed_at": stat.st_mtime_ns // 1000, "hash": digest}


def _full(path: str, cwd: str | None) -> str:
    return os.path.realpath(os.path.join(cwd or "/", os.path.expanduser(path)))
