"""Open the server's listener: a private Unix socket or a port, with one server for each."""

from __future__ import annotations

import errno
import json
import os
import secrets
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from engram.errors import InvalidInput
from engram.platform.value import value
from engram.surfaces.errors import AlreadyServing

if TYPE_CHECKING:
    from http.client import HTTPConnection

_LOOPBACK = "127.0.0.1"
_MAX_PATH_BYTES = 107 if sys.platform == "linux" else 103  # the kernel's limit for a socket path
_CREDENTIALS = "serve.json"
_TIMEOUT = 2  # seconds to wait for a running server's answer


@value
class ServerEndpoint:
    """The address of a server, for its clients."""

    pid: int
    socket: str | None = None
    url: str | None = None
    credentials: str | None = None  # path of the file with the token

    def __str__(self) -> str:
        if self.socket:
            return f"Serving on {self.socket}. Try: curl --unix-socket {self.socket} http://engram/api"
        return f"Serving on {self.url}. The token is in {self.credentials}; `engram ui` opens the dashboard."


@value
class ServerSocket:
    """A listening socket with its address, its token and the accepted Host headers."""

    listener: socket.socket
    endpoint: ServerEndpoint
    token: str | None = None
    hosts: frozenset[str] = frozenset()


@contextmanager
def open_listener(home: str, path: str | None, port: int | None, host: str | None = None) -> Iterator[ServerSocket]:
    """Listen on a Unix socket (by default the one in the Engram home) or on a port; clean up on exit."""
    if port is None and host is None:
        with _open_socket(
            os.path.abspath(os.path.expanduser(path or os.path.join(home, "engram.sock")))
        ) as server_socket:
            yield server_socket
    elif path is not None:
        raise InvalidInput(field="--port", reason="cannot be combined with --socket. Pass one of them.")
    else:
        with _open_port(home, port or 0, _parse_host(host)) as server_socket:
            yield server_socket


@contextmanager
def _open_socket(path: str) -> Iterator[ServerSocket]:
    """Listen on a Unix socket that only its owner can open."""
    _require_short_path(path)
    with _lock_directory(os.path.dirname(path)):
        _remove_stale_socket(path)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        _start_listening(listener, path, "--socket", path)
        os.chmod(path, 0o600)  # the directory is private, so nothing could connect before this
    own_identity = _file_identity(path)
    try:
        yield ServerSocket(listener=listener, endpoint=ServerEndpoint(pid=os.getpid(), socket=path))
    finally:
        listener.close()
        if _file_identity(path) == own_identity:
            os.unlink(path)


@contextmanager
def _open_port(home: str, port: int, address: str) -> Iterator[ServerSocket]:
    """Listen on a port and write its address and token to a file that only the owner can read."""
    path = os.path.join(home, _CREDENTIALS)
    with _lock_directory(home):
        _require_single(home)
        listener = _bind_port(address, port)
        port = listener.getsockname()[1]
        url, token = f"http://{address}:{port}", secrets.token_urlsafe(32)
        _write_credentials(path, {"url": url, "token": token, "pid": os.getpid()})
    endpoint = ServerEndpoint(pid=os.getpid(), url=url, credentials=path)
    names = (address, "localhost") if address == _LOOPBACK else (address,)
    hosts = frozenset(f"{name}:{port}" for name in names)
    try:
        yield ServerSocket(listener=listener, endpoint=endpoint, token=token, hosts=hosts)
    finally:
        listener.close()
        if _read_credentials(path).get("token") == token:
            os.unlink(path)


@contextmanager
def _lock_directory(directory: str) -> Iterator[None]:
    """Lock a private directory, so that two servers cannot start in it at the same time."""
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
    except OSError as error:
        raise InvalidInput(field="directory", reason=f"cannot create {directory}: {error}.") from error
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(directory, os.O_RDONLY)
    try:
        _require_private(directory, os.fstat(handle))
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _require_private(directory: str, directory_stat: os.stat_result) -> None:
    if directory_stat.st_uid != os.geteuid():
        raise InvalidInput(field="directory", reason=f"{directory} belongs to another user.")
    if directory_stat.st_mode & 0o077:
        mode = stat.S_IMODE(directory_stat.st_mode)
        reason = (
            f"other users can access {directory} (mode {mode:o}). Run chmod 700 on it, or use another with --socket."
        )
        raise InvalidInput(field="directory", reason=reason)


