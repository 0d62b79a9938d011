"""Change a file safely: old content, new content, and an atomic write."""

from __future__ import annotations

import os
import re
import stat
import tempfile

from engram.errors import ConfigChanged, ConfigRefused
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_TEMPORARY = re.compile(r"\.engram-(\d+)-\w+")
_LONGEST = 600  # characters shown of a line


@value
class FileChange:
    """The old and the new content of a file; None means no file."""

    path: str
    before: bytes | None
    after: bytes | None
    why: str
    flavor: str = ""
    shared: bool = False  # in a project, shared by everyone who works there; otherwise only for this user


def read_file(path: str) -> bytes | None:
    """Return the content of a file, or None if it does not exist; refuse anything that is not a regular file."""
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # reading a pipe would block, a device may never end
            what = "pipe" if stat.S_ISFIFO(mode) else "device"
            raise ConfigRefused(path=path, reason=f"it is a {what}, not a file.")
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        if os.path.islink(path):
            raise ConfigRefused(path=path, reason=f"it is a link to {os.readlink(path)}, which is missing.") from None
        return None
    except OSError as problem:
        raise ConfigRefused(path=path, reason=f"it cannot be read: {problem.strerror}.") from problem


def format_diff(change: FileChange, mask: Callable[[list[str]], list[str]] | None = None) -> str:
    """Return a change as a unified diff with one line of context; `mask` hides secrets."""
    import difflib

    old, new = _split_lines(change.before), _split_lines(change.after)
    head, tail = _count_common_lines(old, new), _count_common_lines(old[::-1], new[::-1])
    tail = min(tail, len(old) - head, len(new) - head)
    start, rest = max(head - 1, 0), max(tail - 1, 0)
    names = (
        "/dev/null" if change.before is None else change.path,
        "/dev/null" if change.after is None else change.path,
    )
    middle = old[start : len(old) - rest], new[start : len(new) - rest]
    parts = [_shift_hunk_header(part, start) for part in difflib.unified_diff(*middle, *names, n=1, lineterm="")]
    return "\n".join(map(_shorten_line, parts if mask is None else _mask_lines(parts, mask)))


def _count_common_lines(lines: list[str], other_lines: list[str]) -> int:
    """Return the number of equal leading lines: files may be large, but our changes are small."""
    count = 0
    for line, other_line in zip(lines, other_lines, strict=False):
        if line != other_line:
            break
        count += 1
    return count


def _shift_hunk_header(part: str, lines: int) -> str:
    if not part.startswith("@@"):
        return part
    return re.sub(r"(?<=[-+])\d+", lambda match: str(int(match.group()) + lines), part)


def _mask_lines(parts: list[str], mask: Callable[[list[str]], list[str]]) -> list[str]:
    """Hide secrets in every line, changed or not: in a one-line file, theirs and ours share it."""
    positions = [position for position, part in enumerate(parts[2:], 2) if part[:1] in " -+"]
    for position, hidden in zip(positions, mask([parts[position][1:] for position in positions]), strict=True):
        parts[position] = parts[position][0] + hidden
    return parts


def _shorten_line(part: str) -> str:
    """Cut the middle of a long line and escape control characters; our additions are at an end."""
    part = part if part.isprintable() else "".join(map(_escape_unprintable, part))
    return part if len(part) <= _LONGEST else f"{part[: _LONGEST // 2]} … {part[-_LONGEST // 2 :]}"


def _escape_unprintable(character: str) -> str:
    return character if character.isprintable() or character == "\t" else character.encode("unicode_escape").decode()


def write_change(change: FileChange) -> None:
    """Replace the file atomically, and only if it has not changed since it was read."""
    target = os.path.realpath(change.path)  # keep a link a link
    _make_directories(change)
    _refuse_read_only(target, change.path)
    if change.after is None:
        _refuse_if_changed(change)
        _remove_file(target, change.path)
        return
    handle, temporary = _make_temporary_file(target, change.path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(change.after)
            file.flush()
            os.fsync(file.fileno())
        _copy_mode_and_owner(target, temporary, 0o644 if change.shared else 0o600)
        _refuse_if_changed(change)  # as late as possible: agents write these files too
        os.replace(temporary, target)
    except BaseException as problem:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(problem, OSError):
            raise ConfigRefused(path=change.path, reason=f"it cannot be written: {problem.strerror}.") from problem
        raise


def _remove_file(target: str, path: str) -> None:
    try:
        os.unlink(target)
    except OSError as problem:
        raise ConfigRefused(path=path, reason=f"it cannot be removed: {problem.strerror}.") from problem


def remove_empty_directories(directories: Iterable[str]) -> None:
    """Remove directories we created, if they are empty."""
    for path in sorted(directories, key=len, reverse=True):
        try:
            remove_stale_temporaries(path)
            os.rmdir(path)
        except OSError:
            pass  # not empty


def _split_lines(content: bytes | None) -> list[str]:
    return (
        [] if not content else content.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n").split("\n")
    )


def list_missing_directories(path: str) -> list[str]:
    """Return the directories that must be created for a file, outermost first."""
    missing: list[str] = []
    path = os.path.dirname(os.path.realpath(path))
    while not os.path.isdir(path):
        missing.insert(0, path)
        path = os.path.dirname(path)
    return missing


def _make_directories(change: FileChange) -> None:
    try:
        for directory in list_missing_directories(change.path):
            os.mkdir(directory)
            os.chmod(directory, 0o755 if change.shared else 0o700)
    except OSError as problem:
        raise ConfigRefused(path=change.path, reason=f"cannot create its directory: {problem.strerror}.") from problem


def _refuse_read_only(target: str, path: str) -> None:
    """Refuse to replace a file that is set to read-only."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise ConfigRefused(path=path, reason="it is not a file.")
    if not mode & 0o222:
        raise ConfigRefused(path=path, reason="it is read-only. Allow writing (chmod u+w) and run this again.")


def _make_temporary_file(target: str, path: str) -> tuple[int, str]:
    directory = os.path.dirname(target)
    try:
        remove_stale_temporaries(directory)
        return tempfile.mkstemp(prefix=f".engram-{os.getpid()}-", dir=directory)
    except OSError as problem:
        raise ConfigRefused(path=path, reason=f"cannot write to its directory: {problem.strerror}.") from problem


def remove_stale_temporaries(directory: str) -> None:
    """Remove temporary files of processes that were killed while writing."""
    names = os.listdir(directory) if os.name == "posix" and os.path.isdir(directory) else []
    for name in names:
        match = _TEMPORARY.fullmatch(name)
        if match and not _is_process_alive(int(match[1])):
            os.unlink(os.path.join(directory, name))


def _is_process_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _copy_mode_and_owner(target: str, temporary: str, mode: int) -> None:
    """Copy the mode and owner of the old file, or set the given mode if there is none."""
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
            pass  # not permitted; the content matters more


def _refuse_if_changed(change: FileChange) -> None:
    if read_file(change.path) != change.before:
        raise ConfigChanged(path=change.path)
