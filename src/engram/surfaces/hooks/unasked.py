"""What is remembered of a prompt, told unasked: only if it is clearly to the point, and only if it comes in time."""

from __future__ import annotations

import threading
import time

from engram.hub import Hub
from engram.store import hook_log
from engram.store import told as told_store
from engram.surfaces.hooks.occasion import PROMPT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row

_LONGEST = 20_000  # characters of a prompt that are looked at; what a user pasted below them is not the question
_PATIENCE = 2.0  # seconds; a large store read for the first time may take longer, and the agent waits


def recalled(hub: Hub, prompt: str, session: Row) -> str:
    """Return what memory says to a prompt, or nothing."""
    found: list[str] = []
    asking = threading.Thread(target=_ask, args=(hub, prompt[:_LONGEST], session, found), daemon=True)
    asking.start()
    asking.join(_PATIENCE)
    return found[0] if found else ""


def _ask(hub: Hub, prompt: str, session: Row, found: list[str]) -> None:
    started = time.perf_counter()
    try:
        from engram.recall.context import context

        told = context(hub, prompt, session["id"], session["project"] or None, hub.settings.prompt_tokens)
        found.append(told.text)
        told_store.note(hub.engine, session["id"], told.text, hub.now())
    except Exception as error:  # the news beside it is told all the same
        problem = f"Nothing was recalled. {error.__class__.__name__}: {error}"
        hook_log.note(hub.settings.home, session["flavor"], PROMPT, time.perf_counter() - started, problem)
