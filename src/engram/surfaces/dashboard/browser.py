"""Open the dashboard: request a link from the running server, or start one."""

from __future__ import annotations

import http.client
import json
import os
import re
import sys
import threading
from collections.abc import Callable

from engram.platform.value import value
from engram.settings import Settings
from engram.surfaces.errors import AlreadyServing, NoLink
from engram.surfaces.http import listener, server

PORT = 7463  # fixed, so that bookmarks work; another port is used if it is taken
_PATH = re.compile(r"/enter\?ticket=[\w-]{20,80}")
_TIMEOUT = 30  # seconds to wait for the server's first answer


@value
class DashboardLink:
    """The dashboard's URL and the link that signs a browser in."""

    link: str
    url: str
    serving: bool  # this process serves it, until it is stopped

    def __str__(self) -> str:
        note = "Press Ctrl-C to stop the server." if self.serving else "A server was already running."
        return f"Dashboard: {self.link}\nThe link works once, within ten minutes. {note}"


def open_dashboard(
    settings: Settings, port: int | None, host: str | None, browse: bool, tell: Callable[[DashboardLink], object]
) -> None:
    """Open the dashboard and report its link; start a server if none is running."""
    server_facts = listener.find_running_server(settings.home)
    if server_facts is not None:
        _open_link(server_facts, browse, tell, serving=False)
        return

    def announce(_: listener.ServerEndpoint) -> None:
        threading.Thread(target=_open_own_link, args=(settings.home, browse, tell), daemon=True).start()

    chosen_port = PORT if port is None and _is_port_free(host) else port or 0
    try:
        server.serve(settings, port=chosen_port, host=host, announce=announce)
    except AlreadyServing:  # another process started one first
        server_facts = listener.find_running_server(settings.home)
        if server_facts is None:
            raise
        _open_link(server_facts, browse, tell, serving=False)


def _open_own_link(home: str, browse: bool, tell: Callable[[DashboardLink], object]) -> None:
    """Request a link from our own server once it answers."""
    server_facts = listener.find_running_server(home)
    if server_facts is not None:
        _open_link(server_facts, browse, tell, serving=True)


def _open_link(
    server_facts: dict[str, str], browse: bool, tell: Callable[[DashboardLink], object], *, serving: bool
) -> None:
    link = server_facts["url"] + _request_ticket_path(server_facts)
    tell(DashboardLink(link=link, url=server_facts["url"], serving=serving))
    if browse and _has_screen():
        import webbrowser

        webbrowser.open(link)


def _request_ticket_path(server_facts: dict[str, str]) -> str:
    connection = listener.open_connection(server_facts["url"], _TIMEOUT)
    try:
        connection.request("POST", "/enter", headers={"Authorization": f"Bearer {server_facts['token']}"})
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise NoLink(
                url=server_facts["url"],
                reason=f"status {answer.status}. It may be an older version: stop it and try again.",
            )
        path = str(json.loads(body)["path"])
        if not _PATH.fullmatch(path):  # another program may use the port of a killed server
            raise NoLink(url=server_facts["url"], reason="another program answers there.")
        return path
    except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
        raise NoLink(url=server_facts["url"], reason=f"{error}.") from error
    finally:
        connection.close()


def _has_screen() -> bool:
    """Return whether there is a graphical display; a text browser would take over the terminal."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _is_port_free(host: str | None) -> bool:
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        return probe.connect_ex((host or "127.0.0.1", PORT)) != 0
