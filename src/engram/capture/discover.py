"""Find transcripts, and tell which of them have something new."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from stat import S_ISREG

from engram.adapters.adapter import HEAD, Adapter, Mark, Place
from engram.adapters.bounded import opened
from engram.adapters.registry import adapters, recognised
from engram.value import value
from engram.zstd import zstd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row

_PROBE = 1024  # bytes at either end of what was read that tell whether it is still the same file


@value
class Source:
    """One transcript as it lies there now."""

    path: str
    name: str  # its path as it was before it was compressed
    flavor: str  # of the place it lies in; its content decides
    size: int
    changed_at: int
    inode: int

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
        for entry in _walk(place.root, place.endings, place.depth):
            plain = entry.removesuffix(".zst")
            if entry not in seen and (entry == plain or not os.path.exists(plain)):
                seen.add(entry)
                found = source(entry, name)
                if found is not None:
                    yield found


def source(path: str, flavor: str = "") -> Source | None:
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
    return Source(path=path, name=name, flavor=flavor, size=size, changed_at=changed, inode=inode)


def _walk(root: str, endings: tuple[str, ...], depth: int) -> Iterator[str]:
    """Yield files below a directory in the order of their names; links to directories are not followed."""
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError:
        if root.endswith(endings) and os.path.isfile(root):
            yield root
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if depth:
                yield from _walk(entry.path, endings, depth - 1)
        elif entry.name.endswith(endings):
            yield entry.path


def below(directory: str) -> list[str]:
    """Return every file below a directory that may be a transcript by its name."""
    endings = tuple({ending for _, place in places(()) for ending in place.endings})
    return list(_walk(directory, endings, 12))


def adapter_of(found: Source) -> Adapter | None:
    """Return the adapter a file is for, by what it holds."""
    try:
        with opened(found.path) as file:
            head = file.read(HEAD)
    except (EOFError, ValueError, zstd.ZstdError):
        return None
    return recognised(found.path, head, found.flavor) if head.strip(b"\0\r\n ") else None


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
