"""`engram locks` and `engram unlock`."""

from __future__ import annotations

import click

from engram.errors import InvalidInput
from engram.hub import Hub
from engram.platform import host
from engram.platform.text import list_first
from engram.sessions import locks
from engram.surfaces.cli.acting_session import find_acting_session
from engram.surfaces.cli.options import (
    find_project,
    json_option,
    project_option,
    session_option,
)
from engram.surfaces.cli.output import announce_unread, show_result
from engram.surfaces.cli.render.layout import MAX_ITEMS


def show_locks(resource: str | None, project: str | None, lapsed: bool, as_json: bool) -> None:
    """List the locks that are held, or those on one resource."""
    with Hub() as hub:
        if resource is None:
            listed_locks = locks.list_locks(hub, find_project(hub, project), lapsed=lapsed)
            show_result(listed_locks, as_json, "No lock has expired." if lapsed else "No locks are held.")
        else:
            session_id = find_acting_session(hub, None, is_required=False)
            held_locks = locks.check_locks(hub, resource, session_id, host.get_working_directory())
            show_result(held_locks, as_json, f"{resource} is free.")


def release_locks(
    resources: tuple[str, ...], everything: bool, session: str | None, token: int | None, as_json: bool
) -> None:
    """Release locks. Releasing a lock you do not hold changes nothing."""
    if not resources and not everything:
        raise InvalidInput(field="resources", reason="Name what to release, or pass --all.")
    with Hub() as hub:
        session_id = find_acting_session(hub, session)
        assert session_id is not None
        if everything:
            released_locks = locks.release_all(hub, session_id)
        else:
            cwd = host.get_working_directory()
            released_locks = [
                lock for resource in resources for lock in locks.release_resource(hub, session_id, resource, token, cwd)
            ]
        lines = list_first(released_locks, MAX_ITEMS, lambda lock: f"Released {lock.resource}.", "lock")
        message = "\n".join(lines) or _explain_nothing_released(hub, session_id, resources)
        show_result(released_locks if as_json else message, as_json)
        announce_unread(hub, session_id)


def _explain_nothing_released(hub: Hub, session_id: str, resources: tuple[str, ...]) -> str:
    """Name another session that holds what could not be released."""
    cwd = host.get_working_directory()
    held = [lock for resource in resources for lock in locks.check_locks(hub, resource, session_id, cwd)]
    others = [lock for lock in held if lock.session_id != session_id]
    if others:
        return f"This session does not hold {others[0].resource}; {others[0].session_id} does."
    return "This session holds no such lock."


COMMANDS = {
    "locks": click.Command(
        "locks", callback=show_locks, help=show_locks.__doc__,
        params=[
            click.Argument(["resource"], required=False),
            project_option(),
            click.Option(["--lapsed"], is_flag=True, help="Show the expired ones, and those whose holder is gone."),
            json_option(),
        ],
    ),
    "unlock": click.Command(
        "unlock", callback=release_locks, help=release_locks.__doc__,
        params=[
            click.Argument(["resources"], nargs=-1),
            click.Option(["-a", "--all", "everything"], is_flag=True, help="Release every lock of the session."),
            session_option(),
            click.Option(["--token"], type=int, help="Release only if this is still the lock's token."),
            json_option(),
        ],
    ),
}  # fmt: skip
