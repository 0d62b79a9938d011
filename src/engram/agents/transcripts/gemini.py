"""Gemini CLI.

Where: `~/.gemini/tmp/<project>/chats/` (`GEMINI_CLI_HOME` replaces the home), where <project> is a hash of
the working directory, since 2026 a short name with the directory in `.project_root`. `session-<time>-<id>.json` was one
JSON object with `messages`, rewritten each time; since about 0.40 `.jsonl` is a log of changes. A subagent's log is
`chats/<parent session>/<session>.jsonl`.

Records: a header (sessionId, projectHash, kind main or subagent), repeated on resume; messages (`type` user, gemini,
info, warning, error) appended again under the same id when their tool calls have ended, so the last copy counts;
`{"$set": …}` changes the header, and its `messages` is the history as the model sees it from now on: shorter copies of
messages, a compaction's summary, the context of a start; `{"$rewindTo": id}`. Rewound messages did happen and
stay. `toolCalls` have arguments, result and status, and a failed command is a `success` with `Exit Code:` in its
text; the user record after them repeats the results. Hooks put `<hook_context>` before the user's text.

Usage: `tokens` of a message, per model call: cached is included in input; thoughts and tool are not included in output
and input. Calls that compress, route or title are never logged, so totals are a floor.

Seen: whole files of 2026-01, 0.61. Not seen: `$rewindTo`, a cancelled call, `displayContent`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from engram.agents.transcripts.adapter import (
    Item,
    Mark,
    Place,
    get_user_home,
    text_or_none,
    to_dict,
    to_microseconds,
    to_text,
)
from engram.agents.transcripts.formats.bounded_file import Bytes, open_unpacked, read_whole
from engram.agents.transcripts.formats.json_document import parse_document
from engram.agents.transcripts.formats.json_lines import (
    TranscriptRecord,
    any_record_matches,
    build_damage_event,
    build_opaque_event,
    hash_record,
    iter_records,
)
from engram.agents.transcripts.formats.json_prefix import parse_beginning
from engram.agents.transcripts.formats.shared_shapes import report_new_facts
from engram.agents.transcripts.formats.zstd_frames import CHUNK, UnreadablePart
from engram.agents.transcripts.gemini_message import (
    build_notice,
    find_workspace,
    iter_traces,
    list_ended_calls,
    list_objects,
    read_model_message,
    read_new_results,
    read_usage,
    read_user_message,
)
from engram.types import Event

_LEFT_OUT = ("logs.json", "checkpoint*", "tool*outputs")
_MESSAGES = re.compile(r'"messages":\s*\[')
_SESSION = re.compile(r'"sessionId":\s*"([^"]+)"')
_HEADER_FIELDS = {
    "activeExtensionName", "directories", "kind", "lastUpdated", "memoryScratchpad", "messages", "projectHash",
    "sessionId", "startTime", "summary",
}  # fmt: skip


class GeminiAdapter:
    """The adapter for Gemini CLI."""

    flavor = "gemini"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Gemini CLI keeps its transcripts."""
        home = environ.get("GEMINI_CLI_HOME") or get_user_home(environ)
        yield Place(root=os.path.join(home, ".gemini", "tmp"), endings=(".json", ".jsonl"), left_out=_LEFT_OUT)

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file is a transcript of Gemini CLI."""
        return any_record_matches(head, _is_gemini_record) or _is_gemini_record(to_dict(parse_beginning(head)))

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield the items of a transcript after a mark; a rewritten file is read again."""
        state = deepcopy(since.state or {})
        text = _read_if_whole(path)
        if text is None:
            yield from _read_log(path, since.offset, state)
            return
        chat = _GeminiChat(path, state, None)
        content, lost_bytes = _parse_content(text)
        yield from chat.read_header(content, 0)
        if lost_bytes:
            yield build_damage_event(
                chat.session, TranscriptRecord(start=len(text) - lost_bytes, end=len(text), value=None, lost=lost_bytes)
            )
        yield Mark(offset=0, state=state)


