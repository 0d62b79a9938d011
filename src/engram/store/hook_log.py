"""The hook log: a line for every event an agent told us of, kept in a file because the store may be what failed."""

from __future__ import annotations

import os
import time

from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = "hook.log"
_LARGEST = 1_000_000  # bytes; then it starts anew and the older half is kept beside it
_TAIL = 400_000  # bytes that are read back


@value
class Firing:
    """One event as it was met."""

    at: str  # local time, ISO
    flavor: str
    event: str
    milliseconds: float
    problem: str  # empty if all went well


def note(home: str, flavor: str, event: str, seconds: float, problem: str = "") -> None:
    """Write down that an event was met, and why not if it was not; if even that fails, stay silent."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    told = " ".join(problem.split())[:1000] or "ok"
    who = "-".join(flavor.split())[:100] or "-"
    line = f"{stamp} {who} {event or '-'} {seconds * 1000:.1f} ms {told}\n"
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        path = os.path.join(home, _NAME)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line.encode("utf-8", "replace"))
            full = os.fstat(handle).st_size > _LARGEST
        finally:
            os.close(handle)
        if full:
            os.replace(path, f"{path}.1")
    except OSError:
        pass


def recent(home: str) -> Iterator[Firing]:
    """Yield what was written down lately, oldest first."""
    for name in (f"{_NAME}.1", _NAME):
        for line in _tail(os.path.join(home, name)):
            found = _read(line)
            if found is not None:
                yield found


def _tail(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - _TAIL, 0))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    return lines[1:] if size > _TAIL else lines


def _read(line: str) -> Firing | None:
    words = line.split(" ", 5)
    if len(words) < 6 or words[4] != "ms":
        return None
    try:
        milliseconds = float(words[3])
    except ValueError:
        return None
    if not 0 <= milliseconds < 1e9:
        return None
    problem = "" if words[5] == "ok" else words[5]
    return Firing(at=words[0], flavor=words[1], event=words[2], milliseconds=milliseconds, problem=problem)
