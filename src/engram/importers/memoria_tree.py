"""A directory tree of memoria, or of the compiler it came from: read, never written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import sha256

from engram.errors import ImportRefused
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KNOWLEDGE = "knowledge"
_LARGEST = 16 * 1024 * 1024  # bytes of one file
_CONTEXT = re.compile(r"(?:session-flush|flush-context)-(?P<session>.+?)(?:-(?P<at>\d{8}[-T_]?\d{6}))?\.md")


@value
class MemoriaDocument:
    """One markdown file of the tree."""

    name: str  # its path there, without .md: daily/2026-04-01, concepts/redis, index
    text: str
    hash: str  # its name in memoria's own state

    @property
    def folder(self) -> str:
        """Its folder; empty for the index and the log."""
        return self.name.partition("/")[0] if "/" in self.name else ""


class MemoriaTree:
    """The parts of a tree on disk."""

    def __init__(self, path: str) -> None:
        self.root = _find_root(path)
        self.refused: list[str] = []  # skipped files, and why

    def iter_documents(self) -> Iterator[MemoriaDocument]:
        """Yield the daily logs, then the articles, the index and the log."""
        yield from self._iter_folder(os.path.join(self.root, "daily"), "daily/")
        yield from self._iter_folder(os.path.join(self.root, KNOWLEDGE), "")

    def iter_contexts(self) -> Iterator[str]:
        """Yield the conversations it wrote out and could not flush."""
        for folder in ("scripts", "hooks", ""):
            directory = os.path.join(self.root, folder)
            for filename in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
                path = os.path.join(directory, filename)
                if match_context_name(filename) and self._read_file(path, filename) is not None:
                    yield path

    def read_state(self, name: str) -> dict[str, Any]:
        """Return one of its state files; empty if it is missing or unreadable."""
        import json

        for folder in ("scripts", ""):
            try:
                with open(os.path.join(self.root, folder, name), "rb") as file:
                    parsed = json.loads(file.read(_LARGEST))
            except FileNotFoundError:
                continue
            except (OSError, ValueError, RecursionError):
                self.refused.append(f"{name}: cannot be read")
                return {}
            return parsed if isinstance(parsed, dict) else {}
        return {}

    def _iter_folder(self, folder: str, prefix: str) -> Iterator[MemoriaDocument]:
        for directory, inner, names in os.walk(folder):
            inner[:] = sorted(filename for filename in inner if not filename.startswith("."))
            relative = os.path.relpath(directory, folder).replace(os.sep, "/")
            for filename in sorted(names):
                if filename.endswith(".md") and not filename.startswith("."):
                    name = prefix + (filename[:-3] if relative == "." else f"{relative}/{filename[:-3]}")
                    raw = self._read_file(os.path.join(directory, filename), name)
                    if raw is not None:
                        yield MemoriaDocument(name=name, text=decode_text(raw), hash=sha256(raw).hexdigest()[:16])

    def _read_file(self, path: str, name: str) -> bytes | None:
        """Return a file's bytes, unless it links out of the tree."""
        real = os.path.realpath(path)
        if os.path.commonpath([real, self.root]) != self.root:
            self.refused.append(f"{name}: links out of the tree")
            return None
        try:
            with open(real, "rb") as file:
                raw = file.read(_LARGEST + 1)
        except OSError as problem:
            self.refused.append(f"{name}: {problem.strerror or problem}")
            return None
        if len(raw) > _LARGEST:
            self.refused.append(f"{name}: too large")
            return None
        return raw


def match_context_name(path: str) -> re.Match[str] | None:
    """Return session and time from the name of a context file; None for a file that memoria did not name."""
    return _CONTEXT.fullmatch(os.path.basename(path))


def decode_text(raw: bytes) -> str:
    """Decode a file's text in any encoding, with our line endings."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = raw.decode("utf-16", "replace")
    else:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("cp1252", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _find_root(path: str) -> str:
    """Return the root of a tree: the directory with `daily` or `knowledge`, at, above or below the given path."""
    start = os.path.realpath(os.path.expanduser(path))
    if not os.path.isdir(start):
        raise ImportRefused(path=path, reason="no such directory.")
    if os.path.basename(start) in ("daily", KNOWLEDGE, "scripts") and _is_tree(os.path.dirname(start)):
        return os.path.dirname(start)
    if _is_tree(start):
        return start
    subfolders = [
        candidate.path for candidate in sorted(os.scandir(start), key=lambda entry: entry.name) if candidate.is_dir()
    ]
    roots = [os.path.realpath(candidate) for candidate in subfolders if _is_tree(candidate)]
    if len(roots) != 1:
        several = "it contains several trees. Choose one." if roots else "it contains neither `daily` nor `knowledge`."
        raise ImportRefused(path=path, reason=several)
    return roots[0]


def _is_tree(path: str) -> bool:
    scripts = os.path.join(path, "scripts")
    preserved = os.path.isdir(scripts) and any(map(match_context_name, os.listdir(scripts)))
    return preserved or any(os.path.isdir(os.path.join(path, name)) for name in ("daily", KNOWLEDGE))