def _is_gemini_record(record: dict[str, Any]) -> bool:
    if "projectHash" in record:
        return "sessionId" in record
    answer = record.get("type") == "gemini" and "id" in record and "content" in record
    return answer or isinstance(record.get("$set"), dict) or "$rewindTo" in record


def _read_if_whole(path: str) -> Bytes | None:
    """Return a file that is not a log: one object over many lines, or on one line without an end."""
    with open_unpacked(path) as file:
        first = file.readline(CHUNK)
    is_multiline = first in (b"{\n", b"{\r\n")
    if first.endswith(b"\n") and not is_multiline:
        return None
    try:
        text = read_whole(path)
    except UnreadablePart:
        return b"" if is_multiline else None
    return text if is_multiline or (b"\n" not in text and "messages" in _parse_object(text)) else None


def _parse_object(text: Bytes) -> dict[str, Any]:
    return to_dict(parse_document(text))


def _parse_content(text: Bytes) -> tuple[dict[str, Any], int]:
    """Return the content of a whole file, if needed only its complete messages, and how many bytes are lost."""
    from json import JSONDecoder

    content = _parse_object(text)
    if content:
        return content, 0
    rest = text.decode("utf-8", "replace")
    session, start = _SESSION.search(rest), _MESSAGES.search(rest)
    position, messages = start.end() if start else 0, []
    try:
        while start and (opening := rest.find("{", position)) >= 0:
            message, position = JSONDecoder(strict=False).raw_decode(rest, opening)
            messages.append(message)
    except (ValueError, RecursionError):
        pass
    lost_bytes = max(len(text) - len(rest[:position].encode("utf-8", "replace")), 1)
    return {"sessionId": session[1] if session else None, "messages": messages}, lost_bytes


def _read_log(path: str, offset: int, state: dict[str, Any]) -> Iterator[Item]:
    chat = _GeminiChat(path, state, _SeenMessages(path, offset == 0))
    end = last_mark = offset
    for record in iter_records(path, offset):
        if isinstance(record.value, dict):
            yield from chat.read_record(record, record.value)
        else:
            yield build_damage_event(chat.session, record)
        end = record.end
        if end - last_mark > 1 << 20:
            yield Mark(offset=end, state=deepcopy(state))
            last_mark = end
    yield Mark(offset=end, state=state)


class _SeenMessages:
    """The messages of a log so far; the log is read again from its start only when needed."""

    def __init__(self, path: str, from_start: bool) -> None:
        self.path = path
        self.traces: set[int] | None = set() if from_start else None

    def add(self, message: dict[str, Any]) -> None:
        """Add a message."""
        if self.traces is not None:
            self.traces.update(iter_traces(message))

    def has(self, message: dict[str, Any], before_offset: int) -> bool:
        """Return whether a message occurred before this offset, under any id."""
        if self.traces is None:
            self.traces = set()
            for record in iter_records(self.path):
                if record.start >= before_offset:
                    break
                value = to_dict(record.value)
                for message_copy in (*list_objects((to_dict(value.get("$set")) or value).get("messages")), value):
                    self.add(message_copy)
        return not self.traces.isdisjoint(iter_traces(message))


