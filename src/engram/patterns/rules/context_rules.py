"""Rules in the briefing, updated with every decision."""

from __future__ import annotations

from engram.errors import SettingsInvalid
from engram.patterns.rules.scope import split_scope
from engram.store import rule_placements, rules
from engram.store.patterns import APPROVED, get
from engram.store.rule_placements import CONTEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.store.engine import Row

PLACES = ("context", "files", "both")


def read_places_setting(hub: Hub) -> str:
    """Return where rules are placed, as configured."""
    choice = hub.settings.pattern_places
    if choice not in PLACES:
        reason = f"pattern_places must be one of {', '.join(PLACES)}, not {choice!r}."
        raise SettingsInvalid(source="settings", reason=reason)
    return choice


def update_context(hub: Hub, pattern: str) -> bool:
    """Update a pattern's rule in the briefing to the latest decision; return whether it changed."""
    standing = [
        placement for placement in rule_placements.list_by_pattern(hub.engine, pattern) if _is_in_context(placement)
    ]
    row = get(hub.engine, pattern)
    current = rules.get_version(hub.engine, pattern, row["version"]) if row else None
    due = current if row and row["state"] == APPROVED and read_places_setting(hub) != "files" else None
    return replace_rules(hub, standing, [due] if due else [])


def replace_rules(hub: Hub, standing: list[Row], due: list[Row]) -> bool:
    """Replace the rules in the briefing; leave unchanged ones alone."""
    wanted_keys = {(row["pattern"], row["version"], *split_scope(row["scope"])) for row in due}
    standing_ids = {(row["pattern"], row["version"], row["flavor"], row["project"]): row["id"] for row in standing}
    removed_ids = [number for key, number in standing_ids.items() if key not in wanted_keys]
    new_rows = [
        {"pattern": pattern, "version": version, "flavor": flavor, "project": project, "place": CONTEXT, "host": ""}
        for pattern, version, flavor, project in sorted(wanted_keys - standing_ids.keys())
    ]
    rule_placements.mark_removed(hub.engine, removed_ids, hub.now())
    rule_placements.add_placements(hub.engine, new_rows, hub.now())
    return bool(removed_ids or new_rows)


def _is_in_context(row: Row) -> bool:
    return row["place"] == CONTEXT and row["removed_at"] is None
