"""Commands whose work is more than one operation: lists in one view, an editor, a server."""

from __future__ import annotations

import os
import tempfile

import click

from engram import host
from engram.api import Engram
from engram.errors import Error, InvalidInput, NotFound
from engram.settings import Settings, load, without_password
from engram.surfaces.cli.commands import acting, json_option, project_at, project_option, session_option, show, tell


def locks(resource: str | None, project: str | None, lapsed: bool, as_json: bool) -> None:
    """List who holds what, or who holds something on one resource."""
    with Engram() as engram:
        if resource is None:
            found = engram.list_locks(project_at(project), lapsed=lapsed)
            show(found, as_json, "No lock lapsed." if lapsed else "Nobody holds anything.")
        else:
            who = acting(engram, None, needed=False)
            show(engram.check_locks(resource, who, host.directory()), as_json, f"{resource} is free.")


def unlock(resources: tuple[str, ...], everything: bool, session: str | None, token: int | None, as_json: bool) -> None:
    """Let go of locks; letting go of what is not held changes nothing."""
    if not resources and not everything:
        raise InvalidInput(field="resources", reason="name what to let go of, or pass --all.")
    with Engram() as engram:
        who = acting(engram, session)
        assert who is not None
        if everything:
            freed = engram.release_all(who)
        else:
            freed = [lock for r in resources for lock in engram.release_resource(who, r, token, host.directory())]
        names = ", ".join(lock.resource for lock in freed)
        show(freed if as_json else f"Released {names}." if freed else "Nothing of that was held.", as_json)
        tell(engram, who)


def edit(project: str | None, session: str | None) -> None:
    """Change the world state in your editor; nothing you type is lost."""
    with Engram() as engram:
        room = project_at(project)
        who = acting(engram, session, needed=False)
        try:
            current = engram.world_state(room)
            old, version = current.content, current.version
        except NotFound:
            old, version = "", 0
        path, new = edited(old, "world-state")
        if new == old:
            click.echo("Nothing was changed.")
        else:
            try:
                state = engram.set_world_state(new, who or os.environ.get("USER"), version, room)
            except Error as refusal:
                click.echo(f"Your text is kept in {path}.", err=True)
                raise refusal
            click.echo(f"The world state is now at version {state.version}.")
    os.unlink(path)


def serve(socket: str | None, port: int | None, host: str | None, as_json: bool) -> None:
    """Offer every operation over HTTP: on a Unix socket, or on a loopback port with a token and the dashboard."""
    from engram.surfaces.http import server

    server.serve(load(), socket_path=socket, port=port, host=host, announce=lambda endpoint: show(endpoint, as_json))


def ui(port: int | None, host: str | None, browse: bool, as_json: bool) -> None:
    """Open the dashboard in your browser; serves it until Ctrl-C, unless a server already runs.

    The link works once and for ten minutes; the browser that opens it stays let in.
    """
    from engram.surfaces.cli.patterns import need_person
    from engram.surfaces.dashboard import opening

    need_person()
    opening.opened(load(), port, host, browse, lambda link: show(link, as_json))


def hook() -> None:
    """Answer an agent's event, read from standard input; `engram init` makes agents call this."""
    from engram.surfaces import hooks

    hooks.main([])


def mcp() -> None:
    """Speak MCP on standard input and output; agents start this themselves."""
    from engram.surfaces.mcp import stdio

    stdio.main()


def demo(keep: bool, as_json: bool) -> None:
    """Show the whole loop on a made-up history, in a home that is thrown away.

    Nothing of yours is read or written: no agent, no transcript, no store.
    """
    from engram.surfaces.cli.demo import play

    play(keep, as_json)


def completion(shell: str) -> None:
    """Print the completion script for a shell: eval "$(engram completion bash)"."""
    from click.shell_completion import get_completion_class

    offered = get_completion_class(shell)
    assert offered is not None  # click knows the shells we name
    click.echo(offered(click.get_current_context().find_root().command, {}, "engram", "_ENGRAM_COMPLETE").source())


def config(as_json: bool) -> None:
    """Show every setting in force and how to change it."""
    settings = load()
    shown = {name: getattr(settings, name) for name in Settings.__annotations__}
    shown["store"] = without_password(settings.store)
    if as_json:
        show(shown, as_json)
        return
    for name, choice in shown.items():
        click.echo(f"{name} = {choice!r}")
    place = os.path.join(settings.home, "config.toml")
    click.echo(click.style(f"\nChange one in {place}, or as ENGRAM_<NAME> in the environment.", dim=True))


def edited(old: str, name: str) -> tuple[str, str]:
    """Let a person change a text in their editor; return the file it is kept in, and what it says now."""
    handle, path = tempfile.mkstemp(prefix=f"{name}-", suffix=".md")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"{old}\n" if old else "")
    click.edit(filename=path)
    with open(path, encoding="utf-8", errors="replace") as file:
        new = file.read().rstrip("\n")
    return path, old if new == old.rstrip("\n") else new


edit_world = click.Command("edit", callback=edit, help=edit.__doc__, params=[project_option(), session_option(False)])

_HOST = click.Option(
    ["--host"], help="Another address of this machine than loopback; what passes is not encrypted, so mind the network."
)

ERRANDS = (
    click.Command(
        "locks", callback=locks, help=locks.__doc__,
        params=[
            click.Argument(["resource"], required=False),
            project_option(),
            click.Option(["--lapsed"], is_flag=True, help="Those that lapsed instead, or whose holder is gone."),
            json_option(),
        ],
    ),
    click.Command(
        "unlock", callback=unlock, help=unlock.__doc__,
        params=[
            click.Argument(["resources"], nargs=-1),
            click.Option(["-a", "--all", "everything"], is_flag=True, help="Everything the session holds."),
            session_option(),
            click.Option(["--token"], type=int, help="Only if this is still the lock's token."),
            json_option(),
        ],
    ),
    click.Command(
        "serve", callback=serve, help=serve.__doc__,
        params=[
            click.Option(["--socket"], help="Unix socket to listen on, if not engram.sock in the home."),
            click.Option(["--port"], type=click.IntRange(0, 65535), help="Loopback port instead; 0 picks a free one."),
            _HOST,
            json_option(),
        ],
    ),
    click.Command(
        "ui", callback=ui, help=ui.__doc__,
        params=[
            click.Option(["--port"], type=click.IntRange(0, 65535), help="Port to serve on; 0 picks a free one."),
            _HOST,
            click.Option(["--open/--no-open", "browse"], default=True, help="Open the browser, or only say the link."),
            json_option(),
        ],
    ),
    click.Command("mcp", callback=mcp, help=mcp.__doc__),
    click.Command("hook", callback=hook, help=hook.__doc__),
    click.Command(
        "demo", callback=demo, help=demo.__doc__,
        params=[click.Option(["--keep"], is_flag=True, help="Leave the home and say where it is."), json_option()],
    ),
    click.Command(
        "completion", callback=completion, help=completion.__doc__,
        params=[click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"]))],
    ),
    click.Command("config", callback=config, help=config.__doc__, params=[json_option()]),
)  # fmt: skip
