"""Roo Code, which descends from Cline and keeps its tasks like it (see cline_task).

Where: `globalStorage/rooveterinaryinc.roo-cline/tasks/<task>/ui_messages.json` under VS Code's settings, with
`history_item.json` beside it (task, workspace, parentTaskId, tokens, totalCost). What tells its tasks from old ones of
Cline are that file, entries that only Roo has, and the mode in what it sends to the model.

Usage: `history_item.json` has the tokens of the whole task, without those from the cache; only where it is missing are
the requests counted one by one.

Seen: no file of Roo's own; read as its source writes them (packages/types: message.ts, history.ts).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.adapters.adapter import Item, Mark, Place, microseconds, words
from engram.adapters.cline import storages
from engram.adapters.cline_task import beside, first_kind, is_roo, spending, task_of, told
from engram.adapters.document import document, unreadable
from engram.model import About


class Roo:
    """The adapter of Roo Code."""

    flavor = "roo"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Roo Code keeps its tasks."""
        for storage in storages(environ, "rooveterinaryinc.roo-cline"):
            yield Place(root=os.path.join(storage, "tasks"), endings=("ui_messages.json",), depth=2)

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell whether a file is a task of Roo Code."""
        return first_kind(head) == "text" and is_roo(path, head)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield all a task says."""
        task, entries, item = task_of(path), document(path), beside(path, "history_item.json")
        yield from _about(task, item)
        yield from spending(task, task, "", microseconds(item.get("ts")), item)
        if isinstance(entries, list):
            yield from told(task, entries, counted=not item, asked=bool(item.get("parentTaskId")))
        else:
            yield unreadable(task, path)
        yield Mark()


def _about(task: str, item: dict[str, Any]) -> Iterator[About]:
    parent = words(item.get("parentTaskId"))
    yield About(
        session=task, cwd=words(item.get("workspace")), title=words(item.get("title")) or words(item.get("task")),
        parent=parent, relation="subagent" if parent else None,
    )  # fmt: skip


adapter = Roo()
