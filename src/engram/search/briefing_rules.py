"""Approved rules in the briefing of a starting session. It runs in a hook: one query, no search."""

from __future__ import annotations

from math import exp, log1p

from engram.errors import Error
from engram.platform import text
from engram.store import rule_placements, rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.store.engine import Row

_DAY = 86_400_000_000
_FADES = 90  # days after which a pattern that was not seen again counts a third
_IMPORT = r"(?<!\w)@[^\s'\"“”‘’,;)\]]+"
_TITLE = "**Rules your team approved (`engram patterns show ID` explains why):**"


def choose_rules(hub: Hub, flavor: str, project: str, budget: int) -> list[Row]:
    """Choose approved rules for an agent in a project, most important first, within a token budget."""
    now, remaining = hub.now(), budget - text.count_tokens(_TITLE) - 1
    chosen_rows = []
    for row in sorted(
        rules.list_context_rules(hub.engine, flavor, project), key=lambda row: (-score_rule(row, now), row["id"])
    ):
        cost = text.count_tokens(format_rule(row["id"], row["rule"], row["fix"])) + 1
        if cost <= remaining:
            remaining -= cost
            chosen_rows.append(row)
    return chosen_rows


def render_rules(rows: list[Row]) -> list[str]:
    """Render rules as a list with a heading."""
    return [_TITLE, *(format_rule(row["id"], row["rule"], row["fix"]) for row in rows)] if rows else []


def record_told_rules(hub: Hub, session_id: str, rows: list[Row], briefing: str) -> None:
    """Record which rules were in a session's briefing, to measure whether they help."""
    shown_rules = [(row["id"], row["version"]) for row in rows if f"[{row['id']}]" in briefing]
    if not shown_rules:
        return
    try:
        with hub.engine.transaction():
            rule_placements.record_exposures(hub.engine, session_id, shown_rules, hub.now())
    except Error:
        pass  # the store is busy: showing a rule uncounted is better than not showing it


def format_rule(pattern: str, rule: str, fix: str) -> str:
    """Format a rule as a list item with its id; escape anything that could end or open a block."""
    body = _disarm_imports(rule if not fix or fix in rule else f"{rule}\nFix: {fix}")
    first, *more_lines = body.replace("<!--", "‹!--").replace("-->", "--›").splitlines() or [""]
    return "\n".join([f"- [{pattern}] {first}", *(f"  {line}" for line in more_lines if line.strip())])


def _disarm_imports(body: str) -> str:
    """Put every `@word` in a code span: outside of one, agents import the file it names."""
    if "@" not in body:
        return body
    import re

    if body.count("`") % 2 or "``" in body:
        body = body.replace("`", "'")  # unbalanced: the end of a span is unclear
    parts = body.split("`")
    parts[::2] = [re.sub(_IMPORT, r"`\g<0>`", part) for part in parts[::2]]
    return "`".join(parts)


def score_rule(row: Row, now: int) -> float:
    """Score a rule by its number of sessions, its cost and how recent it is."""
    days = max(0, now - row["last_at"]) / _DAY
    return log1p(row["sessions"]) * (1 + log1p(row["tokens"]) / 10) * (0.3 + 0.7 * exp(-days / _FADES))
