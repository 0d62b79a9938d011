"""World state: the maintained overview of a project, and one of everything."""

from __future__ import annotations

from engram import text
from engram.clock import moment
from engram.coordination import sessions
from engram.coordination.gate import Gate
from engram.errors import Conflict, InvalidInput, NotFound, TooLarge
from engram.model import WorldState
from engram.operation import Help, operation
from engram.redaction.removal import remove_secrets
from engram.store import documents, passages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from engram.hub import Hub
    from engram.store.engine import Engine, Row

KIND = "world"
GLOBAL = ""


@operation()
def get_world_state(
    hub: Hub, project: Annotated[str | None, Help("a project's own; without it the global one")] = None
) -> str:
    """Show the world state's text, empty when none is set."""
    current = documents.current(hub.engine, KIND, sessions.room(project) or GLOBAL)
    return str(current["content"]) if current else ""


@operation(writes=True)
def set_world_state(
    hub: Hub,
    content: Annotated[str, Help("the whole new text, in markdown")],
    updated_by: Annotated[str | None, Help("the session or person who writes")] = None,
    expected_version: Annotated[int | None, Help("refuse if the current version is another")] = None,
    project: Annotated[str | None, Help("a project's own; without it the global one")] = None,
    token: Annotated[int | None, Help("fencing token of a lock the text relies on")] = None,
) -> WorldState:
    """Replace the world state; every version is kept."""
    content = _fitting(hub, content)
    updated_by = text.name_or_none("updated_by", updated_by)
    known = sessions.known(hub, updated_by) if updated_by else None
    author = known["id"] if known else None
    while True:
        with Gate(hub, author, token, durable=True):
            if author:
                sessions.touch(hub, author)
            added = _add(hub, sessions.room(project) or GLOBAL, content, author or updated_by, expected_version)
        if added is not None:
            return added


@operation()
def world_state(
    hub: Hub,
    project: Annotated[str | None, Help("a project's own; without it the global one")] = None,
    version: Annotated[int | None, Help("an older version")] = None,
) -> WorldState:
    """Show the world state with its version, author and time."""
    key = sessions.room(project) or GLOBAL
    row = documents.current(hub.engine, KIND, key) if version is None else documents.get(hub.engine, KIND, key, version)
    if row is None:
        which = f"world state{f' of {project}' if project else ''}"
        raise NotFound(kind=which, id=str(version or "current"), hint="Write one with `engram world set`.")
    return view(row)


@operation()
def list_world_states(hub: Hub) -> list[WorldState]:
    """Show the world state of everything and of each project, the one changed last first."""
    return [view(row) for row in reversed(documents.currents(hub.engine, KIND))]


@operation()
def world_history(
    hub: Hub,
    project: Annotated[str | None, Help("a project's own; without it the global one")] = None,
    limit: Annotated[int, Help("at most so many")] = 20,
) -> list[WorldState]:
    """Show the versions of the world state, newest first."""
    rows = documents.history(hub.engine, KIND, sessions.room(project) or GLOBAL, sessions.positive("limit", limit))
    return [view(row) for row in rows]


@operation()
def world_diff(
    hub: Hub,
    since: Annotated[int, Help("the older version")],
    until: Annotated[int | None, Help("the newer version; without it the current one")] = None,
    project: Annotated[str | None, Help("a project's own; without it the global one")] = None,
) -> str:
    """Show what changed between two versions of the world state."""
    import difflib

    old, new = world_state(hub, project, since), world_state(hub, project, until)
    lines = difflib.unified_diff(
        old.content.splitlines(),
        new.content.splitlines(),
        f"version {old.version}",
        f"version {new.version}",
        "",
        "",
        3,
        "",
    )
    return "\n".join(lines)


def view(row: Row) -> WorldState:
    """Turn a stored row into the value users see."""
    return WorldState(
        project=row["key"], version=row["version"], content=row["content"], updated_by=row["made_by"],
        updated_at=moment(row["made_at"]),
    )  # fmt: skip


def _fitting(hub: Hub, content: str) -> str:
    content = remove_secrets(hub, text.clean("content", content, text.PAGE))
    size, limit = text.tokens(content), hub.settings.world_state_tokens
    if size > limit:
        hint = "It is read at the start of every session: keep it short, or raise world_state_tokens in config.toml."
        raise TooLarge(field="The world state", size=size, limit=limit, unit="tokens", hint=hint)
    return content


def _add(hub: Hub, key: str, content: str, made_by: str | None, expected: int | None) -> WorldState | None:
    current = documents.current(hub.engine, KIND, key)
    version = current["version"] if current else 0
    if expected is not None and expected != version:
        _refuse(key, version, expected, current)
    if current and current["content"] == content:
        return view(current)
    added = documents.add(hub.engine, KIND, key, version + 1, content, made_by, hub.now())
    if added is None and expected is not None:  # PostgreSQL: another writer came between
        _refuse(key, version + 1, expected, documents.current(hub.engine, KIND, key))
    if added is not None:
        make_findable(hub.engine, key)
    return view(added) if added else None


def make_findable(engine: Engine, key: str) -> None:
    """Let recall find the world state as it stands now."""
    from engram.sections import split_sections

    row = documents.current(engine, KIND, key)
    if row is not None:
        passages.put(engine, KIND, key, split_sections(row["content"]), at=row["made_at"], project=key)


def _refuse(key: str, version: int, expected: int, current: Row | None) -> None:
    if isinstance(expected, bool) or not isinstance(expected, int) or expected < 0:
        raise InvalidInput(field="expected_version", reason=f"{expected!r} is not a version.")
    by = (current["made_by"] if current else None) or "somebody"
    name = f"The world state of {key}" if key else "The world state"
    raise Conflict(document=name, version=version, expected=expected, by=by)
