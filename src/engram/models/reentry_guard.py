"""Prevent recursion: no model is called from a process that a model call started, nor from a hook."""

from __future__ import annotations

import os

from engram.errors import ModelInside

MARKER = "ENGRAM_INSIDE"  # set in the environment of every process we start for a model call
_hook = False


def is_inside_call() -> bool:
    """Check whether a model call of ours started this process."""
    return bool(os.environ.get(MARKER))


def enter_hook() -> None:
    """Mark this process as a hook, which an agent waits for. Processes it starts may call a model again."""
    global _hook
    _hook = True


def refuse_inside() -> None:
    """Refuse a model call that would wait on itself or be captured as a user's work."""
    if is_inside_call():
        raise ModelInside(place="a process started by a model call")
    if _hook:
        raise ModelInside(place="a hook")
