"""The files of a foreign store that hold bodies: found by whatever names them, read bounded, links not followed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import IO, cast

LARGEST = 32 << 20  # bytes of one body, unpacked
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_SCHEME = re.compile(r"^(?:sha\d+|blake\w+|md5|blob|file)[:/]+", re.IGNORECASE)
_NAMES = ("blobs", "blob", "bodies", "body", "objects", "raw", "events")  # of directories of bodies
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_PARTS = 3  # of a path that may tell files of one name apart


class Unreadable(Exception):
    """A body cannot be had, and why."""


class BodyFiles:
    """The files of a store by the names that rows may give them; links are not followed."""

    def __init__(self, root: str, whole: bool) -> None:
        """Look through a directory: the whole of it, or only the directories in it that are called like bodies."""
        self.root = root
        self.links: list[str] = []
        self.used: set[str] = set()  # what was asked for
        self._files: list[str] = []
        self._named: dict[str, list[str]] = {}
        for top in [root] if whole else [os.path.join(root, name) for name in _NAMES]:
            self._walk(top)

    def _walk(self, top: str) -> None:
        if os.path.islink(top):
            self.links.append(self.shown(top))
            return
        for folder, folders, files in os.walk(top):
            folders.sort()
            self.links += [self.shown(each) for each in _links(folder, folders)]
            for name in sorted(files):
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    self.links.append(self.shown(path))
                elif os.path.isfile(path) and not _is_database(name):
                    self._add(path)

    def _add(self, path: str) -> None:
        self._files.append(path)
        parts = self.shown(path).split("/")[-_PARTS:]
        tails = ["/".join(parts[-count:]) for count in range(1, len(parts) + 1)]
        fanned = ["".join(parts[-2:])] if len(parts) > 1 and len(parts[-2]) <= 3 else []  # ab/cdef is abcdef
        for name in {fold(each) for tail in (*tails, *fanned) for each in _without_endings(tail)}:
            self._named.setdefault(name, []).append(path)

    def shown(self, path: str) -> str:
        """Return a path as seen from the store."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def find(self, reference: str) -> str | None:
        """Return the one file that a reference names; None if there is none, or if there are several."""
        parts = _SCHEME.sub("", reference.replace("\\", "/")).split("/")
        for count in range(min(_PARTS, len(parts)), 0, -1):
            for name in _without_endings("/".join(parts[-count:])):
                found = self._named.get(fold(name), [])
                if found:
                    return self._only(found)
        return None

    def find_one(self, names: Iterable[str]) -> str | None:
        """Return the one file that is called by one of some names."""
        return next((path for name in names if (path := self._only(self._named.get(fold(name), [])))), None)

    def _only(self, found: list[str]) -> str | None:
        self.used.update(found)
        return found[0] if len(found) == 1 else None

    def read(self, path: str) -> bytes:
        """Return what a file holds, unpacked; raise Unreadable if it cannot be had."""
        from zlib import error

        from engram.zstd import zstd

        try:
            with open(os.open(path, os.O_RDONLY | _NO_LINK), "rb") as file, _unpacked(file) as unpacked:
                content = unpacked.read(LARGEST + 1)
        except (OSError, EOFError, error, zstd.ZstdError) as problem:
            raise Unreadable(str(problem)) from problem
        if len(content) > LARGEST:
            raise Unreadable(f"it holds more than {LARGEST >> 20} MB")
        return content

    def unused(self) -> list[str]:
        """Return the files nobody asked for."""
        return [self.shown(path) for path in self._files if path not in self.used]


def fold(name: str) -> str:
    """Return a name without what systems write differently: letters' size and the marks between words."""
    return re.sub(r"[^0-9a-z]+", "_", name.casefold()).strip("_")


def _without_endings(name: str) -> Iterator[str]:
    """Yield a name, then without its endings, one after another."""
    yield name
    folder, _, last = name.rpartition("/")
    while "." in last[1:]:
        last = last[: last.rindex(".")]
        yield f"{folder}/{last}" if folder else last


def _links(folder: str, names: list[str]) -> list[str]:
    return [path for name in names if os.path.islink(path := os.path.join(folder, name))]


def _is_database(name: str) -> bool:
    return name.endswith((".db", ".sqlite", ".sqlite3", "-wal", "-shm", "-journal"))


def _unpacked(file: IO[bytes]) -> IO[bytes]:
    """Return a file as it was before it was packed, whatever it is called."""
    import gzip

    from engram.zstd import zstd

    head = file.read(4)
    file.seek(0)
    if head.startswith(_GZIP):
        return cast("IO[bytes]", gzip.open(file))
    if head == _ZSTD:
        return cast("IO[bytes]", zstd.open(file, options={int(zstd.DecompressionParameter.window_log_max): 25}))
    return file
