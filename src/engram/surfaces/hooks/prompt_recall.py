"""Search memory for a prompt: only clear matches, and only within a time limit."""

from __future__ import annotations

import threading
import time

from engram.agents.agent import PROMPT
from engram.hub import Hub
from engram.store import hook_log, injected_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row

_MAX_PROMPT_CHARS = 20_000  # the question is at the top; what follows is pasted text
_TIMEOUT_SECONDS = 2.0  # the agent waits; the first read of a large store may take longer


def recall_for_prompt(hub: Hub, prompt: str, session: Row) -> str:
    """Return memories that match a prompt, or an empty string."""
    results: list[str] = []
    thread = threading.Thread(
        target=_search_memory, args=(hub, prompt[:_MAX_PROMPT_CHARS], session, results), daemon=True
    )
    thread.start()
    thread.join(_TIMEOUT_SECONDS)
    return results[0] if results else ""


def _search_memory(hub: Hub, prompt: str, session: Row, results: list[str]) -> None:
    started = time.perf_counter()
    try:
        from engram.search.context import context

        answer = context(hub, prompt, session["id"], session["project"] or None, hub.settings.prompt_tokens)
        results.append(answer.text)
        injected_texts.record_text(hub.engine, session["id"], answer.text, hub.now())
    except Exception as error:  # messages are still delivered
        problem = f"Recall failed. {error.__class__.__name__}: {error}"
        hook_log.write_entry(hub.settings.home, session["flavor"], PROMPT, time.perf_counter() - started, problem)
