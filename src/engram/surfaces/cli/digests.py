"""`engram digest`: the facts of a session, and all of them again after the rules changed."""

from __future__ import annotations

import click

from engram.errors import InvalidInput
from engram.hub import Hub
from engram.surfaces.cli.options import json_option
from engram.surfaces.cli.output import show_result
from engram.surfaces.cli.progress import Progress


def show_digest(session_id: str | None, everything: bool, as_json: bool) -> None:
    """Show the facts of a session: goal, files, commands, errors, tests, commits, outcome.

    With --all, rebuild the digests that an earlier version of Engram made. It can be interrupted and continued.
    """
    if (session_id is None) != everything:
        raise InvalidInput(field="session_id", reason="Give a session, or --all to rebuild all digests.")
    with Hub() as hub:
        if session_id is None:
            _rebuild_all(hub, as_json)
        else:
            from engram.capture.digests.digest import get_digest

            show_result(get_digest(hub, session_id), as_json)


def _rebuild_all(hub: Hub, as_json: bool) -> None:
    from engram.capture.digests.rebuild import rebuild_all

    with Progress(quiet=as_json) as progress:
        result = rebuild_all(hub, progress.report)
    show_result(result, as_json)


COMMANDS = {
    "digest": click.Command(
        "digest", callback=show_digest, help=show_digest.__doc__,
        params=[
            click.Argument(["session_id"], required=False),
            click.Option(["--all", "everything"], is_flag=True, help="Rebuild every digest made by earlier rules."),
            json_option(),
        ],
    ),
}  # fmt: skip
