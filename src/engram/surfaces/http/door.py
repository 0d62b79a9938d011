"""Where a server listens: a private file or a loopback port, one server each, nothing left behind."""

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

from engram.errors import Error, InvalidInput
from engram.value import value

if TYPE_CHECKING:
    from http.client import HTTPConnection

_LOOPBACK = "127.0.0.1"
_LONGEST_PATH = 107 if sys.platform == "linux" else 103  # bytes the kernel keeps of a socket's path
_CREDENTIALS = "serve.json"
_PATIENCE = 2  # seconds in which a live server answers


class AlreadyServing(Error):
    """A server of this home already listens at {address}. Use that one, or stop it first."""

    code, status = "already_serving", 409


@value
class Endpoint:
    """Where a server listens and what its callers need."""

    pid: int
    socket: str | None = None
    url: str | None = None
    credentials: str | None = None  # the file that holds the token

    def __str__(self) -> str:
        if self.socket:
            return f"Serving on {self.socket}. Try: curl --unix-socket {self.socket} http://engram/api"
        return f"Serving on {self.url}. The token is in {self.credentials}; `engram ui` opens its pages."


@value
class Door:
    """A listening socket, what it demands of callers, and how it is described to them."""

    listener: socket.socket
    endpoint: Endpoint
    token: str | None = None
    hosts: frozenset[str] = frozenset()


@contextmanager
def open_door(home: str, path: str | None, port: int | None, host: str | None = None) -> Iterator[Door]:
    """Listen on a socket, the home's own if none is named, or on a port; clear up when the block ends."""
    if port is None and host is None:
        with _socket_door(os.path.abspath(os.path.expanduser(path or os.path.join(home, "engram.sock")))) as it:
            yield it
    elif path is not None:
        raise InvalidInput(field="--port", reason="a server listens on a port or on --socket, not on both.")
    else:
        with _port_door(home, port or 0, _address(host)) as it:
            yield it


@contextmanager
def _socket_door(path: str) -> Iterator[Door]:
    """Listen on a file that only its owner can open."""
    _refuse_long(path)
    with _alone_in(os.path.dirname(path)):
        _clear(path)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        _listen(listener, path, "--socket", path)
        os.chmod(path, 0o600)  # nobody else could enter the directory in between
    mine = _identity(path)
    try:
        yield Door(listener=listener, endpoint=Endpoint(pid=os.getpid(), socket=path))
    finally:
        listener.close()
        if _identity(path) == mine:
            os.unlink(path)


@contextmanager
def _port_door(home: str, port: int, address: str) -> Iterator[Door]:
    """Listen on a port and leave its address and its secret where only the owner reads."""
    path = os.path.join(home, _CREDENTIALS)
    with _alone_in(home):
        _refuse_second(home)
        listener = _bound(address, port)
        port = listener.getsockname()[1]
        url, token = f"http://{address}:{port}", secrets.token_urlsafe(32)
        _write(path, {"url": url, "token": token, "pid": os.getpid()})
    endpoint = Endpoint(pid=os.getpid(), url=url, credentials=path)
    names = (address, "localhost") if address == _LOOPBACK else (address,)
    hosts = frozenset(f"{each}:{port}" for each in names)
    try:
        yield Door(listener=listener, endpoint=endpoint, token=token, hosts=hosts)
    finally:
        listener.close()
        if _read(path).get("token") == token:
            os.unlink(path)


