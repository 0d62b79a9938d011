"""Find the configured provider: ours, or one from a package with the entry point `engram.models`."""

from __future__ import annotations

import os
from importlib import import_module

from engram.errors import ModelOff, SettingsInvalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.models.provider import Provider
    from engram.settings import Settings

OURS = {"claude": "claude_cli", "codex": "codex_cli", "anthropic": "anthropic", "openai": "openai"}
NONE = "none"


def load_provider(settings: Settings) -> Provider:
    """Return the configured provider."""
    if settings.model in ("", NONE):
        raise ModelOff(place=os.path.join(settings.home, "config.toml"))
    if settings.model in OURS:
        ours: Provider = import_module(f"engram.models.{OURS[settings.model]}").make(settings)
        return ours
    return _load_plugin(settings)


def _load_plugin(settings: Settings) -> Provider:
    from importlib.metadata import entry_points

    points = list(entry_points(group="engram.models"))
    for point in points:
        if point.name == settings.model:
            loaded: Provider = point.load()(settings)
            return loaded
    choices = ", ".join((NONE, *OURS, *sorted(point.name for point in points)))
    raise SettingsInvalid(
        source="model", reason=f"Unknown model provider {settings.model!r}. Choose one of: {choices}."
    )
