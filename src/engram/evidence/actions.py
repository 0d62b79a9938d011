"""Classify tool calls of any agent: read, edit, run, plan. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engram.evidence.edit_summary import EditSummary, summarize_edit, summarize_patch
from engram.platform.text import to_one_line
from engram.platform.value import value

_READS = frozenset((
    "read", "read_file", "readfile", "view", "view_file", "open_file", "read_many_files", "notebookread", "cat",
    "get_file",
))  # fmt: skip
_EDITS = frozenset((
    "edit", "multiedit", "write", "notebookedit", "write_file", "writefile", "replace", "edit_file", "str_replace",
    "str_replace_editor", "str_replace_based_edit_tool", "apply_patch", "create", "create_file", "write_to_file",
    "replace_in_file", "apply_diff", "insert_content", "search_replace", "patch", "update_file", "delete_file",
    "search_and_replace", "new_file", "edit_existing_file",
))  # fmt: skip
_SHELLS = frozenset((
    "bash", "shell", "exec", "exec_command", "run_shell_command", "run_terminal_command", "run_terminal_cmd",
    "execute_command", "local_shell", "terminal", "powershell", "container.exec", "run_command", "shell_command",
))  # fmt: skip
_PLANS = frozenset(("todowrite", "update_plan", "todo_write", "write_todos", "manage_todo_list", "plan"))
_PATHS = (
    "file_path", "path", "filePath", "absolute_path", "notebook_path", "target_file", "filename", "file",
    "relative_path",
)  # fmt: skip
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_WRITTEN = re.compile(
    r"(?:^|[^>&\d-])>{1,2}\s*(?!&|/dev/)([\w./~+-]+\.\w{1,8})\b|\btee\s+(?:-a\s+)?([\w./~+-]+\.\w{1,8})"
)
_IN_PLACE = re.compile(r"\b(?:sed\s+-i\S*|git mv|git rm|mv|rm)\b([^|;&\n]*)")
_SHOWN = re.compile(r"\b(?:cat|head|tail|nl|less|sed\s+-n)\b([^|;&\n<>]*)")
_FILE = re.compile(r"(?<![\w-])[\w./~+-]*\w\.\w{1,8}(?![\w(])")
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*?^\s*\1\b", re.DOTALL | re.MULTILINE)


@value
class CallAction:
    """A classified tool call."""

    kind: str  # read, edit, run, plan, other
    subject: str  # a command, a file, or the tool's name
    reads: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    todo: tuple[tuple[str, bool], ...] = ()  # planned steps, each with whether it is done
    detail: str = ""  # what an edit changed, if it is short; the arguments of another tool
    lines: str = ""  # the lines that an edit changed


def classify_call(name: str | None, arguments: Any) -> CallAction:
    """Classify a tool call."""
    tool = (name or "").rpartition("__")[2].rpartition(".")[2].lower() if name != "container.exec" else "shell"
    fields = arguments if isinstance(arguments, dict) else {"input": arguments}
    if tool in _SHELLS:
        return _classify_command(extract_command(fields))
    if tool in _PLANS:
        return CallAction(kind="plan", subject=tool, todo=tuple(_iter_todo(fields)))
    paths = tuple(_iter_paths(fields))
    if tool in _EDITS and str(fields.get("command", "")) != "view":
        return _classify_edit(tool, paths, fields)
    if tool in _READS or (tool in _EDITS and paths):
        return CallAction(kind="read", subject=paths[0] if paths else tool, reads=paths)
    return CallAction(kind="other", subject=tool or "call", detail=_find_short_argument(fields))


def extract_command(fields: dict[str, Any]) -> str:
    """Return the command line of a shell call."""
    command = next((fields[name] for name in ("command", "cmd", "script", "input", "code") if fields.get(name)), "")
    if isinstance(command, list):
        words = [str(word) for word in command]
        return words[-1] if len(words) >= 3 and words[1] in ("-c", "-lc") else " ".join(words)
    return str(command)


def _classify_command(command: str) -> CallAction:
    if "*** Begin Patch" in command:
        return _build_patch(command)
    bare = _HEREDOC.sub("", command)
    changes = [first or second for first, second in _WRITTEN.findall(bare)]
    changes += [path for rest in _IN_PLACE.findall(bare) for path in _FILE.findall(rest)]
    reads = [path for rest in _SHOWN.findall(bare) for path in _FILE.findall(rest)]
    return CallAction(kind="run", subject=command, reads=tuple(reads), changes=tuple(changes))


def _iter_paths(fields: dict[str, Any]) -> Iterator[str]:
    for name in _PATHS:
        if isinstance(fields.get(name), str) and fields[name]:
            yield fields[name]
            return
    for item in fields.values():
        if isinstance(item, str) and "*** " in item:
            yield from _PATCHED.findall(item)
    many = fields.get("paths") or fields.get("files")
    if isinstance(many, list):
        yield from (item for item in many if isinstance(item, str))


def _classify_edit(tool: str, paths: tuple[str, ...], fields: dict[str, Any]) -> CallAction:
    patch = next((text for text in fields.values() if isinstance(text, str) and "*** " in text), "")
    if patch and _PATCHED.search(patch):
        return _build_patch(patch)
    summary = summarize_edit(fields)
    return CallAction(
        kind="edit", subject=paths[0] if paths else tool, changes=paths, detail=summary.text, lines=summary.lines
    )


def _build_patch(patch: str) -> CallAction:
    """Return the edit that a patch of several files makes."""
    summaries: dict[str, EditSummary] = summarize_patch(patch)
    shown = [f"{_get_file_name(path)}: {summary.text}" for path, summary in summaries.items() if summary.text]
    detail = next(iter(summaries.values())).text if len(summaries) == 1 else "; ".join(shown[:2])
    return CallAction(
        kind="edit", subject="apply_patch", changes=tuple(_PATCHED.findall(patch)), detail=detail,
        lines="\n".join(summary.lines for summary in summaries.values())[:1_200],
    )  # fmt: skip


def _get_file_name(path: str) -> str:
    return re.split(r"[/\\]", path.strip())[-1]


def _find_short_argument(fields: dict[str, Any]) -> str:
    """Return the short arguments of a call, which say what it is about."""
    texts = [f"{name}={field}" for name, field in fields.items() if isinstance(field, str) and 2 < len(field) <= 200]
    return to_one_line(" ".join(texts[:3]), 160)


def _iter_todo(fields: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    items = next((field for field in fields.values() if isinstance(field, list)), [])
    for item in items:
        if isinstance(item, dict):
            text = next((str(item[name]) for name in ("content", "step", "title", "description") if item.get(name)), "")
            if text:
                yield text, str(item.get("status")) in ("completed", "done", "cancelled")
