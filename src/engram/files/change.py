"""One file that is to be changed: what it held, what it shall hold, and the careful write."""

from __future__ import annotations

import os
import re
import stat
import tempfile

from engram.errors import ConfigChanged, ConfigRefused
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_TEMPORARY = re.compile(r"\.engram-(\d+)-\w+")
_LONGEST = 600  # characters of a line that is shown


@value
class Change:
    """What a file held when it was read, and what it shall hold; None where there is no file."""

    path: str
    before: bytes | None
    after: bytes | None
    why: str
    flavor: str = ""
    shared: bool = False  # in a project, for all who work there; else the user's alone


def read(path: str) -> bytes | None:
    """Return what a file holds, None if there is none; anything else in its place is refused."""
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # a pipe would wait for a writer, a device never end
            what = "pipe" if stat.S_ISFIFO(mode) else "device"
            raise ConfigRefused(path=path, reason=f"it is a {what}, not a file.")
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        if os.path.islink(path):
            raise ConfigRefused(path=path, reason=f"it is a link to {os.readlink(path)}, which is not there.") from None
        return None
    except OSError as problem:
        raise ConfigRefused(path=path, reason=f"it cannot be read: {problem.strerror}.") from problem


def diff(change: Change, mask: Callable[[list[str]], list[str]] | None = None) -> str:
    """Return a change as a unified diff with one line around it; `mask` hides what must not be shown of others."""
    import difflib

    old, new = _lines(change.before), _lines(change.after)
    head, tail = _alike(old, new), _alike(old[::-1], new[::-1])
    tail = min(tail, len(old) - head, len(new) - head)
    start, rest = max(head - 1, 0), max(tail - 1, 0)
    names = (
        "/dev/null" if change.before is None else change.path,
        "/dev/null" if change.after is None else change.path,
    )
    middle = old[start : len(old) - rest], new[start : len(new) - rest]
    parts = [_moved(part, start) for part in difflib.unified_diff(*middle, *names, n=1, lineterm="")]
    return "\n".join(map(_shortened, parts if mask is None else _masked(parts, mask)))


def _alike(one: list[str], other: list[str]) -> int:
    """Return how many lines two texts begin with in common: files may be large, what we change is small."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _moved(part: str, lines: int) -> str:
    if not part.startswith("@@"):
        return part
    return re.sub(r"(?<=[-+])\d+", lambda found: str(int(found.group()) + lines), part)


def _masked(parts: list[str], mask: Callable[[list[str]], list[str]]) -> list[str]:
    """Hide secrets in every line: in a file of one line what is theirs and what is ours share it."""
    shown = [n for n, part in enumerate(parts[2:], 2) if part[:1] in " -+"]
    for n, hidden in zip(shown, mask([parts[n][1:] for n in shown]), strict=True):
        parts[n] = parts[n][0] + hidden
    return parts


def _shortened(part: str) -> str:
    """Leave out the middle of a line nobody reads, and what a terminal would obey; what we add stands at an end."""
    part = part if part.isprintable() else "".join(map(_legible, part))
    return part if len(part) <= _LONGEST else f"{part[: _LONGEST // 2]} … {part[-_LONGEST // 2 :]}"


def _legible(character: str) -> str:
    return character if character.isprintable() or character == "\t" else character.encode("unicode_escape").decode()


def write(change: Change) -> None:
    """Replace the file whole or not at all, and only if it still is as it was read."""
    target = os.path.realpath(change.path)  # a link stays a link
    _make_directories(change)
    _refuse_read_only(target, change.path)
    if change.after is None:
        _unchanged(change)
        _remove(target, change.path)
        return
    handle, temporary = _temporary(target, change.path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(change.after)
            file.flush()
            os.fsync(file.fileno())
        _take_over(target, temporary, 0o644 if change.shared else 0o600)
        _unchanged(change)  # as late as possible: agents write these files too
        os.replace(temporary, target)
    except BaseException as problem:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(problem, OSError):
            raise ConfigRefused(path=change.path, reason=f"it cannot be written: {problem.strerror}.") from problem
        raise


def _remove(target: str, path: str) -> None:
    try:
        os.unlink(target)
    except OSError as problem:
        raise ConfigRefused(path=path, reason=f"it cannot be removed: {problem.strerror}.") from problem


def drop_directories(made: Iterable[str]) -> None:
    """Remove directories we made, as far as nobody put anything into them."""
    for path in sorted(made, key=len, reverse=True):
        try:
            clear(path)
            os.rmdir(path)
        except OSError:
            pass  # somebody lives there


def _lines(held: bytes | None) -> list[str]:
    return [] if not held else held.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n").split("\n")


def missing_directories(path: str) -> list[str]:
    """Return the directories that must be made for a file, outermost first."""
    missing: list[str] = []
    path = os.path.dirname(os.path.realpath(path))
    while not os.path.isdir(path):
        missing.insert(0, path)
        path = os.path.dirname(path)
    return missing


def _make_directories(change: Change) -> None:
    try:
        for each in missing_directories(change.path):
            os.mkdir(each)
            os.chmod(each, 0o755 if change.shared else 0o700)
    except OSError as problem:
        raise ConfigRefused(path=change.path, reason=f"its directory cannot be made: {problem.strerror}.") from problem


def _refuse_read_only(target: str, path: str) -> None:
    """Respect a file somebody set to read-only: replacing it would pass over that."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise ConfigRefused(path=path, reason="it is not a file.")
    if not mode & 0o222:
        raise ConfigRefused(path=path, reason="it is read-only. Allow writing (chmod u+w) and run it again.")


def _temporary(target: str, path: str) -> tuple[int, str]:
    directory = os.path.dirname(target)
    try:
        clear(directory)
        return tempfile.mkstemp(prefix=f".engram-{os.getpid()}-", dir=directory)
    except OSError as problem:
        raise ConfigRefused(path=path, reason=f"its directory cannot be written to: {problem.strerror}.") from problem


def clear(directory: str) -> None:
    """Remove what a write left in a directory whose process was killed in the middle of it."""
    there = os.listdir(directory) if os.name == "posix" and os.path.isdir(directory) else []
    for name in there:
        found = _TEMPORARY.fullmatch(name)
        if found and not _lives(int(found[1])):
            os.unlink(os.path.join(directory, name))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _take_over(target: str, temporary: str, mode: int) -> None:
    """Give the new file the mode and owner of the old one; the given mode if there is none."""
    try:
        old = os.stat(target)
    except FileNotFoundError:
        os.chmod(temporary, mode)
        return
    os.chmod(temporary, stat.S_IMODE(old.st_mode))
    new = os.stat(temporary)
    if os.name == "posix" and (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        try:
            os.chown(temporary, old.st_uid, old.st_gid)
        except OSError:
            pass  # not ours to give away; the content is what counts


def _unchanged(change: Change) -> None:
    if read(change.path) != change.before:
        raise ConfigChanged(path=change.path)
