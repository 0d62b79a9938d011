"""The summary of a month, told from its episodes: per project what was shipped, what was not finished, what is open."""

from __future__ import annotations

import re

from engram.capture.digests.cost import cost
from engram.clock import HOUR
from engram.evidence.episodes import TEMPORARY
from engram.evidence.open_items import is_worth_listing
from engram.platform import plain_json
from engram.platform.text import cut_to_tokens, to_one_line
from engram.summaries.session_summary import UNFINISHED, drop_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from engram.hub import Hub
    from engram.store.engine import Row

TOKENS = 900
_PROJECTS = 6  # described in detail
_SHIPPED, _DONE, _UNFINISHED, _DECIDED, _OPEN = 10, 4, 4, 3, 3
_DAYS = 800  # costs of older months are not computed again
_KIND = re.compile(r"^([a-z]+)(?:\([^)]*\))?!?: ")  # of a conventional commit
_TITLE, _ITEM = 90, 150  # characters


class ProjectMonth:
    """What happened in one project in one month."""

    def __init__(self, project: str, name: str) -> None:
        self.project, self.name = project, name
        self.sessions: set[str] = set()
        self.asked: list[str] = []
        self.shipped: list[str] = []
        self.done: list[str] = []
        self.unfinished: list[str] = []
        self.decided: list[str] = []
        self.open: list[str] = []

    def add_episode(self, row: Row) -> None:
        """Add an episode; the rows come in the order of time."""
        facts: dict[str, Any] = plain_json.loads(row["facts"])
        self.sessions.add(row["session_id"])
        self.asked.append(row["title"])
        if not facts.get("reverted"):
            self.shipped += [drop_hash(commit) for commit in facts["commits"]]
        changed = [path for path in facts["changed"] if not TEMPORARY.search(path)]
        if row["result"] in UNFINISHED and (changed or facts["errors"]):
            self.unfinished.append(row["title"])
        elif changed and not facts["commits"]:
            self.done.append(row["title"])
        self.decided += [item["text"] for item in facts["decisions"] if not item.get("by")]
        self.open += filter(is_worth_listing, facts["open"])

    def render(self, dollars: float) -> str:
        """Return the section of the project; a line if nothing came of it."""
        number = len(self.sessions)
        spent = f", ${dollars:,.2f}" if dollars >= 0.01 else ""
        head = f"{self.name} ({number} session{'s' * (number != 1)}{spent})"
        parts = (
            ("Shipped", sorted(self.shipped, key=_rank_commit), _SHIPPED, _TITLE),
            ("Changed, not committed", self.done, _DONE, _TITLE),
            ("Not finished", self.unfinished, _UNFINISHED, _TITLE),
            ("Decided", self.decided[::-1], _DECIDED, _ITEM),
            ("Open", self.open[::-1], _OPEN, _ITEM),
        )
        lines = [line for heading, items, most, length in parts for line in _list_some(heading, items, most, length)]
        return "\n".join([f"{head}:", *(lines or _list_some("Asked", self.asked, _DONE, _TITLE))])


def _rank_commit(subject: str) -> int:
    """Return how early a commit is named: features, then fixes, then what says nothing, then upkeep."""
    kind = _KIND.match(subject)
    return {"feat": 0, "perf": 0, "fix": 1}.get(kind[1], 3) if kind else 2


def _list_some(heading: str, items: Sequence[str], most: int, length: int) -> list[str]:
    once = list(dict.fromkeys(to_one_line(item, length) for item in items))
    more = [f"- and {len(once) - most} more"] if len(once) > most else []
    return [f"{heading}:", *(f"- {item}" for item in once[:most]), *more] if once else []


def describe_month(hub: Hub, month: str, rows: Sequence[Row], name_project: Callable[[str], str]) -> str:
    """Return what a month's episodes came to, by project; "" without episodes."""
    projects: dict[str, ProjectMonth] = {}
    for row in rows:
        project = row["project"]
        projects.setdefault(project, ProjectMonth(project, name_project(project))).add_episode(row)
    ranked = sorted(projects.values(), key=lambda item: (-len(item.shipped), -len(item.sessions), item.name))
    days = (hub.now() - rows[0]["started_at"]) / (24 * HOUR) + 2 if rows and rows[0]["started_at"] else 0
    sections = [item.render(_sum_cost(hub, month, item.project, days)) for item in ranked[:_PROJECTS]]
    rest = [f"{item.name} ({len(item.sessions)})" for item in ranked[_PROJECTS:]]
    return cut_to_tokens("\n\n".join([*sections, *([f"Also: {', '.join(rest)}."] if rest else [])]), TOKENS)


def _sum_cost(hub: Hub, month: str, project: str, days: float) -> float:
    """Return what a project cost in a month: the sum of its days, as `engram cost` shows them."""
    if not project or not 0 < days < _DAYS:
        return 0.0
    rows = cost(hub, by="day", project=project, days=days)
    return sum(row.money for row in rows if row.place.startswith(month))
