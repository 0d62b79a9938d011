"""In which sessions a pattern could have shown: where its program ran, its file was touched, tests were run."""

from __future__ import annotations

import re

from engram.store import event_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.store.engine import Row

_PROGRAM = ("failing-command", "passing-sequence")
_FILE = ("reread", "reedit")
_TESTS = ("test-loop",)
_NAME = re.compile(r"[\w.+-]+")


def sessions(hub: Hub, row: Row, inside: list[Row], hits: set[str]) -> tuple[str, set[str]]:
    """Return in words which sessions of a scope could have shown a pattern, and their ids; one that did, could."""
    words = _words(row)
    if words:
        called = event_words.called_with(hub.engine, words)
        # Without its bodies a session says nothing of what it called: it is left out, whether it had the signal or not.
        whole = [each for each in inside if each["whole"]]
        return f"called {words}", {each["id"] for each in whole if each["capture"] in called or each["id"] in hits}
    if row["kind"] in _TESTS:
        return "ran tests", {each["id"] for each in inside if each["tested"] or each["id"] in hits}
    return "all", {each["id"] for each in inside}


def _words(row: Row) -> str:
    """Return the program or file a pattern is about, in words a call would hold."""
    if row["kind"] in _PROGRAM:
        found = _NAME.search(row["seed"])
        return found.group() if found else ""
    return str(row["seed"].rpartition("/")[2]) if row["kind"] in _FILE else ""
