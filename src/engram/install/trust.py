"""Codex runs a hook only if its user trusted its exact text: compute the hashes it stores. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from engram.install import own_command, toml_block
from engram.platform import jsonc
from engram.platform.value import value

_MAX_END_SECONDS = 3  # seconds; Codex limits what a SessionEnd hook may request
_UNMATCHED_EVENTS = ("UserPromptSubmit", "Stop")  # events whose matcher Codex ignores


@value
class TrustEntry:
    """The trust entries Codex needs to run our hooks in one file."""

    hooks_file: str
    hooks: str  # text of the hooks file

    @property
    def label(self) -> str:
        return "trust"

    def insert(self, text: str) -> str:
        for key, digest in iter_hook_hashes(self.hooks_file, self.hooks):
            text = toml_block.put_table(text, ("hooks", "state", key), {"trusted_hash": digest})
        return text

    def remove(self, text: str, before: str | None) -> str | None:  # noqa: ARG002
        state = toml_block.get_at_path(toml_block.parse_toml(text), ("hooks", "state")) or {}
        for key, digest in iter_hook_hashes(self.hooks_file, self.hooks):
            if toml_block.get_at_path(state, (key, "trusted_hash")) == digest:
                text = toml_block.remove_table(text, ("hooks", "state", key))
        return text

    def find_faults(self, text: str) -> list[str]:
        return [f"{event} is not trusted" for event in self.list_untrusted(text)]

    def list_untrusted(self, text: str) -> list[str]:
        """Return our hooks that Codex skips."""
        state = toml_block.get_at_path(toml_block.parse_toml(text), ("hooks", "state")) or {}
        return [
            key.split(":")[-3]
            for key, digest in iter_hook_hashes(self.hooks_file, self.hooks)
            if toml_block.get_at_path(state, (key, "trusted_hash")) != digest
            or toml_block.get_at_path(state, (key, "enabled")) is False
        ]


def iter_hook_hashes(path: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the key and hash by which Codex identifies each of our hooks in a hooks.json."""
    settings = jsonc.data(text) if text.strip("\ufeff \t\r\n") else {}
    for event, groups in _get_typed(settings, "hooks", dict).items():
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        for group_index, group in enumerate(groups if isinstance(groups, list) else ()):
            for hook_index, hook in enumerate(_get_typed(group, "hooks", list)):
                if isinstance(hook, dict) and own_command.is_our_hook(hook.get("command")):
                    yield f"{path}:{name}:{group_index}:{hook_index}", _hash_hook(event, name, group, hook)


def _get_typed(table: Any, key: str, kind: type) -> Any:
    """Return the value of a key, or an empty one of its type if the type is wrong."""
    content = table.get(key) if isinstance(table, dict) else None
    return content if isinstance(content, kind) else kind()


def _hash_hook(event: str, name: str, group: dict[str, Any], hook: dict[str, Any]) -> str:
    default, max_seconds = (1, _MAX_END_SECONDS) if event == "SessionEnd" else (600, None)
    wait = hook.get("timeout", default)
    hook_fields = {
        **hook,
        "timeout": min(wait, max_seconds) if max_seconds and isinstance(wait, int) else wait,
        "async": hook.get("async", False),
    }
    identity: dict[str, Any] = {"event_name": name, "hooks": [hook_fields]}
    if "matcher" in group and event not in _UNMATCHED_EVENTS:
        identity["matcher"] = group["matcher"]
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
