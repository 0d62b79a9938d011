"""Grok on the web (grok.com), from its data export.

What: one file (`prod-grok-backend.json`) with conversations [{conversation: {id, title, create_time}, responses:
[{sender: human or assistant, message, create_time, model}]}]; in some exports each response is in `response`, with an
`_id`, and times are {"$date": {"$numberLong": milliseconds}}. Not the Grok CLI, whose sessions are on disk.

Usage: none.

Seen: another tool's sample of 2026-08; the wrapped responses as other tools describe them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.agents.transcripts.adapter import Item, Mark, Place, text_or_none, to_dict, to_microseconds, to_text
from engram.agents.transcripts.formats.json_document import build_unreadable_event, get_file_stem, iter_elements
from engram.agents.transcripts.formats.json_lines import hash_record
from engram.agents.transcripts.formats.json_prefix import parse_beginning
from engram.types import About, Event


class GrokWebAdapter:
    """The adapter for grok.com's export."""

    flavor = "grok-web"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield nothing: an export is wherever the user put it."""
        yield from ()

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file contains Grok conversations."""
        raw_conversations = to_dict(parse_beginning(head)).get("conversations")
        conversations = map(to_dict, raw_conversations if isinstance(raw_conversations, list) else [])
        return any(isinstance(conversation.get("responses"), list) for conversation in conversations)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield all conversations of an export."""
        for element in iter_elements(path):
            conversations = to_dict(element).get("conversations")
            for conversation in conversations if isinstance(conversations, list) else [element]:
                responses = to_dict(conversation).get("responses")
                if isinstance(responses, list):
                    yield from _read_conversation(to_dict(to_dict(conversation).get("conversation")), responses)
                else:
                    yield build_unreadable_event(get_file_stem(path), path)
        yield Mark()


def _read_conversation(about: dict[str, Any], responses: list[Any]) -> Iterator[Item]:
    facts = [about.get("title"), about.get("create_time")]  # identifies it if it has no id
    session = text_or_none(about.get("id")) or text_or_none(about.get("conversation_id")) or hash_record(facts)
    yield About(session=session, title=text_or_none(about.get("title")))
    for index, raw_response in enumerate(responses):
        response = to_dict(to_dict(raw_response).get("response")) or to_dict(raw_response)
        yield from _read_response(session, index, response)


def _read_response(session: str, index: int, response: dict[str, Any]) -> Iterator[Item]:
    key = text_or_none(response.get("_id")) or text_or_none(response.get("id")) or str(index)
    is_user = str(response.get("sender")).lower() in ("human", "user")
    if not is_user and text_or_none(response.get("model")):
        yield About(session=session, model=response["model"])
    yield Event(
        session=session, key=key, order=index, kind="message", role="user" if is_user else "assistant",
        text=to_text(response.get("message")), at=_parse_time(response.get("create_time")),
        parent=text_or_none(response.get("parent_response_id")),
    )  # fmt: skip


def _parse_time(time: Any) -> int | None:
    """Return a time, also in the format of the database behind the export."""
    date = to_dict(time).get("$date", time)
    count = to_dict(date).get("$numberLong", date)
    return to_microseconds(int(count) if isinstance(count, str) and count.isdecimal() and len(count) < 17 else count)


adapter = GrokWebAdapter()
