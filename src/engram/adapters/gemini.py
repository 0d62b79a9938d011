"""Gemini CLI.

Where: `~/.gemini/tmp/<project>/chats/` (`GEMINI_CLI_HOME` takes the place of the home), where <project> is a hash of
the working directory, since 2026 a short name with the directory in `.project_root`. `session-<time>-<id>.json` was one
JSON object with `messages`, written anew each time; since about 0.40 `.jsonl` is a log of changes. A subagent's log is
`chats/<parent session>/<session>.jsonl`.

Records: a header (sessionId, projectHash, kind main or subagent), repeated on resume; messages (`type` user, gemini,
info, warning, error) appended again under the same id when their tool calls have ended, so the last copy counts;
`{"$set": …}` changes the header, and its `messages` is the history as the model sees it from now on: poorer copies of
what was said, a compaction's summary, the context of a start; `{"$rewindTo": id}`. What was rewound did happen and
stays. `toolCalls` hold arguments, result and status, and a command that failed is a `success` with `Exit Code:` in its
text; the user record after them repeats the results. Hooks put `<hook_context>` before the person's words.

Usage: `tokens` of a message, per call to the model: cached is inside input; thoughts and tool are beside output and
input. Calls that compress, route or title are never logged, so totals are a floor.

Seen: whole files of 2026-01, 0.61. Not seen: `$rewindTo`, a cancelled call, `displayContent`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from engram.adapters.adapter import Item, Mark, Place, as_text, mapping, microseconds, user_home, words
from engram.adapters.beginning import parse_beginning
from engram.adapters.bounded import CHUNK, Bytes, Cut, opened, read_whole
from engram.adapters.document import parse_document
from engram.adapters.gemini_message import (
    answered,
    ended,
    listed,
    notice,
    responses,
    said,
    traces_of,
    usage_of,
    workspace_of,
)
from engram.adapters.records import Record, damage, looks_like, opaque, record_key, records
from engram.adapters.shapes import told
from engram.model import Event

_LEFT_OUT = ("logs.json", "checkpoint*", "tool*outputs")
_MESSAGES = re.compile(r'"messages":\s*\[')
_SESSION = re.compile(r'"sessionId":\s*"([^"]+)"')
_HEADER = {
    "activeExtensionName", "directories", "kind", "lastUpdated", "memoryScratchpad", "messages", "projectHash",
    "sessionId", "startTime", "summary",
}  # fmt: skip


class Gemini:
    """The adapter of Gemini CLI."""

    flavor = "gemini"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Gemini CLI keeps its transcripts."""
        home = environ.get("GEMINI_CLI_HOME") or user_home(environ)
        yield Place(root=os.path.join(home, ".gemini", "tmp"), endings=(".json", ".jsonl"), left_out=_LEFT_OUT)

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell whether a file is a transcript of Gemini CLI."""
        return looks_like(head, _is_ours) or _is_ours(mapping(parse_beginning(head)))

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield what a transcript says after a mark; a file that is written anew is read anew."""
        state = deepcopy(since.state or {})
        text = _written_whole(path)
        if text is None:
            yield from _log(path, since.offset, state)
            return
        chat = _Chat(path, state, None)
        content, lost = _content(text)
        yield from chat.header(content, 0)
        if lost:
            yield damage(chat.session, Record(start=len(text) - lost, end=len(text), value=None, lost=lost))
        yield Mark(offset=0, state=state)


def _is_ours(record: dict[str, Any]) -> bool:
    if "projectHash" in record:
        return "sessionId" in record
    answer = record.get("type") == "gemini" and "id" in record and "content" in record
    return answer or isinstance(record.get("$set"), dict) or "$rewindTo" in record


def _written_whole(path: str) -> Bytes | None:
    """Return a file that is no log: one object over many lines, or in one line that nothing ends."""
    with opened(path) as file:
        first = file.readline(CHUNK)
    spread = first in (b"{\n", b"{\r\n")
    if first.endswith(b"\n") and not spread:
        return None
    try:
        text = read_whole(path)
    except Cut:
        return b"" if spread else None
    return text if spread or (b"\n" not in text and "messages" in _parse(text)) else None


def _parse(text: Bytes) -> dict[str, Any]:
    return mapping(parse_document(text))


def _content(text: Bytes) -> tuple[dict[str, Any], int]:
    """Return what a whole file says, if need be only its whole messages, and how much of it is lost."""
    from json import JSONDecoder

    content = _parse(text)
    if content:
        return content, 0
    rest = text.decode("utf-8", "replace")
    session, start = _SESSION.search(rest), _MESSAGES.search(rest)
    place, messages = start.end() if start else 0, []
    try:
        while start and (opening := rest.find("{", place)) >= 0:
            message, place = JSONDecoder(strict=False).raw_decode(rest, opening)
            messages.append(message)
    except (ValueError, RecursionError):
        pass
    lost = max(len(text) - len(rest[:place].encode("utf-8", "replace")), 1)
    return {"sessionId": session[1] if session else None, "messages": messages}, lost


def _log(path: str, offset: int, state: dict[str, Any]) -> Iterator[Item]:
    chat = _Chat(path, state, _Known(path, offset == 0))
    end = marked = offset
    for record in records(path, offset):
        if isinstance(record.value, dict):
            yield from chat.read(record, record.value)
        else:
            yield damage(chat.session, record)
        end = record.end
        if end - marked > 1 << 20:
            yield Mark(offset=end, state=deepcopy(state))
            marked = end
    yield Mark(offset=end, state=state)


