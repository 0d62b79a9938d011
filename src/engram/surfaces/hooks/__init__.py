"""`engram hook`: what an agent's event means for its session, whatever agent it is.

Runs at every agent event, so it imports only what its event needs, waits briefly, and never breaks the agent: whatever
goes wrong is written to hook.log and the agent goes on.
"""

from __future__ import annotations

import os
import sys
import time

from engram import plain_json
from engram.llm import guard
from engram.settings import home_in, load
from engram.store import hook_log
from engram.surfaces.hooks import occasion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from engram.surfaces.hooks.occasion import Occasion

_PATIENCE, _GUARDING = 2, 5  # seconds a hook waits for a busy store; an unguarded edit is worse than a pause
_OFFLINE = ("auto", "static", "minilm", "none")  # embedders that wait for nobody
_HELP = """Usage: engram hook

  What agents call at their events, once `engram init` has wired them: reads the event as JSON from standard input and
  answers as that agent expects. It always succeeds; what went wrong is in hook.log of the home.
"""
_LARGEST = 16_000_000  # bytes of an event; what is larger is not read


def main(words: list[str]) -> NoReturn:
    """Answer one event and end the process; always succeed."""
    if guard.inside():
        os._exit(0)  # an agent that thinks for us is nobody's session
    if "--help" in words or "-h" in words or sys.stdin is None or sys.stdin.isatty():
        sys.stdout.write(_HELP)
        sys.stdout.flush()
        os._exit(0)
    guard.enter_hook()
    started = time.perf_counter()
    os.umask(0o077)
    met, problem = None, ""
    try:
        met = occasion.read(sys.stdin.buffer.read(_LARGEST), words, os.environ)
        if met is not None:
            sys.stdout.write(answer(met))
            sys.stdout.flush()
    except Exception as error:  # the agent must not be broken by its memory
        problem = f"{error.__class__.__name__}: {error}"
    if met is not None or problem:
        _note(met, words, time.perf_counter() - started, problem)
    # Nothing is left to tidy: commits are done, and closing the last connection would checkpoint the
    # store while the agent waits.
    os._exit(0)


def answer(met: Occasion) -> str:
    """Carry an event into the store and return what its agent is answered."""
    from engram.surfaces.hooks import conduct, dialect

    patience = _GUARDING if met.event == occasion.BEFORE else _PATIENCE
    settings = load(busy_seconds=patience)
    if settings.embedder not in _OFFLINE:
        settings = load(busy_seconds=patience, embedder="static")
    told = conduct.answer(met, settings)
    return plain_json.dumps(dialect.spoken(met, told)) if told is not None else ""


def _note(met: Occasion | None, words: list[str], seconds: float, problem: str) -> None:
    flavor, event = (met.flavor, met.event) if met else ("-".join(words[:1]), "")
    hook_log.note(home_in(os.environ), flavor, event, seconds, problem)
