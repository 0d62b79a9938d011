"""The transcript adapters: ours, and those of other packages under the entry point `engram.adapters`."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from engram.agents.registry import list_agents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.agents.transcripts.adapter import Adapter

_EXPORTS = ("chatgpt", "claude_web", "grok_web")  # data exports of web chats, which are no agents


@cache
def load_adapters() -> dict[str, Adapter]:
    """Return every adapter by flavor; another package's may replace one of ours."""
    from importlib.metadata import entry_points  # slow to load, and most commands read no transcript

    by_flavor: dict[str, Adapter] = {}
    readers = [reader for agent in list_agents() for reader in agent.transcript_readers]
    for name in (*readers, *_EXPORTS):
        adapter: Adapter = import_module(f"engram.agents.transcripts.{name}").adapter
        by_flavor[adapter.flavor] = adapter
    for point in entry_points(group="engram.adapters"):
        plugin_adapter: Adapter = point.load()
        by_flavor[plugin_adapter.flavor] = plugin_adapter
    return by_flavor


def get_version(adapter: Adapter) -> str:
    """Return an adapter's version as saved in a cursor."""
    return str(getattr(adapter, "version", 1))


def format_versions() -> str:
    """Return all adapters with their versions."""
    return " ".join(sorted(f"{flavor}:{get_version(adapter)}" for flavor, adapter in load_adapters().items()))


def match_adapter(path: str, head: bytes, likely: str | None = None) -> Adapter | None:
    """Return the adapter for a file, by its content; the likely one is tried first."""
    by_flavor = load_adapters()
    likely_first = [by_flavor[likely]] if likely in by_flavor else []
    return next((adapter for adapter in (*likely_first, *by_flavor.values()) if adapter.recognises(path, head)), None)
