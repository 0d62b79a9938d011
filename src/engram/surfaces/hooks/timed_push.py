"""Give an agent a text unasked if it is found in time, and record it."""

from __future__ import annotations

import threading

from engram.store import hook_log, injected_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.hub import Hub
    from engram.search.push_record import Push
    from engram.store.engine import Row

_TIMEOUT_SECONDS = 2.0  # the agent waits; the first read of a large store may take longer


def push_in_time(hub: Hub, session: Row, moment: str, mode: str, choose: Callable[[], Push]) -> str:
    """Return the text to give, if it is found in time; a failure is logged and the agent goes on.

    In the mode `shadow` the text is only recorded.
    """
    results: list[Push] = []
    problems: list[str] = []

    def search() -> None:
        try:
            results.append(choose())
        except Exception as error:  # messages are still delivered
            problems.append(f"Memory search failed. {error.__class__.__name__}: {error}")

    thread = threading.Thread(target=search, daemon=True)
    thread.start()
    thread.join(_TIMEOUT_SECONDS)
    if thread.is_alive():
        problems.append(f"Memory search timed out after {_TIMEOUT_SECONDS:g} s.")
    if problems:
        hook_log.note_problem(problems[0])
        return ""
    push = results[0]
    if not push.text:
        return ""
    from engram.search.push_record import record_push

    shown = mode != "shadow"
    record_push(hub, session, moment, push, shown=shown)
    if not shown:
        return ""
    injected_texts.record_text(hub.engine, session["id"], push.text, hub.now())
    return push.text
