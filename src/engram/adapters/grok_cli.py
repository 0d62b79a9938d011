"""The community's Grok CLI (superagent-ai/grok-cli, `@vibe-kit/grok-cli`), older than xAI's own agent.

Where: one SQLite database, `~/.grok/grok.db`, in the home it shares with xAI's.

Records: `sessions` (title, model, mode, cwd_at_start, cwd_last), `messages` (session_id, seq, role, message_json in the
AI SDK's shape: text, reasoning, tool-call and tool-result parts), `tool_calls` and `tool_results` (success),
`compactions` since schema 2, `usage_events`. The whole of it is read each time; a row is known by its session and
number.

Usage: one row per call to the model, for messages, titles and tasks alike. What the cache gave is not told apart, and
the cost is the program's own estimate from list prices: both are called uncertain.

Seen: schemas 1 to 3 in its source; no database that somebody used.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.adapters.adapter import (
    Item,
    Mark,
    Place,
    as_text,
    mapping,
    microseconds,
    number,
    parsed,
    text_of,
    user_home,
    whole,
    words,
)
from engram.adapters.shapes import small
from engram.errors import StoreDamaged
from engram.model import About, Event, Usage
from engram.store.foreign import MAGIC, rows, tables

_TABLES = {"workspaces", "sessions", "messages", "usage_events"}


class GrokCli:
    """The adapter of the community's Grok CLI."""

    flavor = "grok-cli"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where it keeps its database."""
        yield Place(root=os.path.join(user_home(environ), ".grok"), endings=("grok.db",), depth=1)

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell whether a file is its database."""
        return head.startswith(MAGIC) and tables(path) >= _TABLES

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield everything the database says; none of it is promised where it is damaged."""
        try:
            yield from _sessions(path)
            yield from _messages(path)
            yield from _compactions(path)
            yield from _usage(path)
        except StoreDamaged:
            return
        yield Mark(offset=0, state=None)


def _sessions(path: str) -> Iterator[Item]:
    for row in rows(path, "select * from sessions order by created_at, id"):
        yield About(
            session=as_text(row["id"]), cwd=words(row.get("cwd_last")) or words(row.get("cwd_at_start")),
            model=words(row.get("model")), title=words(row.get("title")), entrypoint=words(row.get("mode")),
        )  # fmt: skip


def _messages(path: str) -> Iterator[Item]:
    done = "select c.session_id, c.tool_call_id, r.success from tool_results r join tool_calls c"
    ended = rows(path, f"{done} on c.id = r.tool_call_row_id order by r.id")
    verdicts = {(row["session_id"], row["tool_call_id"]): "ok" if row["success"] else "error" for row in ended}
    for row in rows(path, "select * from messages order by session_id, seq"):
        message = parsed(row["message_json"])
        if not isinstance(message, dict):
            yield _event(row, 0, kind="damage", name="unreadable", data={"bytes": len(as_text(row["message_json"]))})
            continue
        for place, facts in enumerate(_facts(message, as_text(row["role"]))):
            call = facts.get("call_id")
            if facts["kind"] == "result":
                facts["verdict"] = verdicts.get((row["session_id"], call)) or facts["verdict"]
            yield _event(row, place, **facts)


def _event(row: dict[str, Any], place: int, **facts: Any) -> Event:
    number_of = whole(row["seq"]) or 0
    return Event(
        session=as_text(row["session_id"]), key=f"{number_of}:{place}", order=(number_of << 8) + place,
        at=microseconds(row["created_at"]), **facts,
    )  # fmt: skip


def _facts(message: dict[str, Any], role: str) -> Iterator[dict[str, Any]]:
    """Yield what a message says, part by part."""
    content = message.get("content")
    for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        kind = mapping(part).get("type")
        if kind == "tool-call":
            yield {
                "kind": "call", "role": "assistant", "name": words(part.get("toolName")),
                "call_id": words(part.get("toolCallId")), "arguments": part.get("input", part.get("args")),
            }  # fmt: skip
        elif kind == "tool-result":
            yield _result(mapping(part))
        elif kind == "reasoning":
            yield {"kind": "thinking", "role": "assistant", "text": as_text(part.get("text"))}
        elif role in ("user", "assistant"):
            yield {"kind": "message", "role": role, "text": text_of(part)}
        else:
            yield {"kind": "message", "role": "system", "name": "injected", "text": text_of(part)}


def _result(part: dict[str, Any]) -> dict[str, Any]:
    output = mapping(part.get("output", part.get("result")))
    kind, inner = as_text(output.get("type")), output.get("value", output)
    detail = mapping(inner)
    text = as_text(detail.get("output") or detail.get("error") or inner)
    failed = kind.startswith("error") or detail.get("success") is False
    return {
        "kind": "result", "role": "tool", "call_id": words(part.get("toolCallId")), "text": text,
        "verdict": "error" if failed else "ok", "data": small(detail) or None,
    }  # fmt: skip


def _compactions(path: str) -> Iterator[Item]:
    if not rows(path, "select 1 from sqlite_master where name = 'compactions'"):
        return
    for row in rows(path, "select * from compactions order by id"):
        kept = whole(row["first_kept_seq"]) or 0
        yield Event(
            session=as_text(row["session_id"]), key=f"compaction:{row['id']}", kind="compaction", name="summary",
            order=max((kept << 8) - 1, 0), at=microseconds(row["created_at"]), text=as_text(row["summary"]),
            data={"tokens_before": number(row.get("tokens_before"))},
        )  # fmt: skip


def _usage(path: str) -> Iterator[Item]:
    for row in rows(path, "select * from usage_events order by id"):
        cost = number(row.get("cost_micros"))
        yield Usage(
            session=as_text(row["session_id"]), key=f"{row['session_id']}:{row['id']}", model=as_text(row["model"]),
            at=microseconds(row["created_at"]), input=number(row.get("input_tokens")),
            output=number(row.get("output_tokens")), cost=cost / 1_000_000 if cost else None, basis="uncertain",
        )  # fmt: skip


adapter = GrokCli()