class _Known:
    """What a log has said so far, read again from its beginning only when that is asked."""

    def __init__(self, path: str, from_start: bool) -> None:
        self.path = path
        self.traces: set[int] | None = set() if from_start else None

    def add(self, message: dict[str, Any]) -> None:
        """Remember a message."""
        if self.traces is not None:
            self.traces.update(traces_of(message))

    def has(self, message: dict[str, Any], before: int) -> bool:
        """Tell whether a message was said before this place, under whichever id."""
        if self.traces is None:
            self.traces = set()
            for record in records(self.path):
                if record.start >= before:
                    break
                value = mapping(record.value)
                for each in (*listed((mapping(value.get("$set")) or value).get("messages")), value):
                    self.add(each)
        return not self.traces.isdisjoint(traces_of(message))


class _Chat:
    """A session as it is read."""

    def __init__(self, path: str, state: dict[str, Any], known: _Known | None) -> None:
        self.path, self.state, self.known = path, state, known

    @property
    def session(self) -> str:
        """Return the session's id; before that is known, the name of the file."""
        named = os.path.basename(self.path).removesuffix(".zst").removesuffix(".jsonl").removesuffix(".json")
        return str(self.state.get("session") or named)

    def read(self, record: Record, value: dict[str, Any]) -> Iterator[Item]:
        """Yield what a record of a log says."""
        if isinstance(value.get("$set"), dict):
            yield from self._changed(record, value["$set"])
        elif "$rewindTo" in value:
            yield Event(
                session=self.session, key=f"rewind:{record.start}", kind="lifecycle", order=record.start << 8,
                name="rewind", text=as_text(value["$rewindTo"]),
            )  # fmt: skip
        elif "projectHash" in value and "sessionId" in value:
            yield from self.header(value, record.start)
        elif "type" in value and words(value.get("id")):
            yield from self._message(value, record.start << 8)
        else:
            yield opaque(self.session, record, microseconds(value.get("timestamp")), words(value.get("type")))

    def header(self, value: dict[str, Any], start: int) -> Iterator[Item]:
        """Yield what a header says about the session, and the messages of a file that is nothing but one."""
        self.state["session"] = words(value.get("sessionId")) or self.session
        if value.get("kind") == "subagent":
            self.state["subagent"] = True
            folder = os.path.basename(os.path.dirname(os.path.abspath(self.path)))
            yield from self._about(relation="subagent", parent=folder if folder != "chats" else None)
        yield from self._about(cwd=_directory(value) or _project_root(self.path), title=words(value.get("summary")))
        for place, message in enumerate(listed(value.get("messages"))):
            yield from self._message(message, (start + place) << 8)

    def _about(self, **facts: Any) -> Iterator[Item]:
        yield from told(self.session, self.state, **facts)

    def _changed(self, record: Record, change: dict[str, Any]) -> Iterator[Item]:
        """Yield what a change of the header brings that was not said before."""
        yield from self._about(cwd=_directory(change), title=words(change.get("summary")))
        for place, message in enumerate(listed(change.get("messages"))):
            if self.known is None or not self.known.has(message, record.start):
                # an answer that first appears here is none: it was put there after a summary
                own = {**message, "type": "injected"} if message.get("type") == "gemini" else message
                yield from self._message(own, (record.start << 8) + place)
        if set(change).isdisjoint(_HEADER):
            yield opaque(self.session, record, None, "$set")

    def _message(self, message: dict[str, Any], order: int) -> Iterator[Item]:
        if self.known:
            self.known.add(message)
        key, at = words(message.get("id")) or record_key(message), microseconds(message.get("timestamp"))
        if message.get("type") == "user" and not self.state.get("told", {}).get("cwd"):
            yield from self._about(cwd=workspace_of(message))
        if message.get("type") in ("gemini", "model"):
            yield from self._about(model=words(message.get("model")))
            yield from usage_of(self.session, message, key)
        facts = self._facts(message, key)
        if facts is None:
            record = Record(start=order >> 8, end=order >> 8, value=message)
            yield opaque(self.session, record, at, words(message.get("type")))
        for place, fact in enumerate(facts or ()):
            yield Event(**{"session": self.session, "order": order + place, "at": at, **fact})

    def _facts(self, message: dict[str, Any], key: str) -> list[dict[str, Any]] | None:
        """Return what a message says; nothing at all if its type is new to us."""
        kind = message.get("type")
        if kind == "user":
            results = responses(message, self.state.get("answered", ()))
            return [*results, *said(message, key, "subagent" in self.state)]
        if kind in ("gemini", "model"):
            self.state["answered"] = ended(message)
            return list(answered(message, key))
        if kind == "injected":
            return [{**fact, "role": "system", "name": "injected"} for fact in answered(message, key)]
        if kind in ("info", "warning", "error"):
            return [notice(message, key, kind)]
        return None


def _directory(header: dict[str, Any]) -> str | None:
    directories = header.get("directories")
    return words(directories[0]) if isinstance(directories, list) and directories else None


def _project_root(path: str) -> str | None:
    """Return the working directory the project's own folder names."""
    folder = os.path.dirname(os.path.abspath(path))
    for _ in range(3):
        folder = os.path.dirname(folder)
        try:
            with open(os.path.join(folder, ".project_root"), encoding="utf-8") as file:
                return words(file.read().strip())
        except (OSError, UnicodeDecodeError):
            continue
    return None


adapter = Gemini()
