"""Give an agent what settled a problem before: for its prompt, and when it first looks at a file."""

from __future__ import annotations

import threading
import time

from engram.agents.agent import AFTER, PROMPT
from engram.store import cases, handled_events, hook_log, injected_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.hub import Hub
    from engram.search.push import Push
    from engram.store.engine import Row
    from engram.surfaces.hooks.hook_event import HookEvent

_TIMEOUT_SECONDS = 2.0  # the agent waits; the first read of a large store may take longer


def push_for_prompt(hub: Hub, event: HookEvent, session: Row) -> str:
    """Return what settled the problem in a prompt, or an empty string."""

    def choose() -> Push:
        from engram.search.push import choose_for_prompt

        return choose_for_prompt(hub, session, event.prompt, hub.settings.prompt_tokens)

    return _push(hub, session, PROMPT, "prompt", choose)


def push_for_read(hub: Hub, event: HookEvent, session: Row, paths: list[str]) -> str:
    """Return what was decided about a file that a session reads for the first time, or an empty string."""
    path = paths[0].replace("\\", "/")
    leaf = path.rpartition("/")[2].lower()
    if not cases.is_anchored(hub.engine, session["project"], leaf):
        return ""
    with hub.engine.transaction():
        if not handled_events.mark_first_time(
            hub.engine, event.flavor, event.session, "read", path, hub.now(), handled_events.WEEK
        ):
            return ""

    def choose() -> Push:
        from engram.search.push import choose_for_file

        return choose_for_file(hub, session, path)

    return _push(hub, session, AFTER, "read", choose)


def _push(hub: Hub, session: Row, event: str, moment: str, choose: Callable[[], Push]) -> str:
    """Return the text to give, if it is found in time; a failure is logged and the agent goes on."""
    started, results, problems = time.perf_counter(), [], []

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
        hook_log.write_entry(hub.settings.home, session["flavor"], event, time.perf_counter() - started, problems[0])
    if problems or not results[0].text:
        return ""
    from engram.search.push import record_push

    record_push(hub, session, moment, results[0], shown=True)
    injected_texts.record_text(hub.engine, session["id"], results[0].text, hub.now())
    return results[0].text
