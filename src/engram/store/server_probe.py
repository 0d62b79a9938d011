"""Check quickly and rarely whether a PostgreSQL server is reachable: a hook must not wait for one that is not.

A "no" is cached for half a minute in a file, written before the check, so that a hook killed while waiting
leaves it behind. While a check may still be running, other hooks check for themselves.
"""

from __future__ import annotations

import os
import time

from engram.settings import is_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.settings import Settings

_MARKER = "store.away"
_AWAY_SECONDS = 30  # seconds for which a server counts as unreachable
_CONNECT_SECONDS = 0.5  # seconds to wait for a connection
_ASKING_SECONDS = 1.0  # seconds for which an unfinished check says nothing


def is_reachable(settings: Settings) -> bool:
    """Return whether the store is reachable; a file always is."""
    if not is_url(settings.store):
        return True
    address = _parse_address(settings.store)
    if address is None:
        return True  # a socket file, or several hosts: only the driver can tell
    marker = os.path.join(settings.home, _MARKER)
    if _was_just_away(marker):
        return False
    os.makedirs(settings.home, mode=0o700, exist_ok=True)
    os.close(os.open(marker, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    answered = _can_connect(*address)
    try:
        os.remove(marker) if answered else os.utime(marker, (time.time() - _ASKING_SECONDS,) * 2)
    except FileNotFoundError:
        pass  # another hook got an answer meanwhile
    return answered


def _was_just_away(marker: str) -> bool:
    try:
        return _ASKING_SECONDS <= time.time() - os.stat(marker).st_mtime < _AWAY_SECONDS
    except OSError:
        return False


def _can_connect(host: str, port: int) -> bool:
    import _socket  # the C module behind `socket`: loads in a third of the time

    try:
        for family, kind, protocol, _, address in _socket.getaddrinfo(host, port, 0, _socket.SOCK_STREAM):
            connection = _socket.socket(family, kind, protocol)
            connection.settimeout(_CONNECT_SECONDS)
            try:
                connection.connect(address)
                return True
            except OSError:
                continue
            finally:
                connection.close()
    except OSError:
        pass
    return False


def _parse_address(store: str) -> tuple[str, int] | None:
    """Return the host and port of an address, if it has exactly one of each."""
    server = store.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]
    if not server or "," in server or "%" in server or "host" in store.partition("?")[2]:
        return None
    host, _, port = server.rpartition(":") if not server.endswith("]") else (server, "", "")
    if not host:
        host, port = server, ""
    return host.strip("[]"), int(port) if port.isdigit() else 5432
