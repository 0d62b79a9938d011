"""Which adapters there are: ours, and those other packages bring under the entry point `engram.adapters`."""

from __future__ import annotations

from functools import cache
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.adapters.adapter import Adapter

OURS = (
    "claude", "codex", "grok", "grok_cli", "gemini", "qwen", "opencode", "copilot", "cursor", "aider", "cline", "roo",
    "chatgpt", "claude_web", "grok_web",
)  # fmt: skip


@cache
def adapters() -> dict[str, Adapter]:
    """Return every adapter by its flavor; somebody else's may replace one of ours."""
    from importlib.metadata import entry_points  # slow to load, and most commands read no transcript

    found: dict[str, Adapter] = {}
    for name in OURS:
        adapter: Adapter = import_module(f"engram.adapters.{name}").adapter
        found[adapter.flavor] = adapter
    for point in entry_points(group="engram.adapters"):
        brought: Adapter = point.load()
        found[brought.flavor] = brought
    return found


def version_of(adapter: Adapter) -> str:
    """Return an adapter's version as a cursor keeps it."""
    return str(getattr(adapter, "version", 1))


def all_versions() -> str:
    """Return which adapters there are now, each with its version."""
    return " ".join(sorted(f"{flavor}:{version_of(each)}" for flavor, each in adapters().items()))


def recognised(path: str, head: bytes, likely: str | None = None) -> Adapter | None:
    """Return the adapter whose transcript a file is, by what it holds; the likely one is asked first."""
    known = adapters()
    first = [known[likely]] if likely in known else []
    return next((each for each in (*first, *known.values()) if each.recognises(path, head)), None)
