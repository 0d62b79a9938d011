"""Grok on the web (grok.com), from the data its users can export.

What: one file (`prod-grok-backend.json`) with conversations [{conversation: {id, title, create_time}, responses:
[{sender: human or assistant, message, create_time, model}]}]; in some exports each response lies in `response`, with an
`_id`, and times are {"$date": {"$numberLong": milliseconds}}. Not the Grok CLI, whose sessions are on disk.

Usage: none.

Seen: another tool's sample of 2026-08; the wrapped responses as other tools describe them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.adapters.adapter import Item, Mark, Place, as_text, mapping, microseconds, words
from engram.adapters.beginning import parse_beginning
from engram.adapters.document import elements, named, unreadable
from engram.adapters.records import record_key
from engram.model import About, Event


class GrokWeb:
    """The adapter of grok.com's export."""

    flavor = "grok-web"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield nothing: an export lies wherever its user put it."""
        yield from ()

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell whether a file holds conversations of Grok."""
        listed = mapping(parse_beginning(head)).get("conversations")
        conversations = map(mapping, listed if isinstance(listed, list) else [])
        return any(isinstance(each.get("responses"), list) for each in conversations)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield all conversations of an export."""
        for found in elements(path):
            listed = mapping(found).get("conversations")
            for each in listed if isinstance(listed, list) else [found]:
                responses = mapping(each).get("responses")
                if isinstance(responses, list):
                    yield from _conversation(mapping(mapping(each).get("conversation")), responses)
                else:
                    yield unreadable(named(path), path)
        yield Mark()


def _conversation(about: dict[str, Any], responses: list[Any]) -> Iterator[Item]:
    facts = [about.get("title"), about.get("create_time")]  # what names it where it has no id
    session = words(about.get("id")) or words(about.get("conversation_id")) or record_key(facts)
    yield About(session=session, title=words(about.get("title")))
    for place, each in enumerate(responses):
        response = mapping(mapping(each).get("response")) or mapping(each)
        yield from _response(session, place, response)


def _response(session: str, place: int, response: dict[str, Any]) -> Iterator[Item]:
    key = words(response.get("_id")) or words(response.get("id")) or str(place)
    person = str(response.get("sender")).lower() in ("human", "user")
    if not person and words(response.get("model")):
        yield About(session=session, model=response["model"])
    yield Event(
        session=session, key=key, order=place, kind="message", role="user" if person else "assistant",
        text=as_text(response.get("message")), at=_moment(response.get("create_time")),
        parent=words(response.get("parent_response_id")),
    )  # fmt: skip


def _moment(time: Any) -> int | None:
    """Return a time, also as the database writes it that the export is made from."""
    date = mapping(time).get("$date", time)
    count = mapping(date).get("$numberLong", date)
    return microseconds(int(count) if isinstance(count, str) and count.isdecimal() and len(count) < 17 else count)


adapter = GrokWeb()
