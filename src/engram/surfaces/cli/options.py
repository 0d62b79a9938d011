"""Options that many commands share."""

from __future__ import annotations

import click

from engram.hub import Hub
from engram.sessions import lifecycle, project_names


def json_option() -> click.Option:
    """Return the option every command has."""
    return click.Option(["--json", "as_json"], is_flag=True, help="Print JSON.")


def limit_option(default: int, what: str = "rows", verb: str = "show") -> click.Option:
    """Return the option that limits a list."""
    return click.Option(
        ["-n", "--limit"], type=click.IntRange(1), default=default, show_default=True,
        help=f"Maximum number of {what} to {verb}.",
    )  # fmt: skip


def yes_option() -> click.Option:
    """Return the option that answers the question before it is asked."""
    return click.Option(["-y", "--yes"], is_flag=True, help="Do not ask for confirmation.")


def session_option(required: bool = True) -> click.Option:
    """Return the option that names the acting session."""
    note = "The acting session. Default: ENGRAM_SESSION, or the session of the agent that runs this command"
    return click.Option(
        ["-s", "--session"], help=f"{note}." if required else f"{note}, if any.", shell_complete=_complete_session
    )


def project_option(help_text: str = "") -> click.Option:
    """Return the option that names a project, as a filter unless its help says otherwise."""
    return click.Option(
        ["-p", "--project"],
        is_flag=False,
        flag_value=".",
        metavar="[NAME|PATH]",
        help=help_text or "Only this project, by name or path. Without a value: the current directory's.",
        shell_complete=_complete_project,
    )


def find_project(hub: Hub, name_or_path: str | None) -> str | None:
    """Return the project an option names; None if it was not given."""
    return None if name_or_path is None else project_names.resolve_project(hub, name_or_path)


def _complete_session(_: click.Context, __: click.Parameter, typed: str) -> list[str]:
    with Hub() as hub:
        return [session.id for session in lifecycle.get_active_sessions(hub, limit=50) if session.id.startswith(typed)]


def _complete_project(_: click.Context, __: click.Parameter, typed: str) -> list[str]:
    with Hub() as hub:
        return [name for name in project_names.list_names(hub) if name.startswith(typed)]
