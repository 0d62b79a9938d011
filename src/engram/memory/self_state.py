"""The agent's own state: mood, drives, reflections, as JSON; a broken version is passed over, never lost."""

from __future__ import annotations

from engram import text
from engram.errors import InvalidInput
from engram.memory import versions
from engram.memory.versions import SELF
from engram.operation import Help, operation
from engram.store import documents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Any

    from engram.hub import Hub
    from engram.redaction.redactor import Redactor

_LOOKED_AT = 100  # versions, for one that can be read
_DEEPEST = 64  # levels


@operation()
def get_self_state(hub: Hub, state_id: Annotated[str, Help("whose, if there are several")] = "self") -> Any:
    """Show the agent's own state: the newest version that can be read."""
    key = text.name("state_id", state_id)
    for limit in (1, _LOOKED_AT):  # the newest mostly can be read
        for row in documents.history(hub.engine, SELF, key, limit):
            found = read(row["content"])
            if found is not None:
                return found
    return None


@operation(writes=True)
def set_self_state(
    hub: Hub,
    state: Annotated[Any, Help("the whole new state, a JSON object")],
    state_id: Annotated[str, Help("whose, if there are several")] = "self",
) -> Any:
    """Replace the agent's own state; every version is kept."""
    from engram.capture.batch import cleaned
    from engram.redaction.removal import redactor

    given = read(state) if isinstance(state, str) else state
    if not isinstance(given, dict) or not _is_shallow(given, _DEEPEST):
        raise InvalidInput(field="state", reason='expected a JSON object of few levels, like {"mood": "calm"}.')
    given = _as_json(given)
    keep(hub, text.name("state_id", state_id), written(cleaned(given, redactor(hub))), versions.GIVEN)
    return get_self_state(hub, state_id)


def keep(hub: Hub, state_id: str, content: str, made_by: str) -> None:
    """Keep a state as its newest version, whether it can be read or not."""
    versions.put(hub, SELF, state_id, content, {}, made_by)


def part(hub: Hub, name: str) -> Any:
    """Return one part of the own state; None if it has none of that name."""
    state = get_self_state(hub)
    return state.get(name) if isinstance(state, dict) else None


def held_at(hub: Hub, version: int) -> dict[str, Any]:
    """Return what a version of the own state held; nothing if it is gone or cannot be read."""
    row = documents.get(hub.engine, SELF, "self", version)
    return (read(row["content"]) or {}) if row else {}


def change(hub: Hub, parts: dict[str, Any], made_by: str, sessions: list[str]) -> None:
    """Replace parts of the own state, take out those that are None, and leave the rest; made of these sessions."""
    state = get_self_state(hub)
    whole = {**(state if isinstance(state, dict) else {}), **parts}
    whole = {name: each for name, each in whole.items() if each is not None or name not in parts}
    versions.put(hub, SELF, "self", written(_as_json(whole)), {"sessions": sessions}, made_by)


def redacted(redactor: Redactor, content: str) -> str | None:
    """Return a stored state without secrets; None if it cannot be read."""
    from engram.capture.batch import cleaned

    found = read(content)
    return None if found is None else written(cleaned(found, redactor))


def read(content: str) -> dict[str, Any] | None:
    """Return a stored state; None if it cannot be read."""
    import json

    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _as_json(given: dict[str, Any]) -> dict[str, Any]:
    """Return a state as JSON gives it back: keys are text, and no number is infinite."""
    found = read(written(given))
    assert found is not None  # it was just written
    return found


def written(given: dict[str, Any]) -> str:
    """Return a state as it is stored."""
    import json

    try:
        said = json.dumps(given, ensure_ascii=False, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as problem:
        raise InvalidInput(field="state", reason=f"it is not JSON: {problem}.") from problem
    return text.clean("state", said, text.PAGE)


def _is_shallow(part: Any, levels: int) -> bool:
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, (list, tuple)) else ()
    return levels > 0 and all(_is_shallow(each, levels - 1) for each in inner)
