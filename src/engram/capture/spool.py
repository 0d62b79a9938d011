"""The spool: capture requests from hooks, as files, so that none is lost while the store is busy or unavailable.

A hook writes one small file per session and starts a detached worker. One worker at a time takes the files,
each by renaming it, so that a hook can add a new request meanwhile. Imported by hooks: keep imports minimal.
"""

from __future__ import annotations

import os
import sys

from engram.platform import plain_json
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER = "spool"
_TAKEN = ".taken"


@value
class CaptureRequest:
    """A request to capture a session whose transcript changed."""

    flavor: str
    native_id: str
    path: str  # its transcript; empty if the agent does not name it
    event: str  # the hook event: stop, compact, end
    file: str = ""  # path of the request file once it is taken


def add_request(home: str, request: CaptureRequest) -> None:
    """Add a request; it replaces an older one for the same session."""
    folder = os.path.join(home, _FOLDER)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"  # valid in any file system
    name = "".join(c if c in plain else "_" for c in f"{request.flavor}-{request.native_id}")[:150]
    facts = {"flavor": request.flavor, "native_id": request.native_id, "path": request.path, "event": request.event}
    draft = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        _write_file(draft, plain_json.dumps(facts).encode())
        os.replace(draft, os.path.join(folder, f"{name}.json"))
    except OSError:
        _remove_file(draft)
        raise


def list_waiting(home: str) -> set[str]:
    """Return the names of the waiting requests."""
    return {name for name in _list_names(home) if name.endswith((".json", _TAKEN))}


def get_oldest_time(home: str) -> float | None:
    """Return the modification time of the oldest request in seconds, or None."""
    times = []
    for name in list_waiting(home):
        try:
            times.append(os.stat(os.path.join(home, _FOLDER, name)).st_mtime)
        except OSError:  # taken meanwhile
            continue
    return min(times, default=None)


def take_requests(home: str) -> Iterator[CaptureRequest]:
    """Take every request, starting with those an earlier worker took but did not finish."""
    folder = os.path.join(home, _FOLDER)
    for name in sorted(_list_names(home), key=lambda file_name: not file_name.endswith(_TAKEN)):
        path = os.path.join(folder, name)
        if name.endswith(".json"):
            taken = f"{path}{_TAKEN}"
            try:
                os.replace(path, taken)
            except OSError:
                continue
            path = taken
        elif not name.endswith(_TAKEN):
            continue
        request = _read_request(path)
        if request is not None:
            yield request


def finish_request(request: CaptureRequest) -> None:
    """Delete a finished request."""
    _remove_file(request.file)


def start_worker(home: str) -> None:
    """Start a detached process that takes the requests and outlives the agent."""
    # -E and -P: nothing in the agent's environment or project may replace the modules we import.
    command = [sys.executable, "-EPm", "engram", "ingest", "--spool"]
    environ = {**os.environ, "ENGRAM_HOME": home}
    if os.name == "nt":
        import subprocess

        flags = 0x00000008 | 0x00000200 | 0x01000000  # detached, own process group, outside the agent's job
        subprocess.Popen(command, env=environ, creationflags=flags, close_fds=True)
        return
    if os.fork():
        return
    try:  # in the child: no code of the hook may run here
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        os.closerange(3, 256)  # the agent may wait for a pipe it passed to us to close
        os.chdir("/")
        os.execve(command[0], command, environ)  # noqa: S606  no shell is wanted
    finally:
        os._exit(127)


def _list_names(home: str) -> list[str]:
    try:
        return os.listdir(os.path.join(home, _FOLDER))
    except OSError:
        return []


def _read_request(path: str) -> CaptureRequest | None:
    """Return a request read from a file; delete the file if it is invalid."""
    try:
        with open(path, "rb") as file:
            facts = plain_json.loads(file.read())
        return CaptureRequest(
            file=path, **{name: str(facts[name]) for name in ("flavor", "native_id", "path", "event")}
        )
    except (OSError, ValueError, KeyError, TypeError):
        _remove_file(path)
        return None


def _write_file(path: str, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        if os.write(handle, content) < len(content):
            raise OSError(28, "No space left on device", path)
    finally:
        os.close(handle)


def _remove_file(path: str) -> None:
    try:
        os.remove(path)
    except OSError:
        pass
