"""What is remembered of a prompt, told unasked: only if it is clearly to the point, and only if it comes in time."""

from __future__ import annotations

import threading

from engram.hub import Hub

_PATIENCE = 2.0  # seconds; a large store read for the first time may take longer, and the agent waits


def recalled(hub: Hub, prompt: str, session_id: str, project: str) -> str:
    """Return what memory says to a prompt, or nothing."""
    found: list[str] = []
    asking = threading.Thread(target=_ask, args=(hub, prompt, session_id, project, found), daemon=True)
    asking.start()
    asking.join(_PATIENCE)
    return found[0] if found else ""


def _ask(hub: Hub, prompt: str, session_id: str, project: str, found: list[str]) -> None:
    from engram.recall.context import context

    told = context(hub, prompt, session_id, project or None, hub.settings.prompt_tokens)
    found.append(told.text)
