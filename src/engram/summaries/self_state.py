"""The agent's own state: mood, drives and reflections as JSON; an unreadable version is skipped, never lost."""

from __future__ import annotations

from engram.errors import InvalidInput
from engram.operation import Help, operation
from engram.platform import text
from engram.store import documents
from engram.summaries import versions
from engram.summaries.versions import SELF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Any

    from engram.hub import Hub
    from engram.redaction.redactor import Redactor

_LOOKED_AT = 100  # versions searched for a readable one
_DEEPEST = 64  # levels


@operation()
def get_self_state(hub: Hub, state_id: Annotated[str, Help("state id, if there are several")] = "self") -> Any:
    """Show the agent's own state: the newest readable version."""
    key = text.validate_name("state_id", state_id)
    for limit in (1, _LOOKED_AT):  # the newest one is nearly always readable
        for row in documents.list_versions(hub.engine, SELF, key, limit):
            parsed = parse_state(row["content"])
            if parsed is not None:
                return parsed
    return None


@operation(writes=True)
def set_self_state(
    hub: Hub,
    state: Annotated[Any, Help("the new state as a JSON object")],
    state_id: Annotated[str, Help("state id, if there are several")] = "self",
) -> Any:
    """Replace the agent's own state; every version is kept."""
    from engram.capture.batch import redact_nested
    from engram.redaction.store_redactor import load_hub_redactor

    new_state = parse_state(state) if isinstance(state, str) else state
    if not isinstance(new_state, dict) or not _is_shallow(new_state, _DEEPEST):
        raise InvalidInput(
            field="state", reason='Expected a JSON object without deep nesting, such as {"mood": "calm"}.'
        )
    new_state = _normalize_state(new_state)
    save_state(
        hub,
        text.validate_name("state_id", state_id),
        dump_state(redact_nested(new_state, load_hub_redactor(hub))),
        versions.GIVEN,
    )
    return get_self_state(hub, state_id)


def save_state(hub: Hub, state_id: str, content: str, made_by: str) -> None:
    """Save a state as the newest version, readable or not."""
    versions.save_version(hub, SELF, state_id, content, {}, made_by)


def get_part(hub: Hub, name: str) -> Any:
    """Return one part of the own state; None if it does not exist."""
    state = get_self_state(hub)
    return state.get(name) if isinstance(state, dict) else None


def get_state_at(hub: Hub, version: int) -> dict[str, Any]:
    """Return the own state at a version; empty if it is gone or unreadable."""
    row = documents.get(hub.engine, SELF, "self", version)
    return (parse_state(row["content"]) or {}) if row else {}


def update_state(hub: Hub, parts: dict[str, Any], made_by: str, sessions: list[str]) -> None:
    """Replace parts of the own state, remove those that are None, and keep the rest; record the source sessions."""
    state = get_self_state(hub)
    merged = {**(state if isinstance(state, dict) else {}), **parts}
    merged = {name: part for name, part in merged.items() if part is not None or name not in parts}
    versions.save_version(hub, SELF, "self", dump_state(_normalize_state(merged)), {"sessions": sessions}, made_by)


def redact_state(redactor: Redactor, content: str) -> str | None:
    """Return a stored state without secrets; None if it is unreadable."""
    from engram.capture.batch import redact_nested

    state = parse_state(content)
    return None if state is None else dump_state(redact_nested(state, redactor))


def parse_state(content: str) -> dict[str, Any] | None:
    """Parse a stored state; None if it is unreadable."""
    import json

    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _normalize_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state as JSON round-trips it: keys are text, and no number is infinite."""
    normalized = parse_state(dump_state(state))
    assert normalized is not None  # it was just serialized
    return normalized


def dump_state(state: dict[str, Any]) -> str:
    """Serialize a state."""
    import json

    try:
        dumped = json.dumps(state, ensure_ascii=False, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as problem:
        raise InvalidInput(field="state", reason=f"Not valid JSON: {problem}.") from problem
    return text.validate_text("state", dumped, text.PAGE)


def _is_shallow(part: Any, levels: int) -> bool:
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, (list, tuple)) else ()
    return levels > 0 and all(_is_shallow(child, levels - 1) for child in inner)
