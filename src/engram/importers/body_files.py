"""Find and read the body files of a foreign store: size-limited, links not followed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import IO, cast

LARGEST = 32 << 20  # bytes of an unpacked body
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_SCHEME = re.compile(r"^(?:sha\d+|blake\w+|md5|blob|file)[:/]+", re.IGNORECASE)
_NAMES = ("blobs", "blob", "bodies", "body", "objects", "raw", "events")  # names of body directories
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_PARTS = 3  # path parts that may tell files of the same name apart


class UnreadableBody(Exception):
    """Raised if a body cannot be read, with the reason."""


class BodyFiles:
    """The files of a store by the names rows may use; links are not followed."""

    def __init__(self, root: str, everything: bool) -> None:
        """Scan a directory completely, or only its subdirectories with names of body directories."""
        self.root = root
        self.links: list[str] = []
        self.used: set[str] = set()  # files that were requested
        self._files: list[str] = []
        self._named: dict[str, list[str]] = {}
        for top in [root] if everything else [os.path.join(root, name) for name in _NAMES]:
            self._index_folder(top)

    def _index_folder(self, top: str) -> None:
        if os.path.islink(top):
            self.links.append(self.to_relative_path(top))
            return
        for folder, folders, files in os.walk(top):
            folders.sort()
            self.links += [self.to_relative_path(link) for link in _find_links(folder, folders)]
            for name in sorted(files):
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    self.links.append(self.to_relative_path(path))
                elif os.path.isfile(path) and not _is_database(name):
                    self._index_file(path)

    def _index_file(self, path: str) -> None:
        self._files.append(path)
        parts = self.to_relative_path(path).split("/")[-_PARTS:]
        tails = ["/".join(parts[-count:]) for count in range(1, len(parts) + 1)]
        fanned = ["".join(parts[-2:])] if len(parts) > 1 and len(parts[-2]) <= 3 else []  # ab/cdef is abcdef
        for name in {fold_name(alias) for tail in (*tails, *fanned) for alias in _iter_stems(tail)}:
            self._named.setdefault(name, []).append(path)

    def to_relative_path(self, path: str) -> str:
        """Return a path relative to the store."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def find_file(self, reference: str) -> str | None:
        """Return the only file a reference matches; None if there is none or several."""
        parts = _SCHEME.sub("", reference.replace("\\", "/")).split("/")
        for count in range(min(_PARTS, len(parts)), 0, -1):
            for name in _iter_stems("/".join(parts[-count:])):
                paths = self._named.get(fold_name(name), [])
                if paths:
                    return self._pick_single(paths)
        return None

    def find_named(self, names: Iterable[str]) -> str | None:
        """Return the only file with one of some names."""
        return next((path for name in names if (path := self._pick_single(self._named.get(fold_name(name), [])))), None)

    def _pick_single(self, paths: list[str]) -> str | None:
        self.used.update(paths)
        return paths[0] if len(paths) == 1 else None

    def read(self, path: str) -> bytes:
        """Return the unpacked content of a file; raise UnreadableBody if it cannot be read."""
        from zlib import error

        from engram.platform.zstd import zstd

        try:
            with open(os.open(path, os.O_RDONLY | _NO_LINK), "rb") as file, _open_unpacked(file) as unpacked:
                content = unpacked.read(LARGEST + 1)
        except (OSError, EOFError, error, zstd.ZstdError) as problem:
            raise UnreadableBody(str(problem)) from problem
        if len(content) > LARGEST:
            raise UnreadableBody(f"it is larger than {LARGEST >> 20} MB")
        return content

    def list_unused(self) -> list[str]:
        """Return the files that were not requested."""
        return [self.to_relative_path(path) for path in self._files if path not in self.used]


def fold_name(name: str) -> str:
    """Return a name without case and separators, which systems write differently."""
    return re.sub(r"[^0-9a-z]+", "_", name.casefold()).strip("_")


def _iter_stems(name: str) -> Iterator[str]:
    """Yield a name, then the name without its suffixes, one after another."""
    yield name
    folder, _, last = name.rpartition("/")
    while "." in last[1:]:
        last = last[: last.rindex(".")]
        yield f"{folder}/{last}" if folder else last


def _find_links(folder: str, names: list[str]) -> list[str]:
    return [path for name in names if os.path.islink(path := os.path.join(folder, name))]


def _is_database(name: str) -> bool:
    return name.endswith((".db", ".sqlite", ".sqlite3", "-wal", "-shm", "-journal"))


def _open_unpacked(file: IO[bytes]) -> IO[bytes]:
    """Open a file for reading unpacked, whatever it is called."""
    import gzip

    from engram.platform.zstd import zstd

    head = file.read(4)
    file.seek(0)
    if head.startswith(_GZIP):
        return cast("IO[bytes]", gzip.open(file))
    if head == _ZSTD:
        return cast("IO[bytes]", zstd.open(file, options={int(zstd.DecompressionParameter.window_log_max): 25}))
    return file
