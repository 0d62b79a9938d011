"""The commands agents call all day, run without click, which would take a third of their time.

Only plain calls are answered here. Any other option goes to the full command line, which prints the same.
"""

from __future__ import annotations

import os

from engram.errors import Error
from engram.hub import Hub
from engram.sessions import lifecycle, locks, sitrep
from engram.surfaces.cli.acting_session import find_acting_session
from engram.surfaces.cli.migration_hints import print_variable_hints
from engram.surfaces.cli.output import announce_unread, print_error, show_result

_NAMES = ("sitrep", "log", "locks", "sessions")


def run_quickly(words: list[str]) -> int | None:
    """Run a plain call and return its exit status; return None if click must parse it."""
    if not words or words[0] not in _NAMES or "_ENGRAM_COMPLETE" in os.environ:
        return None
    name, *rest = words
    as_json = "--json" in rest
    arguments = [word for word in rest if word != "--json"]
    if any(word.startswith("-") or not word for word in arguments) or len(arguments) != (name == "log"):
        return None
    try:
        print_variable_hints()
        with Hub() as hub:
            _run_command(hub, name, arguments, as_json)
    except Error as error:
        print_error(error)
        return error.exit
    return 0


def _run_command(hub: Hub, name: str, arguments: list[str], as_json: bool) -> None:
    if name == "sitrep":
        session_id = find_acting_session(hub, None, is_required=False)
        answer = sitrep.situation if as_json else sitrep.get_situation_report
        show_result(answer(hub, session_id), as_json)
    elif name == "locks":
        show_result(locks.list_locks(hub), as_json, "No locks are held.")
    elif name == "sessions":
        from engram.surfaces.cli.session_history import show_history

        show_history(hub, None, as_json=as_json)
    else:
        session_id = find_acting_session(hub, None) or ""
        show_result(lifecycle.log(hub, session_id, arguments[0]), as_json)
        announce_unread(hub, session_id)
