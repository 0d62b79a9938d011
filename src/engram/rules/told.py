"""What stands in the context: the rules a briefing tells, in step with every decision."""

from __future__ import annotations

from engram.errors import SettingsInvalid
from engram.rules.scope import reach
from engram.store import placements, rules
from engram.store.patterns import APPROVED, get
from engram.store.placements import CONTEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.store.engine import Row

PLACES = ("context", "files", "both")


def wanted(hub: Hub) -> str:
    """Return where rules go, as the user set it."""
    choice = hub.settings.pattern_places
    if choice not in PLACES:
        reason = f"pattern_places must be one of {', '.join(PLACES)}, not {choice!r}."
        raise SettingsInvalid(source="settings", reason=reason)
    return choice


def follow(hub: Hub, pattern: str) -> bool:
    """Let the context hold a pattern's rule as it was decided last, or not at all; tell whether that changed it."""
    standing = [each for each in placements.of_pattern(hub.engine, pattern) if _in_context(each)]
    row = get(hub.engine, pattern)
    current = rules.version(hub.engine, pattern, row["version"]) if row else None
    due = current if row and row["state"] == APPROVED and wanted(hub) != "files" else None
    return replace(hub, standing, [due] if due else [])


def replace(hub: Hub, standing: list[Row], due: list[Row]) -> bool:
    """Put rules into the context in place of those that stand there; what stays the same is left alone."""
    wished = {(each["pattern"], each["version"], *reach(each["scope"])) for each in due}
    held = {(each["pattern"], each["version"], each["flavor"], each["project"]): each["id"] for each in standing}
    gone = [number for key, number in held.items() if key not in wished]
    new = [
        {"pattern": pattern, "version": version, "flavor": flavor, "project": project, "place": CONTEXT, "host": ""}
        for pattern, version, flavor, project in sorted(wished - held.keys())
    ]
    placements.remove(hub.engine, gone, hub.now())
    placements.put(hub.engine, new, hub.now())
    return bool(gone or new)


def _in_context(row: Row) -> bool:
    return row["place"] == CONTEXT and row["removed_at"] is None
