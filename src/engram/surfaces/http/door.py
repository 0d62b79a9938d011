"""Where a server listens: a private file or a loopback port, one server each, nothing left behind."""

from __future__ import annotations

import json
import os
import secrets
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from engram.errors import Error, InvalidInput
from engram.value import value

_LOOPBACK = "127.0.0.1"
_LONGEST_PATH = 107 if sys.platform == "linux" else 103  # bytes the kernel keeps of a socket's path
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
        return f"Serving on {self.url}. The token is in {self.credentials}."


@value
class Door:
    """A listening socket, what it demands of callers, and how it is described to them."""

    listener: socket.socket
    endpoint: Endpoint
    token: str | None = None
    hosts: frozenset[str] = frozenset()


@contextmanager
def open_door(home: str, path: str | None, port: int | None) -> Iterator[Door]:
    """Listen on a socket, the home's own if none is named, or on a port; clear up when the block ends."""
    if port is None:
        with _socket_door(os.path.abspath(os.path.expanduser(path or os.path.join(home, "engram.sock")))) as it:
            yield it
    elif path is not None:
        raise InvalidInput(field="--port", reason="a server listens on a port or on --socket, not on both.")
    else:
        with _port_door(home, port) as it:
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
def _port_door(home: str, port: int) -> Iterator[Door]:
    """Listen on a loopback port and leave its address and its secret where only the owner reads."""
    path = os.path.join(home, "serve.json")
    with _alone_in(home):
        _refuse_second(path)
        listener = _bound(port)
        port = listener.getsockname()[1]
        url, token = f"http://{_LOOPBACK}:{port}", secrets.token_urlsafe(32)
        _write(path, {"url": url, "token": token, "pid": os.getpid()})
    endpoint = Endpoint(pid=os.getpid(), url=url, credentials=path)
    hosts = frozenset({f"{_LOOPBACK}:{port}", f"localhost:{port}"})
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


def _refuse_second(path: str) -> None:
    known = _read(path)
    if known and _answers(str(known.get("url")), str(known.get("token"))):
        raise AlreadyServing(address=f"{known['url']} (process {known.get('pid')})")


def _answers(url: str, token: str) -> bool:
    """Tell whether the server that wrote this address and token still lives there."""
    import http.client

    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=_PATIENCE)
    try:
        connection.request("GET", "/api", headers={"Authorization": f"Bearer {token}"})
        return connection.getresponse().status == 200
    except TimeoutError:
        return True  # too busy to answer is alive
    except (OSError, ValueError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _bound(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":  # there it would let others take the port from us
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _listen(listener, (_LOOPBACK, port), "--port", f"{_LOOPBACK}:{port}")
    return listener


def _listen(listener: socket.socket, address: str | tuple[str, int], option: str, name: str) -> None:
    try:
        listener.bind(address)
        listener.listen()
    except (OSError, OverflowError) as problem:
        listener.close()
        raise InvalidInput(field=option, reason=f"{name} cannot be listened on: {problem}.") from problem


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