@contextmanager
def _alone_in(directory: str) -> Iterator[None]:
    """Keep other starting servers out of a private directory while we look and settle."""
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
    except OSError as problem:
        raise InvalidInput(field="directory", reason=f"{directory} cannot be made: {problem}.") from problem
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(directory, os.O_RDONLY)
    try:
        _refuse_shared(directory, os.fstat(handle))
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _refuse_shared(directory: str, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise InvalidInput(field="directory", reason=f"{directory} belongs to somebody else.")
    if found.st_mode & 0o077:
        mode = stat.S_IMODE(found.st_mode)
        reason = f"others may enter {directory} (mode {mode:o}). Run chmod 700 on it, or name another with --socket."
        raise InvalidInput(field="directory", reason=reason)


def _refuse_long(path: str) -> None:
    if not hasattr(socket, "AF_UNIX"):
        raise InvalidInput(field="--socket", reason="this system has no Unix sockets; give a --port instead.")
    size = len(os.fsencode(path))
    if size > _LONGEST_PATH:
        reason = (
            f"{path} has {size} bytes and a socket's path at most {_LONGEST_PATH}. Name a shorter one with --socket."
        )
        raise InvalidInput(field="--socket", reason=reason)


def _clear(path: str) -> None:
    """Remove what a dead server left; refuse to touch a live one, or anything that is no socket."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise InvalidInput(field="--socket", reason=f"{path} exists and is not a socket.")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PATIENCE)
        try:
            probe.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            with suppress(FileNotFoundError):  # it may have been ending just now
                os.unlink(path)
            return
        except TimeoutError:
            pass  # too busy to answer is alive
    raise AlreadyServing(address=path)


def _identity(path: str) -> tuple[int, int, int] | None:
    """Tell a file from a later one of the same name, even if it was given the same inode."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_ctime_ns


def running(home: str) -> dict[str, str] | None:
    """Return address and token of the server of this home that listens on a port; None if there is none."""
    known = _read(os.path.join(home, _CREDENTIALS))
    found = {name: str(known.get(name)) for name in ("url", "token", "pid")}
    return found if known and _lives(found["pid"]) and _answers(found["url"], found["token"]) else None


def _lives(pid: str) -> bool:
    """Tell whether a process is there: who took the port of one that was killed is not our server."""
    if sys.platform == "win32" or not pid.isdecimal():
        return pid.isdecimal()
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def connection(url: str, patience: float) -> HTTPConnection:
    """Return a connection to a server of ours, which nobody has asked anything yet."""
    from http.client import HTTPConnection

    address, _, port = url.removeprefix("http://").partition(":")
    return HTTPConnection(address, int(port) if port.isdecimal() else 0, timeout=patience)


def _refuse_second(home: str) -> None:
    known = running(home)
    if known:
        raise AlreadyServing(address=f"{known['url']} (process {known['pid']})")


def _answers(url: str, token: str) -> bool:
    """Tell whether the server that wrote this address and token still lives there."""
    import http.client

    asked = connection(url, _PATIENCE)
    try:
        asked.request("GET", "/api", headers={"Authorization": f"Bearer {token}"})
        return asked.getresponse().status == 200
    except TimeoutError:
        return True  # too busy to answer is alive
    except (OSError, ValueError, http.client.HTTPException):
        return False
    finally:
        asked.close()


def _address(host: str | None) -> str:
    """Return the one address to listen on: callers must name it, so one that stands for all will not do."""
    import ipaddress

    if host is None or host == "localhost":
        return _LOOPBACK
    try:
        found = ipaddress.IPv4Address(host)
    except ValueError:
        raise InvalidInput(field="--host", reason=f"{host!r} is no IPv4 address of this machine.") from None
    if found.is_unspecified:
        raise InvalidInput(field="--host", reason="name one address of this machine; callers have to name it too.")
    return str(found)


def _bound(address: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":  # there it would let others take the port from us
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _listen(listener, (address, port), "--port", f"{address}:{port}")
    return listener


def _listen(listener: socket.socket, address: str | tuple[str, int], option: str, name: str) -> None:
    try:
        listener.bind(address)
        listener.listen()
    except (OSError, OverflowError) as problem:
        listener.close()
        where = "--host" if isinstance(problem, OSError) and problem.errno == errno.EADDRNOTAVAIL else option
        raise InvalidInput(field=where, reason=f"{name} cannot be listened on: {problem}.") from problem


def _write(path: str, facts: dict[str, Any]) -> None:
    handle, draft = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".serve-")  # made with mode 0600
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(facts, file)
    os.replace(draft, path)


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
