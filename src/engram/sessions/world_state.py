"""World state: the maintained overview of a project, and a global one."""

from __future__ import annotations

from engram.clock import to_datetime
from engram.errors import Conflict, InvalidInput, NotWritten, NoVersion, TooLarge
from engram.operation import Help, operation
from engram.platform import text
from engram.redaction.store_redactor import remove_secrets
from engram.sessions import lifecycle
from engram.sessions.fencing import FencedTransaction
from engram.store import documents, passages
from engram.types import WorldState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from engram.hub import Hub
    from engram.store.engine import Engine, Row

KIND = "world"
GLOBAL = ""


@operation()
def get_world_state(
    hub: Hub, project: Annotated[str | None, Help("project; default: the global world state")] = None
) -> str:
    """Show the text of the world state; empty if none is set."""
    current = documents.get_current(hub.engine, KIND, lifecycle.parse_project_filter(project) or GLOBAL)
    return str(current["content"]) if current else ""


@operation(writes=True)
def set_world_state(
    hub: Hub,
    content: Annotated[str, Help("the complete new text, in markdown")],
    updated_by: Annotated[str | None, Help("session or person that writes it")] = None,
    expected_version: Annotated[int | None, Help("fail unless this is the current version")] = None,
    project: Annotated[str | None, Help("project; default: the global world state")] = None,
    token: Annotated[int | None, Help("fencing token of a lock the text depends on")] = None,
) -> WorldState:
    """Replace the world state; every version is kept."""
    content = _clean_content(hub, content)
    updated_by = text.validate_optional_name("updated_by", updated_by)
    session = lifecycle.find_session(hub, updated_by) if updated_by else None
    author = session["id"] if session else None
    while True:
        with FencedTransaction(hub, author, token, durable=True):
            if author:
                lifecycle.touch_session(hub, author)
            added = _add_version(
                hub, lifecycle.parse_project_filter(project) or GLOBAL, content, author or updated_by, expected_version
            )
        if added is not None:
            return added


@operation()
def world_state(
    hub: Hub,
    project: Annotated[str | None, Help("project; default: the global world state")] = None,
    version: Annotated[int | None, Help("show this version instead of the current one")] = None,
) -> WorldState:
    """Show the world state with its version, author and time."""
    key = lifecycle.parse_project_filter(project) or GLOBAL
    row = (
        documents.get_current(hub.engine, KIND, key)
        if version is None
        else documents.get(hub.engine, KIND, key, version)
    )
    if row is None and version is not None:
        hint = "List the versions with `engram world history`."
        raise NoVersion(kind=f"The {format_title(key)}", id=str(version), hint=hint)
    if row is None:
        raise NotWritten(kind=format_title(key), id=key, hint="Write one with `engram world set`.")
    return to_world_state(row)


@operation()
def list_world_states(hub: Hub) -> list[WorldState]:
    """Show the global world state and that of each project, last changed first."""
    return [to_world_state(row) for row in reversed(documents.list_current(hub.engine, KIND))]


@operation()
def world_history(
    hub: Hub,
    project: Annotated[str | None, Help("project; default: the global world state")] = None,
    limit: Annotated[int, Help("maximum number to show")] = 20,
) -> list[WorldState]:
    """Show the versions of the world state, newest first."""
    rows = documents.list_versions(
        hub.engine, KIND, lifecycle.parse_project_filter(project) or GLOBAL, lifecycle.require_positive("limit", limit)
    )
    return [to_world_state(row) for row in rows]


@operation()
def world_diff(
    hub: Hub,
    since: Annotated[int, Help("older version")],
    until: Annotated[int | None, Help("newer version; default: the current one")] = None,
    project: Annotated[str | None, Help("project; default: the global world state")] = None,
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


def format_title(key: str) -> str:
    """Return the display name of a world state."""
    return f"world state of {key}" if key else "world state"


def to_world_state(row: Row) -> WorldState:
    """Turn a stored row into the value users see."""
    return WorldState(
        project=row["key"], version=row["version"], content=row["content"], updated_by=row["made_by"],
        updated_at=to_datetime(row["made_at"]),
    )  # fmt: skip


def _clean_content(hub: Hub, content: str) -> str:
    content = remove_secrets(hub, text.validate_text("content", content, text.PAGE))
    size, limit = text.count_tokens(content), hub.settings.world_state_tokens
    if size > limit:
        hint = "It is read at the start of every session: keep it short, or raise world_state_tokens in config.toml."
        raise TooLarge(field="The world state", size=size, limit=limit, unit="tokens", hint=hint)
    return content


def _add_version(hub: Hub, key: str, content: str, made_by: str | None, expected: int | None) -> WorldState | None:
    current = documents.get_current(hub.engine, KIND, key)
    version = current["version"] if current else 0
    if expected is not None and expected != version:
        _raise_conflict(key, version, expected, current)
    if current and current["content"] == content:
        return to_world_state(current)
    added = documents.add_version(hub.engine, KIND, key, version + 1, content, made_by, hub.now())
    if added is None and expected is not None:  # PostgreSQL: another writer was faster
        _raise_conflict(key, version + 1, expected, documents.get_current(hub.engine, KIND, key))
    if added is not None:
        make_findable(hub.engine, key)
    return to_world_state(added) if added else None


def make_findable(engine: Engine, key: str) -> None:
    """Index the current world state for recall."""
    from engram.platform.sections import split_sections

    row = documents.get_current(engine, KIND, key)
    if row is not None:
        passages.save_parts(engine, KIND, key, split_sections(row["content"]), at=row["made_at"], project=key)


def _raise_conflict(key: str, version: int, expected: int, current: Row | None) -> None:
    if isinstance(expected, bool) or not isinstance(expected, int) or expected < 0:
        raise InvalidInput(field="expected_version", reason=f"{expected!r} is not a version.")
    by = (current["made_by"] if current else None) or "someone"
    raise Conflict(document=f"The {format_title(key)}", version=version, expected=expected, by=by)