def _require_short_path(path: str) -> None:
    if not hasattr(socket, "AF_UNIX"):
        raise InvalidInput(field="--socket", reason="this system has no Unix sockets. Pass --port instead.")
    size = len(os.fsencode(path))
    if size > _MAX_PATH_BYTES:
        reason = f"{path} has {size} bytes; a socket path may have {_MAX_PATH_BYTES}. Pass a shorter one with --socket."
        raise InvalidInput(field="--socket", reason=reason)


def _remove_stale_socket(path: str) -> None:
    """Remove the socket of a dead server; raise if a server is running or the file is not a socket."""
    try:
        socket_stat = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(socket_stat.st_mode):
        raise InvalidInput(field="--socket", reason=f"{path} exists and is not a socket.")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_TIMEOUT)
        try:
            probe.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            with suppress(FileNotFoundError):  # its server may have removed it just now
                os.unlink(path)
            return
        except TimeoutError:
            pass  # busy, but running
    raise AlreadyServing(address=path)


def _file_identity(path: str) -> tuple[int, int, int] | None:
    """Return what distinguishes a file from a later one with the same name and inode."""
    try:
        file_stat = os.lstat(path)
    except OSError:
        return None
    return file_stat.st_dev, file_stat.st_ino, file_stat.st_ctime_ns


def find_running_server(home: str) -> dict[str, str] | None:
    """Return URL, token and pid of the running server on a port, or None."""
    credentials = _read_credentials(os.path.join(home, _CREDENTIALS))
    server_facts = {name: str(credentials.get(name)) for name in ("url", "token", "pid")}
    return (
        server_facts
        if credentials
        and _is_process_alive(server_facts["pid"])
        and _is_answering(server_facts["url"], server_facts["token"])
        else None
    )


def _is_process_alive(pid: str) -> bool:
    """Return whether a process runs; another program may now use the port of a killed server."""
    if sys.platform == "win32" or not pid.isdecimal():
        return pid.isdecimal()
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def open_connection(url: str, timeout: float) -> HTTPConnection:
    """Return an unused connection to an Engram server."""
    from http.client import HTTPConnection

    address, _, port = url.removeprefix("http://").partition(":")
    return HTTPConnection(address, int(port) if port.isdecimal() else 0, timeout=timeout)


def _require_single(home: str) -> None:
    server_facts = find_running_server(home)
    if server_facts:
        raise AlreadyServing(address=f"{server_facts['url']} (process {server_facts['pid']})")


def _is_answering(url: str, token: str) -> bool:
    """Return whether a server at this URL accepts the token."""
    import http.client

    http_connection = open_connection(url, _TIMEOUT)
    try:
        http_connection.request("GET", "/api", headers={"Authorization": f"Bearer {token}"})
        return http_connection.getresponse().status == 200
    except TimeoutError:
        return True  # busy, but running
    except (OSError, ValueError, http.client.HTTPException):
        return False
    finally:
        http_connection.close()


def _parse_host(host: str | None) -> str:
    """Return the address to listen on; 0.0.0.0 is refused, because clients must send it as the Host."""
    import ipaddress

    if host is None or host == "localhost":
        return _LOOPBACK
    try:
        ip_address = ipaddress.IPv4Address(host)
    except ValueError:
        raise InvalidInput(field="--host", reason=f"{host!r} is not an IPv4 address.") from None
    if ip_address.is_unspecified:
        raise InvalidInput(field="--host", reason="pass one address of this machine; clients must use the same one.")
    return str(ip_address)


def _bind_port(address: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":  # on Windows it lets other programs take the port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _start_listening(listener, (address, port), "--port", f"{address}:{port}")
    return listener


def _start_listening(listener: socket.socket, address: str | tuple[str, int], option: str, name: str) -> None:
    try:
        listener.bind(address)
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        field = "--host" if isinstance(error, OSError) and error.errno == errno.EADDRNOTAVAIL else option
        raise InvalidInput(field=field, reason=f"cannot listen on {name}: {error}.") from error


def _write_credentials(path: str, facts: dict[str, Any]) -> None:
    handle, draft = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".serve-")  # created with mode 0600
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(facts, file)
    os.replace(draft, path)


def _read_credentials(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
