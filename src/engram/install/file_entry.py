"""One entry of ours in a file of an agent: insert it, find it, remove it. Pure."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any, Protocol

from engram.agents.agent import FLAT, Agent
from engram.install import own_command, toml_block
from engram.install.agents import SERVER_NAME, build_hook_entry, build_server_entry
from engram.platform import fence, jsonc
from engram.platform.value import value

_ALLOWED = ("permissions", "allow")  # where a user's settings list what needs no question
_POLICY_MARK = "# engram:policy"  # identifies a policy file of ours
PLUGIN_MARK = "engram:plugin"  # identifies a plugin file of ours


class ForeignEntryError(ValueError):
    """Raised if an entry of somebody else is in our place."""


class ConfigEntry(Protocol):
    """An entry of ours in a configuration file."""

    @property
    def label(self) -> str:
        """A short description."""

    def insert(self, text: str) -> str:
        """Return the text with our entry."""

    def remove(self, text: str, before: str | None) -> str | None:
        """Return the text without our entry, None if nothing is left; `before` shows what was empty already."""

    def find_faults(self, text: str) -> list[str]:
        """Describe what is missing or out of date."""


@value
class HooksEntry:
    """Our hooks among an agent's others."""

    agent: Agent
    command: str
    owns_file: bool = False  # the whole file is ours

    @property
    def label(self) -> str:
        return "hooks"

    def insert(self, text: str) -> str:
        if self.owns_file and self.agent.hook_layout == FLAT and not text.strip():
            text = jsonc.put(text, ("version",), 1)
        wanted_entries = {hook.event: build_hook_entry(self.agent, hook, self.command) for hook in self.agent.hooks}
        for event, entry in wanted_entries.items():
            text = self._insert_hook(text, event, entry)
        for event, hook_path in reversed(_find_our_hooks(text)):
            if event not in wanted_entries:
                text = jsonc.remove(text, ("hooks", event, *hook_path))
        return text

    def remove(self, text: str, before: str | None) -> str | None:
        hooks_found = _find_our_hooks(text)
        for event, hook_path in reversed(hooks_found):
            text = jsonc.remove(text, ("hooks", event, *hook_path))
        if not hooks_found:
            return text
        original = jsonc.data(before) if before and before.strip("\ufeff \t\r\n") else {}
        for event in dict.fromkeys(event for event, _ in hooks_found):
            text = _remove_if_empty(text, ("hooks", event), original)
        text = _remove_if_empty(text, ("hooks",), original)
        return None if self.owns_file and before is None and set(_read_json_value(text) or {}) <= {"version"} else text

    def find_faults(self, text: str) -> list[str]:
        commands_by_event = {
            event: _read_hook_command(text, event, hook_path) for event, hook_path in _find_our_hooks(text)
        }
        missing = [hook.event for hook in self.agent.hooks if hook.event not in commands_by_event]
        faults = [f"no hook for {', '.join(missing)}"] if missing else []
        stale = sorted({command for command in commands_by_event.values() if command != self.command})
        return faults + [f"hooks call {command}" for command in stale]

    def find_commands(self, text: str) -> set[str]:
        """Return the commands our hooks call in this text."""
        return {_read_hook_command(text, event, hook_path) for event, hook_path in _find_our_hooks(text)}

    def _insert_hook(self, text: str, event: str, wanted_entry: dict[str, Any]) -> str:
        hook_paths = [hook_path for name, hook_path in _find_our_hooks(text) if name == event]
        for hook_path in reversed(hook_paths[1:]):  # one is enough
            text = jsonc.remove(text, ("hooks", event, *hook_path))
        if not hook_paths:
            existing = _read_json_value(text, "hooks", event) or []
            return jsonc.put(text, ("hooks", event, len(existing)), wanted_entry)
        new_entry = wanted_entry if len(hook_paths[0]) == 1 else wanted_entry["hooks"][0]
        path = ("hooks", event, *hook_paths[0])
        node = jsonc.at(jsonc.parse(text, path), path)
        return text if node is not None and node.data == new_entry else jsonc.put(text, path, new_entry)


