"""Locks on the same file in other clones of a repository: they block nobody, but both sessions should know."""

from __future__ import annotations

from engram.platform import text
from engram.sessions import lock_view, resources
from engram.store import checkouts
from engram.types import Resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from engram.clock import Instant
    from engram.hub import Hub
    from engram.store.engine import Row

_MOST = 20  # clones that are looked at


def list_clone_locks(hub: Hub, session: Row, resource: Resource, instant: Instant) -> list[Row]:
    """Return the live locks by other sessions on the same file in other clones of the project."""
    if resource.kind == "name" or not session["project"]:
        return []
    rows = checkouts.list_by_project(hub.engine, session["project"])
    if len(rows) < 2:  # most projects have one
        return []
    nearby = {
        row["token"]: row
        for twin in _find_in_clones(resource, list(dict.fromkeys(row["path"] for row in rows)))
        for row in lock_view.find_overlapping_locks(hub, twin)
    }
    return [row for row in nearby.values() if _is_in_other_clone(hub, session, resource, row, instant)]


def describe_clone_lock(row: Row) -> str:
    """Return one line about a lock in another clone."""
    name = text.escape_inline(row["name"], 200)
    return (
        f"{row['session_id']} ({row['flavor']}: {text.escape_inline(row['summary'])}) has {name} locked, the same file "
        f"in another clone. You may edit yours; agree with that session so that the changes merge."
    )


def _is_in_other_clone(hub: Hub, session: Row, resource: Resource, row: Row, instant: Instant) -> bool:
    """Return whether a lock is by another session and elsewhere: at another path, or on another machine."""
    is_own = row["session_id"] == session["id"]
    is_same_file = row["base"] == resource.base and not lock_view.is_on_other_machine(hub, session, row)
    return not is_own and not is_same_file and lock_view.explain_lapse(row, instant) is None


def _find_in_clones(resource: Resource, paths: list[str]) -> Iterator[Resource]:
    """Yield the same resource in each clone, and in this one: another machine may have it at the same path."""
    roots = [resources.parse_resource(f"{path}/", None).base.rstrip("/") for path in paths[:_MOST]]
    own_roots = [root for root in roots if f"{resource.base}/".startswith(f"{root}/")]
    if not own_roots:
        return
    own_root = max(own_roots, key=len)
    rest, rest_of_pattern = resource.base[len(own_root) :], resource.pattern[len(own_root) :]
    for root in roots:
        base, pattern = root + rest, root + rest_of_pattern
        yield Resource(kind=resource.kind, name=base, base=base, pattern=pattern)
