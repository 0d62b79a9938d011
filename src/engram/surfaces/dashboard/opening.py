"""Opening the dashboard: ask the server of this home for a link, starting one if there is none."""

from __future__ import annotations

import http.client
import json
import os
import re
import sys
import threading
from collections.abc import Callable

from engram.errors import Error
from engram.settings import Settings
from engram.surfaces.http import door, server
from engram.value import value

PORT = 7463  # the same each time, so that bookmarks hold; another where somebody has it
_PATH = re.compile(r"/enter\?ticket=[\w-]{20,80}")
_PATIENCE = 30  # seconds a server may take to its first answer


class NoLink(Error):
    """The server at {url} gives no link: {reason}"""

    code = "no_link"


@value
class Opened:
    """The dashboard, and the link that lets a browser in."""

    link: str
    url: str
    serving: bool  # we serve it ourselves, until we are stopped

    def __str__(self) -> str:
        how = "Ctrl-C ends it." if self.serving else "A server was already running."
        return f"The dashboard: {self.link}\nThe link works once, within ten minutes. {how}"


def opened(
    settings: Settings, port: int | None, host: str | None, browse: bool, tell: Callable[[Opened], object]
) -> None:
    """Open the dashboard of a home and tell where it is; serve it if nobody does."""
    known = door.running(settings.home)
    if known is not None:
        _open(known, browse, tell, serving=False)
        return

    def announce(_: door.Endpoint) -> None:
        threading.Thread(target=_open_own, args=(settings.home, browse, tell), daemon=True).start()

    chosen = PORT if port is None and _is_free(host) else port or 0
    try:
        server.serve(settings, port=chosen, host=host, announce=announce)
    except door.AlreadyServing:  # another was faster
        known = door.running(settings.home)
        if known is None:
            raise
        _open(known, browse, tell, serving=False)


def _open_own(home: str, browse: bool, tell: Callable[[Opened], object]) -> None:
    """Ask ourselves for a link, as soon as we answer."""
    known = door.running(home)
    if known is not None:
        _open(known, browse, tell, serving=True)


def _open(known: dict[str, str], browse: bool, tell: Callable[[Opened], object], *, serving: bool) -> None:
    link = known["url"] + _path(known)
    tell(Opened(link=link, url=known["url"], serving=serving))
    if browse and _has_screen():
        import webbrowser

        webbrowser.open(link)


def _path(known: dict[str, str]) -> str:
    connection = door.connection(known["url"], _PATIENCE)
    try:
        connection.request("POST", "/enter", headers={"Authorization": f"Bearer {known['token']}"})
        answer = connection.getresponse()
        said = answer.read()
        if answer.status != 200:
            raise NoLink(
                url=known["url"], reason=f"it answers {answer.status}. It may be older: stop it and try again."
            )
        path = str(json.loads(said)["path"])
        if not _PATH.fullmatch(path):  # somebody else may have taken the port of a server that was killed
            raise NoLink(url=known["url"], reason="it is not Engram that answers there.")
        return path
    except (OSError, ValueError, KeyError, http.client.HTTPException) as problem:
        raise NoLink(url=known["url"], reason=f"{problem}.") from problem
    finally:
        connection.close()


def _has_screen() -> bool:
    """Tell whether a browser would come up in a window; in a terminal it would take the terminal."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _is_free(host: str | None) -> bool:
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        return probe.connect_ex((host or "127.0.0.1", PORT)) != 0