@value
class ServerEntry:
    """Our MCP server among an agent's others, in JSON."""

    agent: Agent
    program: str
    key: str = "mcpServers"

    @property
    def label(self) -> str:
        return "MCP server"

    def insert(self, text: str) -> str:
        existing, wanted_entry = (
            _read_json_value(text, self.key, SERVER_NAME),
            build_server_entry(self.agent, self.program),
        )
        if existing is None:
            return jsonc.put(text, (self.key, SERVER_NAME), wanted_entry)
        if not own_command.is_our_server(existing):
            raise ForeignEntryError(f"its MCP server {SERVER_NAME!r} is not ours; it was left unchanged.")
        for name in ("command", "args"):  # settings a user added (environment, trust) are kept
            if name in wanted_entry and existing.get(name) != wanted_entry[name]:
                text = jsonc.put(text, (self.key, SERVER_NAME, name), wanted_entry[name])
        return text

    def remove(self, text: str, before: str | None) -> str | None:
        if not own_command.is_our_server(_read_json_value(text, self.key, SERVER_NAME)):
            return text
        text = jsonc.remove(text, (self.key, SERVER_NAME))
        original = jsonc.data(before) if before and before.strip("\ufeff \t\r\n") else {}
        return _remove_if_empty(text, (self.key,), original)

    def find_faults(self, text: str) -> list[str]:
        existing, wanted_entry = (
            _read_json_value(text, self.key, SERVER_NAME),
            build_server_entry(self.agent, self.program),
        )
        return _find_server_faults(existing, wanted_entry)


@value
class TomlServerEntry:
    """Our MCP server among an agent's others, in TOML."""

    program: str

    @property
    def label(self) -> str:
        return "MCP server"

    def insert(self, text: str) -> str:
        existing = toml_block.get_at_path(toml_block.parse_toml(text), ("mcp_servers", SERVER_NAME))
        if existing is not None and not own_command.is_our_server(existing):
            raise ForeignEntryError(f"its MCP server {SERVER_NAME!r} is not ours; it was left unchanged.")
        return toml_block.put_table(text, ("mcp_servers", SERVER_NAME), self._build_table())

    def remove(self, text: str, before: str | None) -> str | None:  # noqa: ARG002
        existing = toml_block.get_at_path(toml_block.parse_toml(text), ("mcp_servers", SERVER_NAME))
        return (
            toml_block.remove_table(text, ("mcp_servers", SERVER_NAME)) if own_command.is_our_server(existing) else text
        )

    def find_faults(self, text: str) -> list[str]:
        return _find_server_faults(
            toml_block.get_at_path(toml_block.parse_toml(text), ("mcp_servers", SERVER_NAME)), self._build_table()
        )

    def _build_table(self) -> dict[str, Any]:
        return {"command": self.program, "args": ["mcp"]}


@value
class PermissionsEntry:
    """The tools of ours that only read, among those an agent may call without asking its user."""

    tools: tuple[str, ...]

    @property
    def label(self) -> str:
        return "permission to read"

    def insert(self, text: str) -> str:
        for tool in self._list_missing(text):
            allowed = _read_json_value(text, *_ALLOWED) or []
            text = jsonc.put(text, (*_ALLOWED, len(allowed)), tool)
        return text

    def remove(self, text: str, before: str | None) -> str | None:
        original = jsonc.data(before) if before and before.strip("\ufeff \t\r\n") else {}
        kept = _read_list(original, *_ALLOWED)
        found = [
            position
            for position, tool in enumerate(_read_json_value(text, *_ALLOWED) or [])
            if tool in self.tools and tool not in kept
        ]
        if not found:
            return text
        for position in reversed(found):
            text = jsonc.remove(text, (*_ALLOWED, position))
        for depth in (2, 1):
            text = _remove_if_empty(text, _ALLOWED[:depth], original)
        return text

    def find_faults(self, text: str) -> list[str]:  # noqa: ARG002
        return []  # a user may take it back

    def _list_missing(self, text: str) -> list[str]:
        allowed = _read_json_value(text, *_ALLOWED) or []
        return [tool for tool in self.tools if tool not in allowed] if isinstance(allowed, list) else []


@value
class PolicyFileEntry:
    """A file of ours with the policy that the tools that only read need no question."""

    tools: tuple[str, ...]

    @property
    def label(self) -> str:
        return "permission to read"

    def insert(self, text: str) -> str:
        if text.strip() and _POLICY_MARK not in text:
            raise ForeignEntryError("the file is not ours; it was left unchanged.")
        rule = f'toolName = {json.dumps(self.tools)}\ndecision = "allow"\npriority = 100\n'
        return f"{_POLICY_MARK}: Engram's tools that only read. `engram uninit` removes this file.\n[[rule]]\n{rule}"

    def remove(self, text: str, before: str | None) -> str | None:  # noqa: ARG002
        return None if _POLICY_MARK in text else text

    def find_faults(self, text: str) -> list[str]:  # noqa: ARG002
        return []  # a user may take it back


