"""Find the project that a question names, as in "what did I do in billing last week"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engram.sessions import project_names

if TYPE_CHECKING:
    from engram.hub import Hub

_READ = 2_000  # characters of a question
_SHORTEST = 3  # characters of a name that is looked for
_BEFORE = (
    r"(?:\b(?:in|on|for|of|at|within|about|build|run|test|lint|format|install|set ?up|start|deploy|release|publish)\s+"
    r"(?:the\s+|my\s+)?(?:project\s+|repo(?:sitory)?\s+)?|\bproject\s+)"
)


def find_named_project(hub: Hub, text: str) -> tuple[str | None, str]:
    """Return the project that a text names after "in", "build" and the like, and its name; None if it names none."""
    low = text[:_READ].casefold()
    found: list[tuple[int, str, str]] = []
    for project, name in project_names.name_projects(hub).items():
        bare = name.casefold()
        if len(bare) >= _SHORTEST and bare in low:
            match = re.search(rf"{_BEFORE}[`\"']?{re.escape(bare)}(?![\w-])", low)
            if match:
                found.append((len(bare), project, name))
    if not found:
        return None, ""
    _, project, name = max(found)
    return project, name
