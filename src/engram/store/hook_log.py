"""The hook log: a line per hook event, in a file because the store may be what failed."""

from __future__ import annotations

import os
import time

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = "hook.log"
_LARGEST = 1_000_000  # bytes; then the file is rotated
_TAIL = 400_000  # bytes to read back


@value
class HookLogEntry:
    """One logged event."""

    at: str  # local time, ISO
    flavor: str
    event: str
    milliseconds: float
    problem: str  # empty on success


_noted: list[str] = []  # of the event that this process handles


def note_problem(problem: str) -> None:
    """Keep a problem that did not stop the event, for its entry."""
    _noted.append(problem)


def write_entry(home: str, flavor: str, event: str, seconds: float, problem: str = "") -> None:
    """Log an event and, if it failed, why; never raise."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    outcome = " ".join((problem or "; ".join(_noted)).split())[:1000] or "ok"
    _noted.clear()
    agent = "-".join(flavor.split())[:100] or "-"
    line = f"{stamp} {agent} {event or '-'} {seconds * 1000:.1f} ms {outcome}\n"
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        path = os.path.join(home, _NAME)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line.encode("utf-8", "replace"))
            is_full = os.fstat(handle).st_size > _LARGEST
        finally:
            os.close(handle)
        if is_full:
            os.replace(path, f"{path}.1")
    except OSError:
        pass


def read_recent(home: str) -> Iterator[HookLogEntry]:
    """Yield recent entries, oldest first."""
    for name in (f"{_NAME}.1", _NAME):
        for line in _read_tail(os.path.join(home, name)):
            entry = _parse_line(line)
            if entry is not None:
                yield entry


def _read_tail(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - _TAIL, 0))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    return lines[1:] if size > _TAIL else lines


def _parse_line(line: str) -> HookLogEntry | None:
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
    return HookLogEntry(at=words[0], flavor=words[1], event=words[2], milliseconds=milliseconds, problem=problem)
