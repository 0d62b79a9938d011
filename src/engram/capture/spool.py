"""The spool: what hooks ask to be captured, as files, so that nothing is lost while the store is busy or gone.

A hook writes one small file per session and starts a worker that outlives it. One worker at a time takes the files,
each by renaming it, so that a hook may ask again meanwhile. Written by hooks: imports next to nothing.
"""

from __future__ import annotations

import os
import sys

from engram import plain_json
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER = "spool"
_TAKEN = ".taken"


@value
class Request:
    """A session whose transcript has something new."""

    flavor: str
    native_id: str
    path: str  # its transcript; empty if the agent did not say
    event: str  # what happened: stop, compact, end
    file: str = ""  # where the request lies once it is taken


def ask(home: str, request: Request) -> None:
    """Leave a request; a newer one of the same session takes its place."""
    folder = os.path.join(home, _FOLDER)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"  # a name any file system takes
    name = "".join(c if c in plain else "_" for c in f"{request.flavor}-{request.native_id}")[:150]
    facts = {"flavor": request.flavor, "native_id": request.native_id, "path": request.path, "event": request.event}
    draft = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        _write(draft, plain_json.dumps(facts).encode())
        os.replace(draft, os.path.join(folder, f"{name}.json"))
    except OSError:
        _remove(draft)
        raise


def waiting(home: str) -> set[str]:
    """Return the names of the requests there are."""
    return {name for name in _names(home) if name.endswith((".json", _TAKEN))}


def oldest(home: str) -> float | None:
    """Return since when the request that waits longest lies there, in seconds of the wall clock; None if none does."""
    times = []
    for name in waiting(home):
        try:
            times.append(os.stat(os.path.join(home, _FOLDER, name)).st_mtime)
        except OSError:  # taken meanwhile
            continue
    return min(times, default=None)


def take(home: str) -> Iterator[Request]:
    """Take every request, those first that a worker before us took and did not finish."""
    folder = os.path.join(home, _FOLDER)
    for name in sorted(_names(home), key=lambda each: not each.endswith(_TAKEN)):
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
        found = _read(path)
        if found is not None:
            yield found


def done(request: Request) -> None:
    """Forget a request that was taken."""
    _remove(request.file)


def start_worker(home: str) -> None:
    """Start a process that takes the requests, free of the agent that waits for us and of its end."""
    # -E and -P: the agent's environment is its project's, and nothing of that may stand in for what we import.
    command = [sys.executable, "-EPm", "engram", "ingest", "--spool"]
    environ = {**os.environ, "ENGRAM_HOME": home}
    if os.name == "nt":
        import subprocess

        flags = 0x00000008 | 0x00000200 | 0x01000000  # detached, a group of its own, outside the agent's job
        subprocess.Popen(command, env=environ, creationflags=flags, close_fds=True)
        return
    if os.fork():
        return
    try:  # in the child: nothing of the hook may run here
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        os.closerange(3, 256)  # an agent may wait for the end of a pipe it lent us
        os.chdir("/")
        os.execve(command[0], command, environ)  # noqa: S606  no shell is wanted
    finally:
        os._exit(127)


def _names(home: str) -> list[str]:
    try:
        return os.listdir(os.path.join(home, _FOLDER))
    except OSError:
        return []


def _read(path: str) -> Request | None:
    """Return what a request says; one that says nothing is dropped."""
    try:
        with open(path, "rb") as file:
            facts = plain_json.loads(file.read())
        return Request(file=path, **{name: str(facts[name]) for name in ("flavor", "native_id", "path", "event")})
    except (OSError, ValueError, KeyError, TypeError):
        _remove(path)
        return None


def _write(path: str, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        if os.write(handle, content) < len(content):
            raise OSError(28, "No space left on device", path)
    finally:
        os.close(handle)


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except OSError:
        pass
