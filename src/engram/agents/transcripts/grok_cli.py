"""The community's Grok CLI (superagent-ai/grok-cli, `@vibe-kit/grok-cli`), older than xAI's own agent.

Where: one SQLite database, `~/.grok/grok.db`, in the home it shares with xAI's.

Records: `sessions` (title, model, mode, cwd_at_start, cwd_last), `messages` (session_id, seq, role, message_json in the
AI SDK's shape: text, reasoning, tool-call and tool-result parts), `tool_calls` and `tool_results` (success),
`compactions` since schema 2, `usage_events`. All of it is read each time; a row is identified by its session and
number.

Usage: one row per model call, for messages, titles and tasks alike. Cached tokens are not separated, and
the cost is the program's own estimate from list prices: both are marked uncertain.

Seen: schemas 1 to 3 in its source; no database from real use.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.agents.transcripts.adapter import (
    Item,
    Mark,
    Place,
    extract_text,
    get_user_home,
    int_or_none,
    parse_json_text,
    text_or_none,
    to_count,
    to_dict,
    to_microseconds,
    to_text,
)
from engram.agents.transcripts.formats.shared_shapes import keep_small_facts
from engram.errors import StoreDamaged
from engram.store.foreign_database import MAGIC, fetch_rows, list_tables
from engram.types import About, Event, Usage

_TABLES = {"workspaces", "sessions", "messages", "usage_events"}


class GrokCliAdapter:
    """The adapter for the community's Grok CLI."""

    flavor = "grok-cli"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where it keeps its database."""
        yield Place(root=os.path.join(get_user_home(environ), ".grok"), endings=("grok.db",), depth=1)

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file is its database."""
        return head.startswith(MAGIC) and list_tables(path) >= _TABLES

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield everything in the database; a damaged one may yield only part."""
        try:
            yield from _read_sessions(path)
            yield from _read_messages(path)
            yield from _read_compactions(path)
            yield from _read_usage(path)
        except StoreDamaged:
            return
        yield Mark(offset=0, state=None)


def _read_sessions(path: str) -> Iterator[Item]:
    for row in fetch_rows(path, "select * from sessions order by created_at, id"):
        yield About(
            session=to_text(row["id"]),
            cwd=text_or_none(row.get("cwd_last")) or text_or_none(row.get("cwd_at_start")),
            model=text_or_none(row.get("model")),
            title=text_or_none(row.get("title")),
            entrypoint=text_or_none(row.get("mode")),
        )


def _read_messages(path: str) -> Iterator[Item]:
    sql = "select c.session_id, c.tool_call_id, r.success from tool_results r join tool_calls c"
    result_rows = fetch_rows(path, f"{sql} on c.id = r.tool_call_row_id order by r.id")
    verdicts = {(row["session_id"], row["tool_call_id"]): "ok" if row["success"] else "error" for row in result_rows}
    for row in fetch_rows(path, "select * from messages order by session_id, seq"):
        message = parse_json_text(row["message_json"])
        if not isinstance(message, dict):
            yield _build_event(
                row, 0, kind="damage", name="unreadable", data={"bytes": len(to_text(row["message_json"]))}
            )
            continue
        for index, facts in enumerate(_read_facts(message, to_text(row["role"]))):
            call = facts.get("call_id")
            if facts["kind"] == "result":
                facts["verdict"] = verdicts.get((row["session_id"], call)) or facts["verdict"]
            yield _build_event(row, index, **facts)


def _build_event(row: dict[str, Any], index: int, **facts: Any) -> Event:
    sequence = int_or_none(row["seq"]) or 0
    return Event(
        session=to_text(row["session_id"]), key=f"{sequence}:{index}", order=(sequence << 8) + index,
        at=to_microseconds(row["created_at"]), **facts,
    )  # fmt: skip


def _read_facts(message: dict[str, Any], role: str) -> Iterator[dict[str, Any]]:
    """Yield the facts of a message, part by part."""
    content = message.get("content")
    for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        kind = to_dict(part).get("type")
        if kind == "tool-call":
            yield {
                "kind": "call", "role": "assistant", "name": text_or_none(part.get("toolName")),
                "call_id": text_or_none(part.get("toolCallId")), "arguments": part.get("input", part.get("args")),
            }  # fmt: skip
        elif kind == "tool-result":
            yield _build_result(to_dict(part))
        elif kind == "reasoning":
            yield {"kind": "thinking", "role": "assistant", "text": to_text(part.get("text"))}
        elif role in ("user", "assistant"):
            yield {"kind": "message", "role": role, "text": extract_text(part)}
        else:
            yield {"kind": "message", "role": "system", "name": "injected", "text": extract_text(part)}


def _build_result(part: dict[str, Any]) -> dict[str, Any]:
    output = to_dict(part.get("output", part.get("result")))
    kind, inner = to_text(output.get("type")), output.get("value", output)
    detail = to_dict(inner)
    text = to_text(detail.get("output") or detail.get("error") or inner)
    is_error = kind.startswith("error") or detail.get("success") is False
    return {
        "kind": "result", "role": "tool", "call_id": text_or_none(part.get("toolCallId")), "text": text,
        "verdict": "error" if is_error else "ok", "data": keep_small_facts(detail) or None,
    }  # fmt: skip


def _read_compactions(path: str) -> Iterator[Item]:
    if not fetch_rows(path, "select 1 from sqlite_master where name = 'compactions'"):
        return
    for row in fetch_rows(path, "select * from compactions order by id"):
        first_kept = int_or_none(row["first_kept_seq"]) or 0
        yield Event(
            session=to_text(row["session_id"]), key=f"compaction:{row['id']}", kind="compaction", name="summary",
            order=max((first_kept << 8) - 1, 0), at=to_microseconds(row["created_at"]), text=to_text(row["summary"]),
            data={"tokens_before": to_count(row.get("tokens_before"))},
        )  # fmt: skip


def _read_usage(path: str) -> Iterator[Item]:
    for row in fetch_rows(path, "select * from usage_events order by id"):
        cost = to_count(row.get("cost_micros"))
        yield Usage(
            session=to_text(row["session_id"]), key=f"{row['session_id']}:{row['id']}", model=to_text(row["model"]),
            at=to_microseconds(row["created_at"]), input=to_count(row.get("input_tokens")),
            output=to_count(row.get("output_tokens")), cost=cost / 1_000_000 if cost else None, basis="uncertain",
        )  # fmt: skip


adapter = GrokCliAdapter()
