"""Find transcripts, and tell which of them have something new."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import PurePath
from stat import S_ISREG

from engram.adapters.adapter import HEAD, Adapter, Mark, Place
from engram.adapters.bounded import opened
from engram.adapters.registry import adapters, recognised
from engram.errors import Error
from engram.model import Event
from engram.value import value
from engram.zstd import zstd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row

_LOOKED_AT = 5000  # items of a file whose content does not tell whose it is
_PROBE = 1024  # bytes at either end of what was read that tell whether it is still the same file


class Unreadable(Exception):
    """A file that nothing here can read; its text says why."""

    def __init__(self, reason: str, *, is_lasting: bool = True) -> None:
        super().__init__(reason)
        self.is_lasting = is_lasting  # until an adapter learns more


@value
class Unread:
    """A file that could not be read."""

    path: str
    size: int  # bytes
    reason: str


@value
class Source:
    """One transcript as it lies there now."""

    path: str
    name: str  # its path as it was before it was compressed
    flavor: str  # of the place it lies in; counts only if its content does not tell
    size: int
    changed_at: int
    inode: int
    expected: bool = True  # to be a transcript: it is named, or lies where an agent keeps its transcripts

    @property
    def shown(self) -> str:
        """Return its path as any terminal and store can show it."""
        return os.fsencode(self.path).decode("utf-8", "backslashreplace")

    def unchanged(self, cursor: Row) -> bool:
        """Tell whether nothing happened to it since it was read."""
        seen = (cursor["size"], cursor["changed_at"], cursor["inode"])
        return seen == (self.size, self.changed_at, self.inode) and cursor["vanished_at"] is None


def machine(dialect: str) -> str:
    """Return whose files a cursor is about; a SQLite store serves one machine."""
    return "" if dialect == "sqlite" else socket.gethostname()


def places(projects: Iterable[str], flavor: str | None = None) -> Iterator[tuple[str, Place]]:
    """Yield where each flavor keeps its transcripts."""
    for each in adapters().values():
        if flavor in (None, each.flavor):
            for place in each.places(os.environ, projects):
                yield each.flavor, place


def sources(projects: Iterable[str], flavor: str | None = None) -> Iterator[Source]:
    """Yield every file that may be a transcript, each once."""
    seen: set[str] = set()
    for name, place in places(projects, flavor):
        for entry in _walk(place.root, place.endings, place.depth, place.left_out):
            plain = entry.removesuffix(".zst")
            if entry not in seen and (entry == plain or not os.path.exists(plain)):
                seen.add(entry)
                found = source(entry, name)
                if found is not None:
                    yield found


def source(path: str, flavor: str = "", *, expected: bool = True) -> Source | None:
    """Return a file as it lies there now; a database counts with its write-ahead log."""
    try:
        stat = os.stat(path)
    except (OSError, ValueError):
        return None
    if not S_ISREG(stat.st_mode):
        return None  # reading a pipe would wait for ever
    size, changed = stat.st_size, stat.st_mtime_ns // 1000
    if path.endswith((".db", ".vscdb", ".sqlite")):
        try:
            log = os.stat(f"{path}-wal")
            size, changed = size + log.st_size, max(changed, log.st_mtime_ns // 1000)
        except OSError:
            pass
    inode = stat.st_ino if stat.st_ino < 1 << 63 else stat.st_ino >> 1
    name = path.removesuffix(".zst")
    if not name.isascii():
        name = os.fsencode(name).decode("utf-8", "backslashreplace")  # what any store can hold
    return Source(
        path=path, name=name, flavor=flavor, size=size, changed_at=changed, inode=inode, expected=expected
    )  # fmt: skip


def _walk(root: str, endings: tuple[str, ...], depth: int, left_out: tuple[str, ...]) -> Iterator[str]:
    """Yield files below a directory in the order of their names; links to directories are not followed."""
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError:
        if root.endswith(endings) and os.path.isfile(root):
            yield root
        return
    for entry in entries:
        if _is_left_out(entry.name, left_out):
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth:
                yield from _walk(entry.path, endings, depth - 1, left_out)
        elif entry.name.endswith(endings):
            yield entry.path


def _is_left_out(name: str, left_out: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in left_out)


def below(directory: str, flavor: str | None = None) -> list[str]:
    """Return every file below a directory that may be a transcript, of a flavor or of any, by its name."""
    found = [place for _, place in places((), flavor)]
    endings = tuple({ending for place in found for ending in place.endings})
    left_out = tuple({pattern for place in found for pattern in place.left_out})
    return list(_walk(directory, endings, 12, left_out))


def flavor_at(path: str, found: Iterable[tuple[str, Place]]) -> str:
    """Return which agent keeps its transcripts where a file lies, also behind links; nothing if none does."""
    real = os.path.realpath(path)
    fitting = ((flavor, place) for flavor, place in found if path.endswith(place.endings))
    return next((flavor for flavor, place in fitting if _is_inside(path, real, place)), "")


def _is_inside(path: str, real: str, place: Place) -> bool:
    for inner, root in ((path, place.root), (real, _real(place.root))):
        if PurePath(inner).is_relative_to(root):
            inside = PurePath(inner).relative_to(root).parts
            return len(inside) <= place.depth + 1 and not any(_is_left_out(part, place.left_out) for part in inside)
    return False


_real = lru_cache(maxsize=256)(os.path.realpath)


def adapter_of(found: Source) -> Adapter | None:
    """Return the adapter a file is for, by what it holds or else by where it lies; None if it holds nothing yet."""
    head = _head(found.path)
    if not head.strip(b"\0\r\n "):
        return None
    return recognised(found.path, head, found.flavor) or _adapter_at(found)


def _head(path: str) -> bytes:
    try:
        with opened(path) as file:
            return file.read(HEAD)
    except (EOFError, ValueError, zstd.ZstdError) as problem:
        raise Unreadable(f"it cannot be unpacked: {problem}") from problem


def _adapter_at(found: Source) -> Adapter:
    """Return the adapter of the agent that keeps its transcripts where a file lies, if it finds anything in it."""
    adapter = adapters().get(found.flavor)
    if adapter is None:
        raise Unreadable("no agent that Engram knows writes this format")
    if not _says_something(adapter, found.path):
        raise Unreadable(f"found in the transcript folder of {adapter.flavor}, but its format is not recognized")
    return adapter


def _says_something(adapter: Adapter, path: str) -> bool:
    """Tell whether an adapter finds in a file more than records it does not know and damage."""
    is_strange = False
    try:
        for item in islice(adapter.read(path, Mark()), _LOOKED_AT):
            if isinstance(item, Event):
                is_strange = True
                if item.kind not in ("opaque", "damage") and (item.text or item.name or item.arguments):
                    return True
    except Error as problem:  # a database that is locked or closed to us
        raise Unreadable(str(problem), is_lasting=False) from problem
    return not is_strange


def resumed(found: Source, cursor: Row | None) -> Mark:
    """Return where to go on reading: after what was read, unless the file is another one now."""
    import orjson

    if cursor is None or not cursor["place"]:
        state = orjson.loads(cursor["state"]) if cursor and cursor["state"] else None
        return Mark(offset=0, state=state)
    if probe(found.path, cursor["place"]) != (cursor["head"], cursor["tail"]):
        return Mark()
    return Mark(offset=cursor["place"], state=orjson.loads(cursor["state"]) if cursor["state"] else None)


def probe(path: str, place: int) -> tuple[str, str]:
    """Return hashes of the first bytes of a file and of those before a place in it."""
    if not place:
        return "", ""
    length = min(_PROBE, place)
    try:
        with opened(path) as file:
            head = file.read(length)
            file.seek(place - length)
            tail = file.read(length)
    except (OSError, EOFError, ValueError):
        return "?", "?"
    return blake2b(head, digest_size=8).hexdigest(), blake2b(tail, digest_size=8).hexdigest()
