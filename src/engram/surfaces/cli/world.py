"""`engram world edit`."""

from __future__ import annotations

import os

import click

from engram.errors import Error, NotFound
from engram.hub import Hub
from engram.sessions import world_state
from engram.surfaces.cli.acting_session import find_acting_session
from engram.surfaces.cli.editor import edit_text
from engram.surfaces.cli.options import find_project, project_option, session_option


def edit_world_state(project: str | None, session: str | None) -> None:
    """Change the world state in your editor. If it cannot be saved, your text is kept in a file."""
    with Hub() as hub:
        project_root = find_project(hub, project)
        session_id = find_acting_session(hub, session, is_required=False)
        try:
            current = world_state.world_state(hub, project_root)
            old_text, version = current.content, current.version
        except NotFound:
            old_text, version = "", 0
        path, new_text = edit_text(old_text, "world-state")
        if new_text == old_text:
            click.echo("Nothing was changed.")
        else:
            author = session_id or os.environ.get("USER")
            try:
                state = world_state.set_world_state(hub, new_text, author, version, project_root)
            except Error as refusal:
                click.echo(f"Your text is kept in {path}.", err=True)
                raise refusal
            click.echo(f"The world state is now at version {state.version}.")
    os.unlink(path)


COMMANDS = {
    "world edit": click.Command(
        "edit",
        callback=edit_world_state,
        help=edit_world_state.__doc__,
        params=[project_option(), session_option(False)],
    )
}
