"""Choose the most striking lines of all playbooks, for somebody who sees their memory for the first time."""

from __future__ import annotations

from collections import Counter

from engram.platform.value import value
from engram.store import episodes
from engram.summaries.playbook.playbook import COMMANDS, CONVENTIONS, OPEN, PITFALLS, PlaybookLine, build_playbook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub

_EPISODES = 400  # the last ones, which tell the projects at work
_PROJECTS = 3
_LABELS = {PITFALLS: "Pitfall: ", CONVENTIONS: "You said: ", COMMANDS: "", OPEN: "Open: "}  # the most striking first


@value
class Highlight:
    """One line of a project's playbook."""

    project: str  # its name
    text: str


def find_highlights(hub: Hub, count: int = 3) -> list[Highlight]:
    """Return lines from the playbooks of the projects with the most work: different kinds, the most striking first."""
    projects = Counter(row["project"] for row in episodes.list_last(hub.engine, _EPISODES) if row["project"])
    books = [build_playbook(hub, project) for project, _ in projects.most_common(_PROJECTS)]
    found = [
        (section, Highlight(project=book.name, text=f"{_LABELS[section]}{_write(line)}"))
        for section in _LABELS
        for book in books
        for line in book.sections[section][:1]
        if _is_striking(section, line)
    ]
    first = list(dict(reversed(found)).values())[::-1]
    rest = [highlight for _, highlight in found if highlight not in first]
    return [*first, *rest][:count]


def _is_striking(section: str, line: PlaybookLine) -> bool:
    """Return whether a line says more than that a command was run or a session ended early."""
    return "passed" in line.note if section == COMMANDS else not line.text.startswith("Not finished: ")


def _write(line: PlaybookLine) -> str:
    return f"{line.text} ({line.note})" if line.note else line.text
