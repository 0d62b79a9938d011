"""OpenCode.

Where: since 1.2 one SQLite file for all sessions, `~/.local/share/opencode/opencode.db` (`XDG_DATA_HOME` moves it; the
same under the home on Windows): tables session (parent_id, directory, title, version), message and part, whose `data`
is JSON; the newest changes lie in its `-wal`. Before, `storage/session/<project>/<session>.json` with
`storage/message/<session>/*.json` and `storage/part/<message>/*.json`, read together with the session's file.
`opencode export` writes {info, messages[{info, parts}]}. Ids are the same in all three.

Changes: the database is asked only if it or its log changed since. A session is read again if it or a message of its
was updated since, if it has parts in new rows, or if its last answer was not complete: then parts change while neither
message nor session does. Messages and parts stand in the order of their rows.

Forks carry ` (fork #n)` in the title and no pointer back; their parent is the session whose first message has the same
time.

Seen: 1.18.33 (database), 1.2 (exports), and files as before 1.2.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.adapters.adapter import Item, Mark, Place, mapping, parsed, user_home, whole, words
from engram.adapters.beginning import parse_beginning
from engram.adapters.document import document, named, unreadable
from engram.adapters.opencode_message import about, is_fork, messages
from engram.errors import StoreDamaged
from engram.store.foreign import MAGIC, Foreign, stamped, tables

_OVERLAP = 60_000  # milliseconds by which times of updates may come late
_OPEN = 100  # sessions without an end that we go on looking at
_ID = re.compile(rb'"id"\s*:\s*"(ses_\w+)"')


class OpenCode:
    """The adapter of OpenCode."""

    flavor = "opencode"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where OpenCode keeps its sessions."""
        data = environ.get("XDG_DATA_HOME") or os.path.join(user_home(environ), ".local", "share")
        root = os.path.join(data, "opencode")
        yield Place(root=root, endings=(".db",), depth=0)
        yield Place(root=os.path.join(root, "storage", "session"), endings=(".json",), depth=2)

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell whether a file is OpenCode's database, an export, or a session of the time before."""
        if head.startswith(MAGIC):
            return {"session", "message", "part", "project"} <= tables(path)
        found = mapping(parse_beginning(head))
        return _is_export(found) or _is_session(found)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield what was said since a mark in whichever store this is."""
        with open(path, "rb") as file:
            database = file.read(len(MAGIC)) == MAGIC
        yield from _database(path, since) if database else _files(path)


def _is_export(found: dict[str, Any]) -> bool:
    info = mapping(found.get("info"))
    told = "messages" in found or "projectID" in info or "directory" in info
    return told and str(info.get("id", "")).startswith("ses_")


def _is_session(found: dict[str, Any]) -> bool:
    """Tell a session's own file from those of its messages and parts, by its id."""
    told = isinstance(found.get("time"), dict) and ("projectID" in found or "title" in found)
    return told and str(found.get("id", "")).startswith("ses_")


def _files(path: str) -> Iterator[Item]:
    """Yield what an export says, or a session's file and the files that belong to it."""
    found = document(path)
    session = mapping(mapping(found).get("info")) or mapping(found)
    if not words(session.get("id")):
        yield unreadable(_name(path), path)
    else:
        said = mapping(found).get("messages")
        yield about(session)
        yield from messages(session, said if isinstance(said, list) else _beside(path, session["id"]))
    yield Mark()


def _name(path: str) -> str:
    """Return the session a damaged file speaks of, or the file's own name."""
    with open(path, "rb") as file:
        found = _ID.search(file.read(4096))
    return found[1].decode() if found else named(path)


