"""Which provider the user chose: ours, or one that another package brings under the entry point `engram.models`."""

from __future__ import annotations

import os
from importlib import import_module

from engram.errors import ModelOff, SettingsInvalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.llm.provider import Provider
    from engram.settings import Settings

OURS = {"claude": "claude_cli", "codex": "codex_cli", "anthropic": "anthropic", "openai": "openai"}
NONE = "none"


def provider(settings: Settings) -> Provider:
    """Return the way to a model that the settings name."""
    if settings.model in ("", NONE):
        raise ModelOff(place=os.path.join(settings.home, "config.toml"))
    if settings.model in OURS:
        ours: Provider = import_module(f"engram.llm.{OURS[settings.model]}").make(settings)
        return ours
    return _brought(settings)


def _brought(settings: Settings) -> Provider:
    from importlib.metadata import entry_points

    points = list(entry_points(group="engram.models"))
    for point in points:
        if point.name == settings.model:
            made: Provider = point.load()(settings)
            return made
    known = ", ".join((NONE, *OURS, *sorted(point.name for point in points)))
    raise SettingsInvalid(source="model", reason=f"{settings.model!r} is none of {known}.")
