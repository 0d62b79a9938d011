"""Find the sessions in which a pattern could have occurred: its program ran, its file was touched, tests were run."""

from __future__ import annotations

import re

from engram.patterns.fix_wording import find_failing_program
from engram.store import event_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.store.engine import Row

_PROGRAM = ("failing-command", "passing-sequence")
_FILE = ("reread", "reedit")
_TESTS = ("test-loop",)
_NAME = re.compile(r"[\w.+-]+")


def find_exposed_sessions(hub: Hub, row: Row, inside: list[Row], hits: set[str]) -> tuple[str, set[str]]:
    """Return the sessions of a scope in which a pattern could occur, with a description; those where it did are
    included.
    """
    words = _find_words(row)
    if words:
        calling_captures = event_words.find_calling_captures(hub.engine, words)
        # Without bodies, the calls of a session are unknown: skip it, with or without the signal.
        whole = [session for session in inside if session["whole"]]
        return f"called {words}", {
            session["id"] for session in whole if session["capture"] in calling_captures or session["id"] in hits
        }
    if row["kind"] in _TESTS:
        return "ran tests", {session["id"] for session in inside if session["tested"] or session["id"] in hits}
    return "all", {session["id"] for session in inside}


def _find_words(row: Row) -> str:
    """Return the program or file a pattern is about, as words of a call."""
    if row["kind"] == "known-fix":
        return find_failing_program(row["seed"])
    if row["kind"] in _PROGRAM:
        match = _NAME.search(row["seed"])
        return match.group() if match else ""
    return str(row["seed"].rpartition("/")[2]) if row["kind"] in _FILE else ""
