"""Codex runs a hook only if its user trusted this very text of it: the hashes it keeps, computed as it does. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from engram.value import value
from engram.wiring import command, jsonc, toml_block

_LONGEST_END = 3  # seconds; Codex cuts what a SessionEnd hook asks for
_PLAIN = ("UserPromptSubmit", "Stop")  # events whose matcher Codex does not look at


@value
class Trusted:
    """What Codex must hold for our hooks in one file to run."""

    hooks_file: str
    hooks: str  # its text

    @property
    def why(self) -> str:
        return "trust"

    def put(self, text: str) -> str:
        for key, digest in hashes(self.hooks_file, self.hooks):
            text = toml_block.put(text, ("hooks", "state", key), {"trusted_hash": digest})
        return text

    def removed(self, text: str, before: str | None) -> str | None:  # noqa: ARG002
        state = toml_block.at(toml_block.data(text), ("hooks", "state")) or {}
        for key, digest in hashes(self.hooks_file, self.hooks):
            if toml_block.at(state, (key, "trusted_hash")) == digest:
                text = toml_block.remove(text, ("hooks", "state", key))
        return text

    def faults(self, text: str) -> list[str]:
        return [f"{event} is not trusted" for event in self.untrusted(text)]

    def untrusted(self, text: str) -> list[str]:
        """Return the hooks of ours that Codex passes over."""
        state = toml_block.at(toml_block.data(text), ("hooks", "state")) or {}
        return [
            key.split(":")[-3]
            for key, digest in hashes(self.hooks_file, self.hooks)
            if toml_block.at(state, (key, "trusted_hash")) != digest or toml_block.at(state, (key, "enabled")) is False
        ]


def hashes(path: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield for each hook of ours in a hooks.json the key and the hash Codex knows it by."""
    held = jsonc.data(text) if text.strip("\ufeff \t\r\n") else {}
    for event, groups in _within(held, "hooks", dict).items():
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        for n, group in enumerate(groups if isinstance(groups, list) else ()):
            for m, hook in enumerate(_within(group, "hooks", list)):
                if isinstance(hook, dict) and command.is_ours(hook.get("command")):
                    yield f"{path}:{name}:{n}:{m}", _hash(event, name, group, hook)


def _within(held: Any, key: str, kind: type) -> Any:
    """Return what stands under a key, or nothing of its kind where somebody wrote something else."""
    found = held.get(key) if isinstance(held, dict) else None
    return found if isinstance(found, kind) else kind()


def _hash(event: str, name: str, group: dict[str, Any], hook: dict[str, Any]) -> str:
    default, most = (1, _LONGEST_END) if event == "SessionEnd" else (600, None)
    wait = hook.get("timeout", default)
    said = {
        **hook,
        "timeout": min(wait, most) if most and isinstance(wait, int) else wait,
        "async": hook.get("async", False),
    }
    identity: dict[str, Any] = {"event_name": name, "hooks": [said]}
    if "matcher" in group and event not in _PLAIN:
        identity["matcher"] = group["matcher"]
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
