"""Values as text for people: one function per type, each in the module of its room.

A module here is imported when a value of its types is first shown, so that `engram sitrep` does not pay for the wiki.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from importlib import import_module
from typing import Any

_MODULES = [
    "coordination", "session_list", "session_view", "evidence", "captures", "recall", "install", "memory", "catalog",
    "candidates", "dream", "health", "compile", "wiki", "pages", "model",
]  # fmt: skip
LIST_RENDERERS: dict[type, Callable[[Sequence[Any]], str]] = {}  # by the type of the items


@singledispatch
def render(value: Any) -> str:
    """Return a value as text for people."""
    return render(value) if _load_renderer(type(value)) else str(value)


@render.register
def _(value: str) -> str:
    return value


@render.register
def _(items: list) -> str:  # type: ignore[type-arg]
    if not items:
        return ""
    _load_renderer(type(items[0]))
    render_list = LIST_RENDERERS.get(type(items[0]))
    return render_list(items) if render_list else "\n".join(map(render, items))


@render.register
def _(mapping: dict) -> str:  # type: ignore[type-arg]
    if type(mapping) is not dict and _load_renderer(type(mapping)):
        return render(mapping)
    import json

    from engram.surfaces.cli.terminal import style
    from engram.surfaces.encode import to_plain

    if mapping and all(isinstance(items, list) for items in mapping.values()):
        return "\n\n".join(f"{style(str(name), bold=True)}\n{render(items)}" for name, items in mapping.items())
    return json.dumps(to_plain(mapping), ensure_ascii=False, indent=2)


def _load_renderer(kind: type) -> bool:
    """Import modules until one of them knows how to show a type, and return whether one does."""
    while _MODULES and kind not in render.registry and kind not in LIST_RENDERERS:
        import_module(f"{__name__}.{_MODULES.pop(0)}")
    return kind in render.registry
