"""Roo Code, a fork of Cline with the same kind of tasks (see cline_task).

Where: `globalStorage/rooveterinaryinc.roo-cline/tasks/<task>/ui_messages.json` under VS Code's settings, with
`history_item.json` beside it (task, workspace, parentTaskId, tokens, totalCost). Its tasks differ from old ones of
Cline by that file, by entries that only Roo has, and by the mode in what it sends to the model.
If `api_conversation_history.json` (see cline_history) holds more, it is read instead.

Usage: `history_item.json` has the tokens of the whole task, without cached ones; if it is missing, the requests are
counted one by one.

Seen: no file of Roo's own; read as its source writes them (packages/types: message.ts, history.ts).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.agents.transcripts.adapter import Item, Mark, Place, text_or_none, to_microseconds
from engram.agents.transcripts.cline import list_storages
from engram.agents.transcripts.cline_history import FILE_NAME, UI_NAME, is_history, rank_task_files, read_history
from engram.agents.transcripts.cline_task import (
    get_first_kind,
    get_task_id,
    is_roo,
    read_entries,
    read_sibling,
    read_usage,
)
from engram.agents.transcripts.formats.json_document import build_unreadable_event, read_document
from engram.agents.transcripts.formats.json_prefix import parse_beginning
from engram.types import About


class RooAdapter:
    """The adapter for Roo Code."""

    flavor = "roo"
    version = 2

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Roo Code keeps its tasks."""
        for storage in list_storages(environ, "rooveterinaryinc.roo-cline"):
            yield Place(root=os.path.join(storage, "tasks"), endings=(UI_NAME, FILE_NAME), depth=2)

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file is a task of Roo Code."""
        is_task = get_first_kind(head) == "text" or is_history(path, parse_beginning(head))
        return is_task and is_roo(path, head)

    def rank_copies(self, path: str) -> list[str]:
        """Return the files of the same task, the best first."""
        return rank_task_files(path)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield all items of a task."""
        task, entries, item = get_task_id(path), read_document(path), read_sibling(path, "history_item.json")
        yield from _build_session_facts(task, item)
        yield from read_usage(task, task, "", to_microseconds(item.get("ts")), item)
        is_subagent = bool(item.get("parentTaskId"))
        if isinstance(entries, list) and is_history(path, entries):
            yield from read_history(task, entries, is_subagent)
        elif isinstance(entries, list):
            yield from read_entries(task, entries, counted=not item, is_subagent=is_subagent)
        else:
            yield build_unreadable_event(task, path)
        yield Mark()


def _build_session_facts(task: str, item: dict[str, Any]) -> Iterator[About]:
    parent = text_or_none(item.get("parentTaskId"))
    yield About(
        session=task,
        cwd=text_or_none(item.get("workspace")),
        title=text_or_none(item.get("title")) or text_or_none(item.get("task")),
        parent=parent,
        relation="subagent" if parent else None,
    )


adapter = RooAdapter()
