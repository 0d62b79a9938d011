"""Commands that stay and serve: the dashboard, HTTP, MCP; and the hook that agents call."""

from __future__ import annotations

import click

from engram.settings import load_settings
from engram.surfaces.cli.options import json_option
from engram.surfaces.cli.output import show_result


def open_dashboard(port: int | None, host: str | None, browse: bool, as_json: bool) -> None:
    """Open the dashboard in your browser. Serves it until Ctrl-C, unless a server is already running.

    The link works once, within ten minutes; the browser that opens it stays signed in.
    """
    from engram.surfaces.cli.patterns import require_person
    from engram.surfaces.dashboard import browser

    require_person()
    browser.open_dashboard(load_settings(), port, host, browse, lambda link: show_result(link, as_json))


def serve_http(socket: str | None, port: int | None, host: str | None, as_json: bool) -> None:
    """Serve every operation over HTTP.

    On a Unix socket, or with --port on a loopback port with a token and the dashboard.
    """
    from engram.surfaces.http import server

    server.serve(
        load_settings(),
        socket_path=socket,
        port=port,
        host=host,
        announce=lambda endpoint: show_result(endpoint, as_json),
    )


def serve_mcp() -> None:
    """Serve MCP on standard input and output. Agents start this themselves."""
    from engram.surfaces.mcp import stdio

    stdio.main()


def answer_hook_event() -> None:
    """Answer an agent's hook event from standard input. Agents connected by `engram init` call this."""
    from engram.surfaces import hooks

    hooks.main([])


_HOST_OPTION = click.Option(
    ["--host"], help="Listen on this address of the machine instead of loopback. Traffic is not encrypted."
)

COMMANDS = {
    "ui": click.Command(
        "ui", callback=open_dashboard, help=open_dashboard.__doc__,
        params=[
            click.Option(["--port"], type=click.IntRange(0, 65535), help="Port to serve on; 0 picks a free one."),
            _HOST_OPTION,
            click.Option(
                ["--open/--no-open", "browse"], default=True, help="Open the browser, or only print the link."
            ),
            json_option(),
        ],
    ),
    "serve": click.Command(
        "serve", callback=serve_http, help=serve_http.__doc__,
        params=[
            click.Option(["--socket"], help="Unix socket to listen on. Default: engram.sock in the Engram home."),
            click.Option(["--port"], type=click.IntRange(0, 65535), help="Loopback port instead; 0 picks a free one."),
            _HOST_OPTION,
            json_option(),
        ],
    ),
    "mcp": click.Command("mcp", callback=serve_mcp, help=serve_mcp.__doc__),
    "hook": click.Command("hook", callback=answer_hook_event, help=answer_hook_event.__doc__),
}  # fmt: skip