class _GeminiChat:
    """A session being read."""

    def __init__(self, path: str, state: dict[str, Any], seen: _SeenMessages | None) -> None:
        self.path, self.state, self.seen = path, state, seen

    @property
    def session(self) -> str:
        """The session's id, or the file's name until it is known."""
        file_stem = os.path.basename(self.path).removesuffix(".zst").removesuffix(".jsonl").removesuffix(".json")
        return str(self.state.get("session") or file_stem)

    def read_record(self, record: TranscriptRecord, value: dict[str, Any]) -> Iterator[Item]:
        """Yield the items of a log record."""
        if isinstance(value.get("$set"), dict):
            yield from self._read_header_change(record, value["$set"])
        elif "$rewindTo" in value:
            yield Event(
                session=self.session, key=f"rewind:{record.start}", kind="lifecycle", order=record.start << 8,
                name="rewind", text=to_text(value["$rewindTo"]),
            )  # fmt: skip
        elif "projectHash" in value and "sessionId" in value:
            yield from self.read_header(value, record.start)
        elif "type" in value and text_or_none(value.get("id")):
            yield from self._read_message(value, record.start << 8)
        else:
            yield build_opaque_event(
                self.session, record, to_microseconds(value.get("timestamp")), text_or_none(value.get("type"))
            )

    def read_header(self, value: dict[str, Any], start: int) -> Iterator[Item]:
        """Yield the facts in a header, and the messages of a file that consists of one header."""
        self.state["session"] = text_or_none(value.get("sessionId")) or self.session
        if value.get("kind") == "subagent":
            self.state["subagent"] = True
            folder = os.path.basename(os.path.dirname(os.path.abspath(self.path)))
            yield from self._report_new_facts(relation="subagent", parent=folder if folder != "chats" else None)
        yield from self._report_new_facts(
            cwd=_get_directory(value) or _find_project_root(self.path), title=text_or_none(value.get("summary"))
        )
        for index, message in enumerate(list_objects(value.get("messages"))):
            yield from self._read_message(message, (start + index) << 8)

    def _report_new_facts(self, **facts: Any) -> Iterator[Item]:
        yield from report_new_facts(self.session, self.state, **facts)

    def _read_header_change(self, record: TranscriptRecord, change: dict[str, Any]) -> Iterator[Item]:
        """Yield what a change of the header adds."""
        yield from self._report_new_facts(cwd=_get_directory(change), title=text_or_none(change.get("summary")))
        for index, message in enumerate(list_objects(change.get("messages"))):
            if self.seen is None or not self.seen.has(message, record.start):
                # a reply that first appears here is not one: it was inserted after a summary
                own_message = {**message, "type": "injected"} if message.get("type") == "gemini" else message
                yield from self._read_message(own_message, (record.start << 8) + index)
        if set(change).isdisjoint(_HEADER_FIELDS):
            yield build_opaque_event(self.session, record, None, "$set")

    def _read_message(self, message: dict[str, Any], order: int) -> Iterator[Item]:
        if self.seen:
            self.seen.add(message)
        key, at = text_or_none(message.get("id")) or hash_record(message), to_microseconds(message.get("timestamp"))
        if message.get("type") == "user" and not self.state.get("told", {}).get("cwd"):
            yield from self._report_new_facts(cwd=find_workspace(message))
        if message.get("type") in ("gemini", "model"):
            yield from self._report_new_facts(model=text_or_none(message.get("model")))
            yield from read_usage(self.session, message, key)
        facts = self._read_facts(message, key)
        if facts is None:
            record = TranscriptRecord(start=order >> 8, end=order >> 8, value=message)
            yield build_opaque_event(self.session, record, at, text_or_none(message.get("type")))
        for index, fact in enumerate(facts or ()):
            yield Event(**{"session": self.session, "order": order + index, "at": at, **fact})

    def _read_facts(self, message: dict[str, Any], key: str) -> list[dict[str, Any]] | None:
        """Return the facts of a message, or nothing if its type is unknown."""
        kind = message.get("type")
        if kind == "user":
            results = read_new_results(message, self.state.get("answered", ()))
            return [*results, *read_user_message(message, key, "subagent" in self.state)]
        if kind in ("gemini", "model"):
            self.state["answered"] = list_ended_calls(message)
            return list(read_model_message(message, key))
        if kind == "injected":
            return [{**fact, "role": "system", "name": "injected"} for fact in read_model_message(message, key)]
        if kind in ("info", "warning", "error"):
            return [build_notice(message, key, kind)]
        return None


def _get_directory(header: dict[str, Any]) -> str | None:
    directories = header.get("directories")
    return text_or_none(directories[0]) if isinstance(directories, list) and directories else None


def _find_project_root(path: str) -> str | None:
    """Return the working directory named in the project's folder."""
    folder = os.path.dirname(os.path.abspath(path))
    for _ in range(3):
        folder = os.path.dirname(folder)
        try:
            with open(os.path.join(folder, ".project_root"), encoding="utf-8") as file:
                return text_or_none(file.read().strip())
        except (OSError, UnicodeDecodeError):
            continue
    return None


adapter = GeminiAdapter()
