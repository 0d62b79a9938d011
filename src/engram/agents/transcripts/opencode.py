"""OpenCode.

Where: since 1.2 one SQLite file for all sessions, `~/.local/share/opencode/opencode.db` (`XDG_DATA_HOME` moves it; the
same under the home on Windows): tables session (parent_id, directory, title, version), message and part, whose `data`
is JSON; the newest changes are in its `-wal`. Before, `storage/session/<project>/<session>.json` with
`storage/message/<session>/*.json` and `storage/part/<message>/*.json`, read together with the session's file.
`opencode export` writes {info, messages[{info, parts}]}. Ids are the same in all three.

Changes: the database is queried only if it or its log changed. A session is read again if it or one of its messages
was updated, if it has parts in new rows, or if its last reply was not complete: then parts change while neither
message nor session does. Messages and parts are in the order of their rows.

Forks have ` (fork #n)` in the title and no link to the parent, which is the session whose first message has the same
time.

Seen: 1.18.33 (database), 1.2 (exports), and files from before 1.2.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.agents.transcripts.adapter import (
    Item,
    Mark,
    Place,
    get_user_home,
    int_or_none,
    parse_json_text,
    text_or_none,
    to_dict,
)
from engram.agents.transcripts.formats.json_document import build_unreadable_event, get_file_stem, read_document
from engram.agents.transcripts.formats.json_prefix import parse_beginning
from engram.agents.transcripts.opencode_message import build_session_facts, is_fork, read_messages
from engram.errors import StoreDamaged
from engram.store.foreign_database import MAGIC, ForeignDatabase, list_tables, read_stamp

_OVERLAP_MS = 60_000  # milliseconds by which update times may be late
_MAX_UNFINISHED = 100  # unfinished sessions that are checked again
_SESSION_ID = re.compile(rb'"id"\s*:\s*"(ses_\w+)"')


class OpenCodeAdapter:
    """The adapter for OpenCode."""

    flavor = "opencode"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where OpenCode keeps its sessions."""
        data = environ.get("XDG_DATA_HOME") or os.path.join(get_user_home(environ), ".local", "share")
        root = os.path.join(data, "opencode")
        yield Place(root=root, endings=(".db",), depth=0)
        yield Place(root=os.path.join(root, "storage", "session"), endings=(".json",), depth=2)

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file is OpenCode's database, an export, or a session file from before 1.2."""
        if head.startswith(MAGIC):
            return {"session", "message", "part", "project"} <= list_tables(path)
        content = to_dict(parse_beginning(head))
        return _is_export(content) or _is_session(content)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield what was added since a mark, in any kind of store."""
        with open(path, "rb") as file:
            database = file.read(len(MAGIC)) == MAGIC
        yield from _read_database(path, since) if database else _read_files(path)


def _is_export(content: dict[str, Any]) -> bool:
    info = to_dict(content.get("info"))
    has_session_fields = "messages" in content or "projectID" in info or "directory" in info
    return has_session_fields and str(info.get("id", "")).startswith("ses_")


def _is_session(content: dict[str, Any]) -> bool:
    """Return whether a file is a session's own, not one of its messages or parts, by its id."""
    has_session_fields = isinstance(content.get("time"), dict) and ("projectID" in content or "title" in content)
    return has_session_fields and str(content.get("id", "")).startswith("ses_")


def _read_files(path: str) -> Iterator[Item]:
    """Yield the items of an export, or of a session's file and the files that belong to it."""
    content = read_document(path)
    session = to_dict(to_dict(content).get("info")) or to_dict(content)
    if not text_or_none(session.get("id")):
        yield build_unreadable_event(_find_session_id(path), path)
    else:
        raw_messages = to_dict(content).get("messages")
        yield build_session_facts(session)
        yield from read_messages(
            session, raw_messages if isinstance(raw_messages, list) else _read_message_files(path, session["id"])
        )
    yield Mark()


def _find_session_id(path: str) -> str:
    """Return the session of a damaged file, or the file's own name."""
    with open(path, "rb") as file:
        match = _SESSION_ID.search(file.read(4096))
    return match[1].decode() if match else get_file_stem(path)