def _beside(path: str, session: str) -> list[Any]:
    """Return the messages and parts that lie in files of their own."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(path))))
    found = _directory(os.path.join(root, "message", session))
    return [{"info": each, "parts": _directory(os.path.join(root, "part", str(each.get("id"))))} for each in found]


def _directory(root: str) -> list[dict[str, Any]]:
    """Return what the files of a directory say, in the order of their ids, which rise."""
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return []
    found = (document(os.path.join(root, name)) for name in names if name.endswith(".json"))
    return [each for each in found if isinstance(each, dict)]


def _database(path: str, since: Mark) -> Iterator[Item]:
    state = dict(since.state or {})
    stamp = stamped(path)
    if stamp is not None and stamp == state.get("stamp"):
        yield Mark(state=state)
        return
    try:
        with Foreign(path) as foreign:
            extent = _extent(foreign)
            unfinished = []
            for session in _changed(foreign, state, extent):
                said = _messages(foreign, session["id"])
                yield from _session(foreign, session, said)
                unfinished += [session["id"]] if said and not _complete(said[-1]) else []
            state = {**extent, "open": unfinished[-_OPEN:], "stamp": stamp}
    except StoreDamaged:
        yield unreadable(named(path), path)
    yield Mark(state=state)


def _extent(foreign: Foreign) -> dict[str, Any]:
    """Return how far the database reaches now, and its first session, which tells it from another one."""
    sql = (
        "select max((select ifnull(max(time_updated), 0) from session), (select ifnull(max(time_updated), 0) from "
        "message)) as updated, (select ifnull(max(rowid), 0) from part) as row, (select id from session order by rowid "
        "limit 1) as first"
    )
    return foreign.rows(sql)[0]


def _changed(foreign: Foreign, state: dict[str, Any], extent: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the sessions that are to be read, all of them if the rows were numbered anew or are another's."""
    every = foreign.rows("select * from session order by rowid")
    if state.get("first") != extent["first"] or (whole(state.get("row")) or 0) > extent["row"]:
        return [_shaped(each) for each in every]
    late = (whole(state.get("updated")) or 0) - _OVERLAP
    sql = (
        "select id from session where time_updated >= ?1 union select session_id from message where time_updated >= ?1 "
        "union select session_id from part where rowid > ?2"
    )
    wanted = {row["id"] for row in foreign.rows(sql, late, whole(state.get("row")) or 0)}
    wanted.update(state.get("open") or ())
    return [_shaped(each) for each in every if each["id"] in wanted]


def _shaped(row: dict[str, Any]) -> dict[str, Any]:
    """Return a session's row under the names its JSON had."""
    return {**row, "parentID": row.get("parent_id")}


def _messages(foreign: Foreign, session: str) -> list[dict[str, Any]]:
    parts: dict[str, list[dict[str, Any]]] = {}
    for row in foreign.rows(
        "select id, message_id, cast(data as blob) as data from part where session_id = ? order by rowid", session
    ):
        parts.setdefault(row["message_id"], []).append({**_data(row), "id": row["id"]})
    found = foreign.rows(
        "select id, cast(data as blob) as data from message where session_id = ? order by rowid", session
    )
    return [{"info": {**_data(row), "id": row["id"]}, "parts": parts.get(row["id"], [])} for row in found]


def _data(row: dict[str, Any]) -> dict[str, Any]:
    data = row["data"]
    return mapping(parsed(data.decode("utf-8", "replace") if isinstance(data, bytes) else data))


def _complete(message: dict[str, Any]) -> bool:
    info = message["info"]
    return info.get("role") == "assistant" and bool(mapping(info.get("time")).get("completed"))


def _session(foreign: Foreign, session: dict[str, Any], said: list[dict[str, Any]]) -> Iterator[Item]:
    if is_fork(session) and said:
        session["forkedFrom"] = _origin(foreign, session, said[0]["info"])
    yield about(session)
    yield from messages(session, said)


def _origin(foreign: Foreign, session: dict[str, Any], first: dict[str, Any]) -> str | None:
    """Return the session a fork was made of: it has a first message of the same time, and the title before the fork."""
    sql = (
        "select s.id from message m join session s on s.id = m.session_id where m.time_created = ? and s.id <> ? and "
        "s.time_created <= ? order by s.title = ? desc, s.time_created limit 1"
    )
    created = whole(mapping(first.get("time")).get("created"))
    found = foreign.rows(sql, created, session["id"], session.get("time_created"), _title_before(str(session["title"])))
    return words(found[0]["id"]) if found else None


def _title_before(title: str) -> str:
    base, _, count = title.removesuffix(")").rpartition(" (fork #")
    return base if count == "1" else f"{base} (fork #{int(count) - 1})"


adapter = OpenCode()
