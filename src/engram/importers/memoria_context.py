"""Context files of memoria: pieces of conversation its hooks wrote out, kept because the model failed to flush them.

Their messages are remembered in their session, each once, and flushed like any conversation.
"""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, Any

from engram.clock import SECOND
from engram.errors import NotFound
from engram.importers.engram_rows import make_session_id
from engram.importers.memoria_tree import decode_text, match_context_name
from engram.platform.text import validate_name
from engram.platform.value import value
from engram.redaction.store_redactor import load_hub_redactor
from engram.store import exchanges, log_entries, sessions
from engram.summaries.exchanges import add_exchanges_bulk
from engram.wiki.flush import FlushResult, flush_sessions

if TYPE_CHECKING:
    from engram.hub import Hub

_FLAVOR = "claude"  # memoria supports Claude Code only
_LARGEST = 16 * 1024 * 1024  # bytes
_SPEAKER = re.compile(r"(?m)^\*\*(User|Assistant):\*\*[ \t]*")


@value
class ContextFile:
    """A context file on disk."""

    path: str
    session: str  # the agent's session id; empty if the file name does not contain it
    at: int  # time of writing
    messages: tuple[tuple[str, str], ...]  # role and text


def read_context_file(path: str) -> ContextFile:
    """Read a context file; raise an error if it is missing."""
    try:
        with open(path, "rb") as file:
            raw = file.read(_LARGEST)
            changed = os.fstat(file.fileno()).st_mtime
    except OSError as problem:
        hint = f"{problem.strerror}. Pass the file, then the session."
        raise NotFound(kind="context file", id=path, hint=hint) from problem
    name_match = match_context_name(path)
    at = _parse_time(name_match["at"]) if name_match else None
    return ContextFile(
        path=path, session=name_match["session"] if name_match else "", at=at or int(changed * SECOND),
        messages=tuple(_split_messages(decode_text(raw).strip())),
    )  # fmt: skip


def flush_context_file(hub: Hub, path: str, session: str | None = None) -> FlushResult:
    """Make a log entry from a context file; delete one that memoria wrote after it is stored."""
    context = read_context_file(path)
    session_id = remember_context(hub, context, validate_name("session", session or context.session))[0]
    flushed = (
        flush_sessions(hub, log_entries.list_due_sessions(hub.engine, 1 << 62, session_id))
        if session_id
        else flush_sessions(hub, [])
    )
    if not flushed.failed and match_context_name(path):
        os.unlink(path)
    return flushed


def remember_context(hub: Hub, context: ContextFile, session: str, *, dry_run: bool = False) -> tuple[str, int]:
    """Remember the messages of a context file; return the session (empty if a user deleted it) and how many are new."""
    session_row = sessions.get(hub.engine, session) or sessions.find_by_native_id(hub.engine, _FLAVOR, session)
    if session_row is None and (_FLAVOR, session) in sessions.list_deleted(hub.engine):
        return "", 0
    session_id = session_row["id"] if session_row else make_session_id(session)
    rows = _build_new_rows(hub, context, session_id)
    if rows and not dry_run:
        with hub.engine.transaction(durable=True):
            _ensure_session(hub, session_id, session, context.at)
            add_exchanges_bulk(hub, session_id, rows)
    return session_id, len(rows)


def _build_new_rows(hub: Hub, context: ContextFile, session_id: str) -> list[dict[str, Any]]:
    """Return the messages the session does not have yet, a second apart, the last at the time of the file."""
    clean = load_hub_redactor(hub, make=False).redact
    existing = {(row["role"], row["content"].strip()) for row in exchanges.list_by_session(hub.engine, session_id)}
    first = context.at - len(context.messages) * SECOND
    return [
        {"role": role, "content": words, "at": first + number * SECOND, "origin": "import"}
        for number, (role, words) in enumerate(context.messages, 1)
        if (role, clean(words)) not in existing
    ]


def _ensure_session(hub: Hub, session_id: str, native_id: str, at: int) -> None:
    sessions.insert(
        hub.engine, id=session_id, flavor=_FLAVOR, native_id=native_id, session_type=_FLAVOR, summary="",
        status="completed", project="", started_at=at, last_heartbeat=at, completed_at=at,
    )  # fmt: skip


def _split_messages(text: str) -> list[tuple[str, str]]:
    """Split a text into messages by speaker; without speakers it is one message."""
    before, *parts = _SPEAKER.split(text)
    turns = [("user", before), *zip((speaker.lower() for speaker in parts[::2]), parts[1::2], strict=True)]
    return [(role, words.strip()) for role, words in turns if words.strip()]


def _parse_time(stamp: str | None) -> int | None:
    """Return the local time in a file's name."""
    digits = "".join(filter(str.isdigit, stamp or ""))
    try:
        return int(time.mktime(time.strptime(digits, "%Y%m%d%H%M%S"))) * SECOND
    except (ValueError, OverflowError):
        return None
