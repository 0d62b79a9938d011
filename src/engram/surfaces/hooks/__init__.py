"""`engram hook`: handle an agent's hook event.

Runs at every agent event, so it imports only what the event needs, waits briefly, and never breaks the agent: errors go
to hook.log and the agent continues.
"""

from __future__ import annotations

import os
import sys
import time

from engram.agents.agent import BEFORE
from engram.models import reentry_guard
from engram.platform import plain_json
from engram.settings import get_home_directory, load_settings
from engram.store import hook_log
from engram.surfaces.hooks.hook_event import read_hook_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from engram.surfaces.hooks.hook_event import HookEvent

# How long a hook waits for a busy store; before an edit longer, because an unguarded edit is worse than a pause.
_BUSY_SECONDS, _GUARD_BUSY_SECONDS = 2, 5
_OFFLINE_EMBEDDERS = ("auto", "static", "minilm", "none")  # these need no network
_HELP = """Usage: engram hook

  Handle a hook event of an agent. Agents call this once `engram init` has set them up: it reads the event as JSON from
  standard input and answers in the agent's format. It always exits with 0; errors go to hook.log in the Engram home.
"""
_DEADLINE_SECONDS = 9  # agents stop a hook after ten, and then nobody would know
_MAX_EVENT_BYTES = 16_000_000  # longer events are cut off


class Overdue(BaseException):
    """A hook took too long; no handler of errors on the way keeps it going."""


def main(arguments: list[str]) -> NoReturn:
    """Answer one event and exit with 0, even after an error."""
    if reentry_guard.is_inside_call():
        os._exit(0)  # an agent that Engram runs as its model is not a user's session
    if "--help" in arguments or "-h" in arguments or sys.stdin is None or sys.stdin.isatty():
        sys.stdout.write(_HELP)
        sys.stdout.flush()
        os._exit(0)
    reentry_guard.enter_hook()
    started = time.perf_counter()
    os.umask(0o077)
    event, problem = None, ""
    _set_deadline()
    try:
        event = read_hook_event(sys.stdin.buffer.read(_MAX_EVENT_BYTES), arguments, os.environ)
        if event is not None:
            sys.stdout.write(answer_event(event))
            sys.stdout.flush()
    except (Exception, Overdue) as error:  # an error here must not break the agent
        problem = f"{error.__class__.__name__}: {error}"
    if event is not None or problem:
        _log_event(event, arguments, time.perf_counter() - started, problem)
    # Skip the cleanup: commits are done, and closing the last connection would checkpoint the store while the agent
    # waits.
    os._exit(0)


def _set_deadline() -> None:
    """Stop this process before the agent does, so that the log says so."""
    import _signal  # type: ignore[import-not-found]  # without the enums of `signal`

    def stop(*_: object) -> NoReturn:
        raise Overdue(f"timed out after {_DEADLINE_SECONDS} s")

    if hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, stop)
        _signal.setitimer(_signal.ITIMER_REAL, _DEADLINE_SECONDS)


def answer_event(event: HookEvent) -> str:
    """Handle an event and return the response for its agent."""
    from engram.surfaces.hooks import handlers, responses

    busy_seconds = _GUARD_BUSY_SECONDS if event.event == BEFORE else _BUSY_SECONDS
    settings = load_settings(busy_seconds=busy_seconds)
    if settings.embedder not in _OFFLINE_EMBEDDERS:
        settings = load_settings(busy_seconds=busy_seconds, embedder="static")
    response = handlers.handle_event(event, settings)
    return plain_json.dumps(responses.format_response(event, response)) if response is not None else ""


def _log_event(hook_event: HookEvent | None, arguments: list[str], seconds: float, problem: str) -> None:
    flavor, event = (hook_event.flavor, hook_event.event) if hook_event else ("-".join(arguments[:1]), "")
    hook_log.write_entry(get_home_directory(os.environ), flavor, event, seconds, problem)
