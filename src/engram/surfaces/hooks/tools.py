"""What an agent's tool does to files, by its name and what it is given. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EDITS = (
    "Edit", "MultiEdit", "Write", "NotebookEdit",  # Claude Code
    "apply_patch",  # Codex, OpenCode
    "write_file", "replace",  # Gemini; Qwen has `edit` for the second
    "search_replace", "write", "edit", "create", "patch", "multiedit", "str_replace_editor",
)  # fmt: skip
READS = ("Read", "NotebookRead", "read_file", "view", "read", "read_many_files")
SHELLS = (
    "Bash", "bash", "shell", "local_shell", "exec_command", "run_shell_command", "run_terminal_command", "powershell",
)  # fmt: skip
_PATHS = ("file_path", "filePath", "notebook_path", "path", "target_file", "absolute_path", "paths")
_TEXTS = ("command", "input", "patch", "patchText")
_PATCH = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def edited(tool: str, given: dict[str, Any]) -> list[str]:
    """Return the files a call is about to write; a patch handed to a shell counts."""
    patch = next((text for name in _TEXTS if "*** Begin Patch" in (text := _text(given.get(name)))), "")
    if patch and (tool in EDITS or tool in SHELLS):
        return _patched(patch)
    return _named(given) if tool in EDITS and given.get("command") != "view" else []


def read(tool: str, given: dict[str, Any]) -> list[str]:
    """Return the files a call reads."""
    return _named(given) if tool in READS else []


def is_shell(tool: str) -> bool:
    """Tell whether a call may write anywhere."""
    return tool in SHELLS


def _text(given: object) -> str:
    """Return what a call says, as a text or as the words of a command."""
    if isinstance(given, list):
        return "\n".join(word for word in given if isinstance(word, str))
    return given if isinstance(given, str) else ""


def _patched(patch: str) -> list[str]:
    lines = [line.strip() for line in patch.splitlines()]  # Codex takes a heading wherever in its line it stands
    found = [line[len(mark) :].strip() for line in lines for mark in _PATCH if line.startswith(mark)]
    return list(dict.fromkeys(path for path in found if path))


def _named(given: dict[str, Any]) -> list[str]:
    found = next((given[name] for name in _PATHS if given.get(name)), None)
    paths = found if isinstance(found, list) else [found]
    return [path for path in paths if isinstance(path, str) and path.strip() and "\0" not in path]
