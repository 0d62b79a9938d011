"""Follow the list of tasks that an agent keeps with one call for each task, and tasks it suggests for later. Pure."""

from __future__ import annotations

from typing import Any

from engram.platform.text import to_one_line

_KEPT = 30
_LONGEST = 120
_FINISHED = frozenset(("completed", "done", "cancelled"))


def update_tasks(tasks: dict[str, list[Any]], name: str | None, arguments: Any) -> bool:
    """Create, change or delete a task, numbered in the order of their creation; return whether the call does so."""
    tool = (name or "").lower()
    fields = arguments if isinstance(arguments, dict) else {}
    if tool == "taskcreate" and fields.get("subject"):
        created = max(map(int, tasks), default=0) + 1
        tasks[str(created)] = [to_one_line(str(fields["subject"]), _LONGEST), False, False]
        for old in list(tasks)[:-_KEPT]:
            del tasks[old]
        return True
    number, status = str(fields.get("taskId")), str(fields.get("status") or "")
    if tool != "taskupdate" or number not in tasks:
        return False
    if status == "deleted":
        del tasks[number]
    elif status:
        tasks[number][1:] = [status in _FINISHED, status == "in_progress"]
    if status in _FINISHED:
        _finish_passed_over(tasks, int(number))
    return True


def _finish_passed_over(tasks: dict[str, list[Any]], number: int) -> None:
    """Mark tasks as finished that were begun before another one which is finished now: agents forget to."""
    for before, task in tasks.items():
        if int(before) < number and task[2]:
            task[1:] = [True, False]


def read_suggested_task(name: str | None, arguments: Any) -> str:
    """Return the title of a task that an agent suggests for a session of its own, or ""."""
    if not (name or "").lower().endswith("spawn_task") or not isinstance(arguments, dict):
        return ""
    return to_one_line(str(arguments.get("title") or ""), _LONGEST)


def dismisses_task(name: str | None) -> bool:
    """Return whether a call withdraws a suggested task."""
    return (name or "").lower().endswith("dismiss_task")