def _read_message_files(path: str, session: str) -> list[Any]:
    """Return the messages and parts that are in separate files."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(path))))
    message_infos = _read_directory(os.path.join(root, "message", session))
    return [
        {"info": message, "parts": _read_directory(os.path.join(root, "part", str(message.get("id"))))}
        for message in message_infos
    ]


def _read_directory(root: str) -> list[dict[str, Any]]:
    """Return the content of the files in a directory, sorted by id."""
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return []
    documents = (read_document(os.path.join(root, name)) for name in names if name.endswith(".json"))
    return [content for content in documents if isinstance(content, dict)]


def _read_database(path: str, since: Mark) -> Iterator[Item]:
    state = dict(since.state or {})
    stamp = read_stamp(path)
    if stamp is not None and stamp == state.get("stamp"):
        yield Mark(state=state)
        return
    try:
        with ForeignDatabase(path) as foreign:
            extent = _read_extent(foreign)
            unfinished = []
            for session in _list_changed_sessions(foreign, state, extent):
                messages_read = _fetch_messages(foreign, session["id"])
                yield from _read_session(foreign, session, messages_read)
                unfinished += [session["id"]] if messages_read and not _is_complete(messages_read[-1]) else []
            state = {**extent, "open": unfinished[-_MAX_UNFINISHED:], "stamp": stamp}
    except StoreDamaged:
        yield build_unreadable_event(get_file_stem(path), path)
    yield Mark(state=state)


def _read_extent(foreign: ForeignDatabase) -> dict[str, Any]:
    """Return the database's current end, and its first session, which identifies the database."""
    sql = (
        "select max((select ifnull(max(time_updated), 0) from session), (select ifnull(max(time_updated), 0) from "
        "message)) as updated, (select ifnull(max(rowid), 0) from part) as row, (select id from session order by rowid "
        "limit 1) as first"
    )
    return foreign.fetch_rows(sql)[0]


def _list_changed_sessions(
    foreign: ForeignDatabase, state: dict[str, Any], extent: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the sessions to read; all of them if the rows were renumbered or the database was replaced."""
    session_rows = foreign.fetch_rows("select * from session order by rowid")
    if state.get("first") != extent["first"] or (int_or_none(state.get("row")) or 0) > extent["row"]:
        return [_to_json_names(session_row) for session_row in session_rows]
    since = (int_or_none(state.get("updated")) or 0) - _OVERLAP_MS
    sql = (
        "select id from session where time_updated >= ?1 union select session_id from message where time_updated >= ?1 "
        "union select session_id from part where rowid > ?2"
    )
    wanted_ids = {row["id"] for row in foreign.fetch_rows(sql, since, int_or_none(state.get("row")) or 0)}
    wanted_ids.update(state.get("open") or ())
    return [_to_json_names(session_row) for session_row in session_rows if session_row["id"] in wanted_ids]


def _to_json_names(row: dict[str, Any]) -> dict[str, Any]:
    """Return a session's row with the names of its JSON."""
    return {**row, "parentID": row.get("parent_id")}


def _fetch_messages(foreign: ForeignDatabase, session: str) -> list[dict[str, Any]]:
    parts: dict[str, list[dict[str, Any]]] = {}
    for row in foreign.fetch_rows(
        "select id, message_id, cast(data as blob) as data from part where session_id = ? order by rowid", session
    ):
        parts.setdefault(row["message_id"], []).append({**_decode_data(row), "id": row["id"]})
    message_rows = foreign.fetch_rows(
        "select id, cast(data as blob) as data from message where session_id = ? order by rowid", session
    )
    return [{"info": {**_decode_data(row), "id": row["id"]}, "parts": parts.get(row["id"], [])} for row in message_rows]


def _decode_data(row: dict[str, Any]) -> dict[str, Any]:
    data = row["data"]
    return to_dict(parse_json_text(data.decode("utf-8", "replace") if isinstance(data, bytes) else data))


def _is_complete(message: dict[str, Any]) -> bool:
    info = message["info"]
    return info.get("role") == "assistant" and bool(to_dict(info.get("time")).get("completed"))


def _read_session(
    foreign: ForeignDatabase, session: dict[str, Any], session_messages: list[dict[str, Any]]
) -> Iterator[Item]:
    if is_fork(session) and session_messages:
        session["forkedFrom"] = _find_fork_origin(foreign, session, session_messages[0]["info"])
    yield build_session_facts(session)
    yield from read_messages(session, session_messages)


def _find_fork_origin(foreign: ForeignDatabase, session: dict[str, Any], first: dict[str, Any]) -> str | None:
    """Return the session a fork was made from: its first message has the same time, and its title matches."""
    sql = (
        "select s.id from message m join session s on s.id = m.session_id where m.time_created = ? and s.id <> ? and "
        "s.time_created <= ? order by s.title = ? desc, s.time_created limit 1"
    )
    created = int_or_none(to_dict(first.get("time")).get("created"))
    rows = foreign.fetch_rows(
        sql, created, session["id"], session.get("time_created"), _get_title_before_fork(str(session["title"]))
    )
    return text_or_none(rows[0]["id"]) if rows else None


def _get_title_before_fork(title: str) -> str:
    base, _, count = title.removesuffix(")").rpartition(" (fork #")
    return base if count == "1" else f"{base} (fork #{int(count) - 1})"


adapter = OpenCodeAdapter()
