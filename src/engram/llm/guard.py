"""Memory must not feed on itself: no model is called from what a model call started, nor from a hook."""

from __future__ import annotations

import os

from engram.errors import ModelInside

MARKER = "ENGRAM_INSIDE"  # in the environment of every process we start to think for us
_hook = False


def inside() -> bool:
    """Tell whether a model call of ours started this process."""
    return bool(os.environ.get(MARKER))


def enter_hook() -> None:
    """Say that this process is a hook: an agent waits for it. Processes it starts may call a model again."""
    global _hook
    _hook = True


def refuse_inside() -> None:
    """Refuse a model call where it would wait on itself or be captured as somebody's work."""
    if inside():
        raise ModelInside(place="a process that a model call started")
    if _hook:
        raise ModelInside(place="a hook")
