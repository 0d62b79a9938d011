"""One thing of ours in one file of an agent: put in, found again, taken out. Pure, but for what it is given."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any, Protocol

from engram.files import fence
from engram.value import value
from engram.wiring import command as ours
from engram.wiring import jsonc, toml_block
from engram.wiring.agents import SERVER, Agent, hook_entry, server_entry

MARK = "engram:plugin"  # what tells a plugin file of ours from anybody else's


class Foreign(ValueError):
    """Something of another's stands where ours would."""


class Wire(Protocol):
    """What every thing of ours can do with the text of its file."""

    @property
    def why(self) -> str:
        """Say what it is, in a word or two."""

    def put(self, text: str) -> str:
        """Return the text with us in it."""

    def removed(self, text: str, before: str | None) -> str | None:
        """Return the text without us, None if nothing is left of the file; `before` says what was empty already."""

    def faults(self, text: str) -> list[str]:
        """Return what is missing or out of date, in words."""


@value
class Hooks:
    """Our hooks among an agent's others."""

    agent: Agent
    command: str
    own: bool = False  # the whole file is ours

    @property
    def why(self) -> str:
        return "hooks"

    def put(self, text: str) -> str:
        if self.own and self.agent.shape == "flat" and not text.strip():
            text = jsonc.put(text, ("version",), 1)
        wanted = {hook.event: hook_entry(self.agent, hook, self.command) for hook in self.agent.hooks}
        for event, entry in wanted.items():
            text = self._wired(text, event, entry)
        for event, place in reversed(_found(text)):
            if event not in wanted:
                text = jsonc.remove(text, ("hooks", event, *place))
        return text

    def removed(self, text: str, before: str | None) -> str | None:
        found = _found(text)
        for event, place in reversed(found):
            text = jsonc.remove(text, ("hooks", event, *place))
        if not found:
            return text
        kept = jsonc.data(before) if before and before.strip("\ufeff \t\r\n") else {}
        for event in dict.fromkeys(event for event, _ in found):
            text = _without_empty(text, ("hooks", event), kept)
        text = _without_empty(text, ("hooks",), kept)
        return None if self.own and before is None and set(_said(text) or {}) <= {"version"} else text

    def faults(self, text: str) -> list[str]:
        found = {event: _command(text, event, place) for event, place in _found(text)}
        missing = [hook.event for hook in self.agent.hooks if hook.event not in found]
        told = [f"no hook for {', '.join(missing)}"] if missing else []
        stale = sorted({each for each in found.values() if each != self.command})
        return told + [f"hooks call {each}" for each in stale]

    def commands(self, text: str) -> set[str]:
        """Return the commands our hooks call in this text."""
        return {_command(text, event, place) for event, place in _found(text)}

    def _wired(self, text: str, event: str, wanted: dict[str, Any]) -> str:
        places = [place for name, place in _found(text) if name == event]
        for place in reversed(places[1:]):  # once is enough
            text = jsonc.remove(text, ("hooks", event, *place))
        if not places:
            held = _said(text, "hooks", event) or []
            return jsonc.put(text, ("hooks", event, len(held)), wanted)
        new = wanted if len(places[0]) == 1 else wanted["hooks"][0]
        path = ("hooks", event, *places[0])
        node = jsonc.at(jsonc.parse(text, path), path)
        return text if node is not None and node.data == new else jsonc.put(text, path, new)


@value
class Server:
    """Our MCP server among an agent's others, in JSON."""

    agent: Agent
    program: str
    key: str = "mcpServers"

    @property
    def why(self) -> str:
        return "MCP server"

    def put(self, text: str) -> str:
        held, wanted = _said(text, self.key, SERVER), server_entry(self.agent, self.program)
        if held is None:
            return jsonc.put(text, (self.key, SERVER), wanted)
        if not ours.is_server(held):
            raise Foreign(f"its MCP server {SERVER!r} is not this one; it was left alone.")
        for name in ("command", "args"):  # what a user added to it (environment, trust) stays
            if name in wanted and held.get(name) != wanted[name]:
                text = jsonc.put(text, (self.key, SERVER, name), wanted[name])
        return text

    def removed(self, text: str, before: str | None) -> str | None:
        if not ours.is_server(_said(text, self.key, SERVER)):
            return text
        text = jsonc.remove(text, (self.key, SERVER))
        kept = jsonc.data(before) if before and before.strip("\ufeff \t\r\n") else {}
        return _without_empty(text, (self.key,), kept)

    def faults(self, text: str) -> list[str]:
        held, wanted = _said(text, self.key, SERVER), server_entry(self.agent, self.program)
        return _server_faults(held, wanted)


