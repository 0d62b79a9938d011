"""A tree of memoria, or of the compiler it came from, as it lies on disk: read, never written to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import sha256

from engram.errors import ImportRefused
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KNOWLEDGE = "knowledge"
_LARGEST = 16 * 1024 * 1024  # bytes of one file
_CONTEXT = re.compile(r"(?:session-flush|flush-context)-(?P<session>.+?)(?:-(?P<at>\d{8}[-T_]?\d{6}))?\.md")


@value
class Document:
    """One markdown file of the tree."""

    name: str  # its path there, without .md: daily/2026-04-01, concepts/redis, index
    text: str
    hash: str  # as its own state names it

    @property
    def folder(self) -> str:
        """Return the folder it lies in; nothing for the index and the log."""
        return self.name.partition("/")[0] if "/" in self.name else ""


class Tree:
    """Where the parts of a tree lie."""

    def __init__(self, path: str) -> None:
        self.root = _root(path)
        self.refused: list[str] = []  # files that were left where they are, and why

    def documents(self) -> Iterator[Document]:
        """Yield the daily logs, then the articles, the index and the log."""
        yield from self._of(os.path.join(self.root, "daily"), "daily/")
        yield from self._of(os.path.join(self.root, KNOWLEDGE), "")

    def contexts(self) -> Iterator[str]:
        """Yield the conversations it wrote out and could not flush."""
        for folder in ("scripts", "hooks", ""):
            place = os.path.join(self.root, folder)
            for each in sorted(os.listdir(place)) if os.path.isdir(place) else ():
                path = os.path.join(place, each)
                if context_name(each) and self._read(path, each) is not None:
                    yield path

    def state(self, name: str) -> dict[str, Any]:
        """Return one of its state files; nothing if it is not there or cannot be read."""
        import json

        for folder in ("scripts", ""):
            try:
                with open(os.path.join(self.root, folder, name), "rb") as file:
                    found = json.loads(file.read(_LARGEST))
            except FileNotFoundError:
                continue
            except (OSError, ValueError, RecursionError):
                self.refused.append(f"{name}: it cannot be read")
                return {}
            return found if isinstance(found, dict) else {}
        return {}

    def _of(self, folder: str, prefix: str) -> Iterator[Document]:
        for place, inner, names in os.walk(folder):
            inner[:] = sorted(each for each in inner if not each.startswith("."))
            here = os.path.relpath(place, folder).replace(os.sep, "/")
            for each in sorted(names):
                if each.endswith(".md") and not each.startswith("."):
                    name = prefix + (each[:-3] if here == "." else f"{here}/{each[:-3]}")
                    raw = self._read(os.path.join(place, each), name)
                    if raw is not None:
                        yield Document(name=name, text=decoded(raw), hash=sha256(raw).hexdigest()[:16])

    def _read(self, path: str, name: str) -> bytes | None:
        """Return a file's bytes, unless it leads out of the tree."""
        real = os.path.realpath(path)
        if os.path.commonpath([real, self.root]) != self.root:
            self.refused.append(f"{name}: it leads out of the tree")
            return None
        try:
            with open(real, "rb") as file:
                raw = file.read(_LARGEST + 1)
        except OSError as problem:
            self.refused.append(f"{name}: {problem.strerror or problem}")
            return None
        if len(raw) > _LARGEST:
            self.refused.append(f"{name}: it is too large")
            return None
        return raw


def context_name(path: str) -> re.Match[str] | None:
    """Return session and time in the name of a context file; None for a file that memoria did not name."""
    return _CONTEXT.fullmatch(os.path.basename(path))


def decoded(raw: bytes) -> str:
    """Return a file's text, whatever wrote it; line ends as ours."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = raw.decode("utf-16", "replace")
    else:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("cp1252", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _root(path: str) -> str:
    """Return the root of the tree somebody means: with `daily` or `knowledge`, at, above or below what they name."""
    given = os.path.realpath(os.path.expanduser(path))
    if not os.path.isdir(given):
        raise ImportRefused(path=path, reason="it is no directory.")
    if os.path.basename(given) in ("daily", KNOWLEDGE, "scripts") and _is_tree(os.path.dirname(given)):
        return os.path.dirname(given)
    if _is_tree(given):
        return given
    below = [each.path for each in sorted(os.scandir(given), key=lambda each: each.name) if each.is_dir()]
    found = [os.path.realpath(each) for each in below if _is_tree(each)]
    if len(found) != 1:
        several = "several trees are in it; name one." if found else "there is no `daily` and no `knowledge` in it."
        raise ImportRefused(path=path, reason=several)
    return found[0]


def _is_tree(path: str) -> bool:
    scripts = os.path.join(path, "scripts")
    preserved = os.path.isdir(scripts) and any(map(context_name, os.listdir(scripts)))
    return preserved or any(os.path.isdir(os.path.join(path, each)) for each in ("daily", KNOWLEDGE))
