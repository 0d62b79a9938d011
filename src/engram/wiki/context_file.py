"""Context files of memoria: a piece of conversation its hooks wrote out, kept where the model failed to flush it.

What they say is remembered in their session, each message once, and flushed like any conversation.
"""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, Any

from engram.clock import SECOND
from engram.coordination.older_engram import id_of
from engram.errors import NotFound
from engram.memory.exchanges import add_exchanges_bulk
from engram.redaction.removal import redactor
from engram.store import entries, exchanges, sessions
from engram.text import name
from engram.value import value
from engram.wiki.flush import Flushed, flush_these
from engram.wiki.memoria_tree import context_name, decoded

if TYPE_CHECKING:
    from engram.hub import Hub

_FLAVOR = "claude"  # memoria hears Claude Code only
_LARGEST = 16 * 1024 * 1024  # bytes
_SPEAKER = re.compile(r"(?m)^\*\*(User|Assistant):\*\*[ \t]*")


@value
class ContextFile:
    """A context file as it lies there."""

    path: str
    session: str  # as the agent calls it; empty where the file's name does not say
    at: int  # when it was written
    messages: tuple[tuple[str, str], ...]  # role and words


def read_context_file(path: str) -> ContextFile:
    """Read a context file, or say that it is not there."""
    try:
        with open(path, "rb") as file:
            raw = file.read(_LARGEST)
            changed = os.fstat(file.fileno()).st_mtime
    except OSError as problem:
        hint = f"{problem.strerror}. Pass the file, then the session."
        raise NotFound(kind="context file", id=path, hint=hint) from problem
    named = context_name(path)
    at = _time(named["at"]) if named else None
    return ContextFile(
        path=path, session=named["session"] if named else "", at=at or int(changed * SECOND),
        messages=tuple(_messages(decoded(raw).strip())),
    )  # fmt: skip


def flush_context_file(hub: Hub, path: str, session: str | None = None) -> Flushed:
    """Make an entry of a context file; one that memoria wrote is removed once it is safely taken in."""
    found = read_context_file(path)
    session_id = remember_context(hub, found, name("session", session or found.session))[0]
    done = flush_these(hub, entries.due(hub.engine, 1 << 62, session_id)) if session_id else flush_these(hub, [])
    if not done.failed and context_name(path):
        os.unlink(path)
    return done


def remember_context(hub: Hub, found: ContextFile, session: str, *, dry_run: bool = False) -> tuple[str, int]:
    """Remember what a context file says; return the session (empty: somebody deleted it) and how much is new."""
    known = sessions.get(hub.engine, session) or sessions.by_native_id(hub.engine, _FLAVOR, session)
    if known is None and (_FLAVOR, session) in sessions.deleted(hub.engine):
        return "", 0
    session_id = known["id"] if known else id_of(session)
    rows = _new_rows(hub, found, session_id)
    if rows and not dry_run:
        with hub.engine.transaction(durable=True):
            _ensure(hub, session_id, session, found.at)
            add_exchanges_bulk(hub, session_id, rows)
    return session_id, len(rows)


def _new_rows(hub: Hub, found: ContextFile, session_id: str) -> list[dict[str, Any]]:
    """Return the messages the session does not hold yet, a second apart, the last at the time of the file."""
    clean = redactor(hub, make=False).clean
    held = {(row["role"], row["content"].strip()) for row in exchanges.of_session(hub.engine, session_id)}
    first = found.at - len(found.messages) * SECOND
    return [
        {"role": role, "content": words, "at": first + number * SECOND, "origin": "import"}
        for number, (role, words) in enumerate(found.messages, 1)
        if (role, clean(words)) not in held
    ]


def _ensure(hub: Hub, session_id: str, native_id: str, at: int) -> None:
    sessions.insert(
        hub.engine, id=session_id, flavor=_FLAVOR, native_id=native_id, session_type=_FLAVOR, summary="",
        status="completed", project="", started_at=at, last_heartbeat=at, completed_at=at,
    )  # fmt: skip


def _messages(text: str) -> list[tuple[str, str]]:
    """Return who said what; a text that names no speaker is one message."""
    before, *parts = _SPEAKER.split(text)
    said = [("user", before), *zip((each.lower() for each in parts[::2]), parts[1::2], strict=True)]
    return [(role, words.strip()) for role, words in said if words.strip()]


def _time(stamp: str | None) -> int | None:
    """Return the local time in a file's name."""
    digits = "".join(filter(str.isdigit, stamp or ""))
    try:
        return int(time.mktime(time.strptime(digits, "%Y%m%d%H%M%S"))) * SECOND
    except (ValueError, OverflowError):
        return None