@value
class TomlServer:
    """Our MCP server among an agent's others, in TOML."""

    program: str

    @property
    def why(self) -> str:
        return "MCP server"

    def put(self, text: str) -> str:
        held = toml_block.at(toml_block.data(text), ("mcp_servers", SERVER))
        if held is not None and not ours.is_server(held):
            raise Foreign(f"its MCP server {SERVER!r} is not this one; it was left alone.")
        return toml_block.put(text, ("mcp_servers", SERVER), self._wanted())

    def removed(self, text: str, before: str | None) -> str | None:  # noqa: ARG002
        held = toml_block.at(toml_block.data(text), ("mcp_servers", SERVER))
        return toml_block.remove(text, ("mcp_servers", SERVER)) if ours.is_server(held) else text

    def faults(self, text: str) -> list[str]:
        return _server_faults(toml_block.at(toml_block.data(text), ("mcp_servers", SERVER)), self._wanted())

    def _wanted(self) -> dict[str, Any]:
        return {"command": self.program, "args": ["mcp"]}


@value
class Plugin:
    """A file that is ours as a whole."""

    text: str

    @property
    def why(self) -> str:
        return "plugin"

    def put(self, text: str) -> str:
        if text.strip() and MARK not in text:
            raise Foreign("it is not ours; it was left alone.")
        return self.text

    def removed(self, text: str, before: str | None) -> str | None:  # noqa: ARG002
        return None if MARK in text else text

    def commands(self, text: str) -> set[str]:
        """Return the command the plugin in this text calls."""
        found = re.search(r"^const COMMAND = (\[.*\])$", text, re.MULTILINE) if MARK in text else None
        return {shlex.join(json.loads(found.group(1)))} if found else set()

    def faults(self, text: str) -> list[str]:
        return [] if text == self.text else ["the plugin is not this version's" if MARK in text else "no plugin"]


@value
class Block:
    """Our words in a file of instructions."""

    block: str

    @property
    def why(self) -> str:
        return "instructions"

    def put(self, text: str) -> str:
        return fence.put(text, "", self.block)

    def removed(self, text: str, before: str | None) -> str | None:
        rest = fence.remove(text, "")
        return None if before is None and not rest.strip() and rest != text else rest

    def faults(self, text: str) -> list[str]:
        held = fence.held(text, "")
        return [] if held == self.block.strip() else ["no block" if held is None else "the block is not this version's"]


def _server_faults(held: Any, wanted: dict[str, Any]) -> list[str]:
    if held is None:
        return ["no MCP server"]
    if not ours.is_server(held):
        return [f"the MCP server {SERVER!r} is another's"]
    differs = any(held.get(name) != wanted[name] for name in ("command", "args") if name in wanted)
    command = held["command"] if isinstance(held["command"], str) else " ".join(held["command"])
    return [f"the MCP server is {command}"] if differs else []


def _found(text: str) -> list[tuple[str, tuple[str | int, ...]]]:
    """Return where hooks of ours stand, event by event: a whole entry, or one hook in an entry of several."""
    found: list[tuple[str, tuple[str | int, ...]]] = []
    for event, entries in _items(_said(text, "hooks")):
        for n, entry in enumerate(entries if isinstance(entries, list) else ()):
            inner = entry.get("hooks") if isinstance(entry, dict) else None
            if not isinstance(inner, list):
                found += [(event, (n,))] if _calls_us(entry) else []
                continue
            mine = [m for m, hook in enumerate(inner) if _calls_us(hook)]
            alone = mine and len(mine) == len(inner)
            found += [(event, (n,))] if alone else [(event, (n, "hooks", m)) for m in mine]
    return found


def _command(text: str, event: str, place: tuple[str | int, ...]) -> str:
    node = jsonc.at(jsonc.parse(text, ("hooks", event, *place)), ("hooks", event, *place))
    entry = node.data if node else {}
    inner = entry.get("hooks")
    hook = inner[0] if isinstance(inner, list) else entry
    return str(hook.get("command") or hook.get("bash") or "")


def _calls_us(hook: Any) -> bool:
    return isinstance(hook, dict) and (ours.is_ours(hook.get("command")) or ours.is_ours(hook.get("bash")))


def _without_empty(text: str, path: tuple[str, ...], kept: Any) -> str:
    """Take out a container that is empty now and was not there before."""
    for key in path:
        kept = kept.get(key) if isinstance(kept, dict) else None
    held = _said(text, *path)
    return jsonc.remove(text, path) if held in ({}, []) and kept is None else text


def _said(text: str, *path: str) -> Any:
    if not text.strip("\ufeff \t\r\n"):
        return None
    held = jsonc.data(text)
    for key in path:
        held = held.get(key) if isinstance(held, dict) else None
    return held


def _items(held: Any) -> list[tuple[str, Any]]:
    return list(held.items()) if isinstance(held, dict) else []


def plugin_text(template: str, program: str) -> str:
    """Return the plugin's text with our command in it."""
    return template.replace('["engram", "hook"]', json.dumps([program, "hook"], ensure_ascii=False))
