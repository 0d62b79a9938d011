"""Rules people approved, as a session that starts is told them. It runs in a hook: one query, no search."""

from __future__ import annotations

from math import exp, log1p

from engram import text
from engram.errors import Error
from engram.store import placements, rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.store.engine import Row

_DAY = 86_400_000_000
_FADES = 90  # days after which what was not seen any more weighs a third
_IMPORT = r"(?<!\w)@[^\s'\"“”‘’,;)\]]+"
_TITLE = "**Rules your team approved (each by a person; `engram patterns show ID` says why):**"


def chosen(hub: Hub, flavor: str, project: str, budget: int) -> list[Row]:
    """Return the approved rules an agent in a project is told, heaviest first, as many as a budget holds."""
    now, left = hub.now(), budget - text.tokens(_TITLE) - 1
    found = []
    for row in sorted(rules.told(hub.engine, flavor, project), key=lambda row: (-worth(row, now), row["id"])):
        cost = text.tokens(item(row["id"], row["rule"], row["fix"])) + 1
        if cost <= left:
            left -= cost
            found.append(row)
    return found


def lines(found: list[Row]) -> list[str]:
    """Return rules as they are told, heading first."""
    return [_TITLE, *(item(row["id"], row["rule"], row["fix"]) for row in found)] if found else []


def patterns_for(hub: Hub, project: str = "", flavor: str = "", budget: int | None = None) -> str:
    """Return the rules an agent in a project is told, as one text."""
    limit = hub.settings.pattern_tokens if budget is None else budget
    return "\n".join(lines(chosen(hub, flavor, project, limit)))


def note_told(hub: Hub, session_id: str, found: list[Row], whole: str) -> None:
    """Keep which rules a session found in what it was told: whether they help is measured by that."""
    told = [(row["id"], row["version"]) for row in found if f"[{row['id']}]" in whole]
    if not told:
        return
    try:
        with hub.engine.transaction():
            placements.tell(hub.engine, session_id, told, hub.now())
    except Error:
        pass  # a busy store: better told and not counted than not told


def item(pattern: str, rule: str, fix: str) -> str:
    """Return a rule as an item of a list, with its id; nothing it says can end a block or open another."""
    said = _importing_nothing(rule if not fix or fix in rule else f"{rule}\nFix: {fix}")
    first, *rest = said.replace("<!--", "‹!--").replace("-->", "--›").splitlines() or [""]
    return "\n".join([f"- [{pattern}] {first}", *(f"  {line}" for line in rest if line.strip())])


def _importing_nothing(said: str) -> str:
    """Return a text in which no `@word` takes a file in: agents read one outside of a code span as an import."""
    if "@" not in said:
        return said
    import re

    if said.count("`") % 2 or "``" in said:
        said = said.replace("`", "'")  # nobody could tell where a span ends
    parts = said.split("`")
    parts[::2] = [re.sub(_IMPORT, r"`\g<0>`", part) for part in parts[::2]]
    return "`".join(parts)


def worth(row: Row, now: int) -> float:
    """Return how much a rule matters: in how many sessions, at what cost, how lately."""
    days = max(0, now - row["last_at"]) / _DAY
    return log1p(row["sessions"]) * (1 + log1p(row["tokens"]) / 10) * (0.3 + 0.7 * exp(-days / _FADES))