@value
class PluginFileEntry:
    """A file that belongs to us completely."""

    text: str

    @property
    def label(self) -> str:
        return "plugin"

    def insert(self, text: str) -> str:
        if text.strip() and PLUGIN_MARK not in text:
            raise ForeignEntryError("the file is not ours; it was left unchanged.")
        return self.text

    def remove(self, text: str, before: str | None) -> str | None:  # noqa: ARG002
        return None if PLUGIN_MARK in text else text

    def find_commands(self, text: str) -> set[str]:
        """Return the command that the plugin in this text calls."""
        match = re.search(r"^const COMMAND = (\[.*\])$", text, re.MULTILINE) if PLUGIN_MARK in text else None
        return {shlex.join(json.loads(match.group(1)))} if match else set()

    def find_faults(self, text: str) -> list[str]:
        return [] if text == self.text else ["the plugin is of another version" if PLUGIN_MARK in text else "no plugin"]


@value
class InstructionsEntry:
    """Our block in an instructions file."""

    block: str

    @property
    def label(self) -> str:
        return "instructions"

    def insert(self, text: str) -> str:
        return fence.insert_block(text, "", self.block)

    def remove(self, text: str, before: str | None) -> str | None:
        rest = fence.remove_block(text, "")
        return None if before is None and not rest.strip() and rest != text else rest

    def find_faults(self, text: str) -> list[str]:
        existing = fence.read_block(text, "")
        return (
            []
            if existing == self.block.strip()
            else ["no block" if existing is None else "the block is of another version"]
        )


def _find_server_faults(existing: Any, wanted_entry: dict[str, Any]) -> list[str]:
    if existing is None:
        return ["no MCP server"]
    if not own_command.is_our_server(existing):
        return [f"the MCP server {SERVER_NAME!r} is not ours"]
    differs = any(existing.get(name) != wanted_entry[name] for name in ("command", "args") if name in wanted_entry)
    command = existing["command"] if isinstance(existing["command"], str) else " ".join(existing["command"])
    return [f"the MCP server is {command}"] if differs else []


def _find_our_hooks(text: str) -> list[tuple[str, tuple[str | int, ...]]]:
    """Return the positions of our hooks by event: a whole entry, or one hook in an entry of several."""
    hook_paths: list[tuple[str, tuple[str | int, ...]]] = []
    for event, entries in _list_items(_read_json_value(text, "hooks")):
        for entry_index, entry in enumerate(entries if isinstance(entries, list) else ()):
            inner = entry.get("hooks") if isinstance(entry, dict) else None
            if not isinstance(inner, list):
                hook_paths += [(event, (entry_index,))] if _is_our_hook(entry) else []
                continue
            our_indexes = [hook_index for hook_index, hook in enumerate(inner) if _is_our_hook(hook)]
            is_entry_ours = our_indexes and len(our_indexes) == len(inner)
            hook_paths += (
                [(event, (entry_index,))]
                if is_entry_ours
                else [(event, (entry_index, "hooks", hook_index)) for hook_index in our_indexes]
            )
    return hook_paths


def _read_hook_command(text: str, event: str, hook_path: tuple[str | int, ...]) -> str:
    node = jsonc.at(jsonc.parse(text, ("hooks", event, *hook_path)), ("hooks", event, *hook_path))
    entry = node.data if node else {}
    inner = entry.get("hooks")
    hook = inner[0] if isinstance(inner, list) else entry
    return str(hook.get("command") or hook.get("bash") or "")


def _is_our_hook(hook: Any) -> bool:
    return isinstance(hook, dict) and (
        own_command.is_our_hook(hook.get("command")) or own_command.is_our_hook(hook.get("bash"))
    )


def _remove_if_empty(text: str, path: tuple[str, ...], original: Any) -> str:
    """Remove a container that is empty now and was not there before."""
    for key in path:
        original = original.get(key) if isinstance(original, dict) else None
    current = _read_json_value(text, *path)
    return jsonc.remove(text, path) if current in ({}, []) and original is None else text


def _read_json_value(text: str, *path: str) -> Any:
    if not text.strip("\ufeff \t\r\n"):
        return None
    current = jsonc.data(text)
    for key in path:
        current = current.get(key) if isinstance(current, dict) else None
    return current


def _read_list(root: Any, *path: str) -> list[Any]:
    for key in path:
        root = root.get(key) if isinstance(root, dict) else None
    return root if isinstance(root, list) else []


def _list_items(table: Any) -> list[tuple[str, Any]]:
    return list(table.items()) if isinstance(table, dict) else []


def render_plugin(template: str, program: str) -> str:
    """Return the text of the plugin with our command."""
    return template.replace('["engram", "hook"]', json.dumps([program, "hook"], ensure_ascii=False))
