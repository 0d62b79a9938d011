"""Find the files that a tool call reads or edits, by the tool's name and arguments."""

from __future__ import annotations

from engram.agents.registry import list_agents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Agents that descend from one another share tools, so a name counts for every agent.
EDIT_TOOLS = frozenset(tool for agent in list_agents() for tool in agent.edit_tools)
READ_TOOLS = frozenset(tool for agent in list_agents() for tool in agent.read_tools)
SHELL_TOOLS = frozenset(tool for agent in list_agents() for tool in agent.shell_tools)
_PATH_FIELDS = ("file_path", "filePath", "notebook_path", "path", "target_file", "absolute_path", "paths")
_TEXT_FIELDS = ("command", "input", "patch", "patchText")
_PATCH_HEADINGS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def list_edited_files(tool: str, tool_input: dict[str, Any]) -> list[str]:
    """Return the files a call will write, including those of a patch passed to a shell."""
    patch = next((text for name in _TEXT_FIELDS if "*** Begin Patch" in (text := _join_text(tool_input.get(name)))), "")
    if patch and (tool in EDIT_TOOLS or tool in SHELL_TOOLS):
        return _list_patched_files(patch)
    return _list_named_paths(tool_input) if tool in EDIT_TOOLS and tool_input.get("command") != "view" else []


def list_read_files(tool: str, tool_input: dict[str, Any]) -> list[str]:
    """Return the files a call reads."""
    return _list_named_paths(tool_input) if tool in READ_TOOLS else []


def is_shell(tool: str) -> bool:
    """Return whether a tool runs shell commands, which may write anywhere."""
    return tool in SHELL_TOOLS


def _join_text(content: object) -> str:
    """Return a text argument; join the words of a command."""
    if isinstance(content, list):
        return "\n".join(word for word in content if isinstance(word, str))
    return content if isinstance(content, str) else ""


def _list_patched_files(patch: str) -> list[str]:
    lines = [line.strip() for line in patch.splitlines()]  # Codex accepts indented headings
    paths = [line[len(mark) :].strip() for line in lines for mark in _PATCH_HEADINGS if line.startswith(mark)]
    return list(dict.fromkeys(path for path in paths if path))


def _list_named_paths(tool_input: dict[str, Any]) -> list[str]:
    raw_paths = next((tool_input[name] for name in _PATH_FIELDS if tool_input.get(name)), None)
    paths = raw_paths if isinstance(raw_paths, list) else [raw_paths]
    return [path for path in paths if isinstance(path, str) and path.strip() and "\0" not in path]
