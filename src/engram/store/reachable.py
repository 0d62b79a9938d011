"""Whether a PostgreSQL server is there, asked quickly and seldom: a hook must not wait for one that is not.

The answer "no" is kept for half a minute in a file, written before the question is asked, so that a hook killed while
it waits leaves it behind. While that question may still be answered, others ask for themselves.
"""

from __future__ import annotations

import os
import time

from engram.settings import is_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.settings import Settings

_MARKER = "store.away"
_AWAY = 30  # seconds a server counts as away
_PATIENCE = 0.5  # seconds to wait for a connection
_ASKING = 1.0  # seconds for which a question without an answer says nothing


def now(settings: Settings) -> bool:
    """Tell whether the store can be asked; a file always can."""
    if not is_url(settings.store):
        return True
    address = _address(settings.store)
    if address is None:
        return True  # a socket file, or several hosts: only the driver knows
    marker = os.path.join(settings.home, _MARKER)
    if _just_away(marker):
        return False
    os.makedirs(settings.home, mode=0o700, exist_ok=True)
    os.close(os.open(marker, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    there = _answers(*address)
    try:
        os.remove(marker) if there else os.utime(marker, (time.time() - _ASKING,) * 2)
    except FileNotFoundError:
        pass  # another hook was answered meanwhile
    return there


def _just_away(marker: str) -> bool:
    try:
        return _ASKING <= time.time() - os.stat(marker).st_mtime < _AWAY
    except OSError:
        return False


def _answers(host: str, port: int) -> bool:
    import _socket  # the module `socket` is built on: a third of its time to load

    try:
        for family, kind, protocol, _, place in _socket.getaddrinfo(host, port, 0, _socket.SOCK_STREAM):
            line = _socket.socket(family, kind, protocol)
            line.settimeout(_PATIENCE)
            try:
                line.connect(place)
                return True
            except OSError:
                continue
            finally:
                line.close()
    except OSError:
        pass
    return False


def _address(store: str) -> tuple[str, int] | None:
    """Return the host and port an address names, if it names one of each."""
    server = store.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]
    if not server or "," in server or "%" in server or "host" in store.partition("?")[2]:
        return None
    host, _, port = server.rpartition(":") if not server.endswith("]") else (server, "", "")
    if not host:
        host, port = server, ""
    return host.strip("[]"), int(port) if port.isdigit() else 5432
