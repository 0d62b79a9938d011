"""The vault: a directory of markdown files that people open with any editor, and how we write into it.

Every path is checked against it before it is touched; every write is whole or not at all, and loses nothing that
somebody wrote meanwhile.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from engram.capture.turn import locked
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.vault.links import slug

FOLDERS = ("daily", "concepts", "connections", "qa")
_DRAFT = re.compile(r"\..+\.(\d{1,10})-[0-9a-f]{6}", re.DOTALL)  # what `replace` writes first
_OWN = ".engram"  # what only we read: state, locks, reports


class Vault:
    """A wiki on disk."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)

    @property
    def own(self) -> str:
        """Return the directory of our own files in the vault."""
        return os.path.join(self.root, _OWN)

    def path(self, target: str) -> str:
        """Return the file a link or a model means, inside the vault, or refuse."""
        name = target.strip().removesuffix(".md")
        parts = name.split("/")
        odd = any(not part or part.startswith(".") or part != part.strip() or "\\" in part for part in parts)
        if odd or os.path.isabs(name) or any(ord(c) < 32 for c in name) or len(name) > 200 or not is_name(name):
            raise InvalidInput(field="path", reason=f"{target!r} is no page of the wiki.")
        full = os.path.realpath(os.path.join(self.root, f"{name}.md"))
        if os.path.commonpath([full, self.root]) != self.root:
            raise InvalidInput(field="path", reason=f"{target!r} lies outside the wiki.")
        return full

    def named(self, folder: str, title: str) -> str:
        """Return the link target of a page by its title."""
        found = slug(title)
        if folder not in FOLDERS or not found:
            raise InvalidInput(field="title", reason=f"{title!r} gives no name for a page in {folder}.")
        return f"{folder}/{found}"

    def read(self, target: str) -> str | None:
        """Return what a page says; None if there is none."""
        try:
            return read(self.path(target))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def is_text(self, target: str) -> bool:
        """Tell whether a page is UTF-8 as it stands: what is not, cannot be written again as it was."""
        try:
            with open(self.path(target), encoding="utf-8", opener=_at_once) as file:
                return all(True for _ in file)
        except UnicodeDecodeError:
            return False

    def write(self, target: str, content: str, seen: str | None) -> bool:
        """Write a page whole, if it still says what was seen; tell whether it was written."""
        path = self.path(target)
        if self.read(target) != seen:
            return False
        replace(path, content)
        return True

    def remove(self, target: str) -> None:
        """Take a page away."""
        try:
            os.remove(self.path(target))
        except FileNotFoundError:
            pass

    def pages(self, *folders: str) -> Iterator[str]:
        """Yield the link targets of all pages, or of those in some folders, in order."""
        for folder in folders or FOLDERS:
            for place, inner, names in os.walk(os.path.join(self.root, folder)):
                inner[:] = sorted(each for each in inner if not each.startswith(".") and is_name(each))
                here = os.path.relpath(place, self.root).replace(os.sep, "/")
                yield from (f"{here}/{name[:-3]}" for name in sorted(names) if name.endswith(".md") and is_name(name))

    @contextmanager
    def alone(self, name: str = "vault") -> Iterator[None]:
        """Keep every other writer of ours out, in this process and in others, for a moment."""
        with locked(os.path.join(self.own, f"{name}.lock")):
            yield


def is_name(name: str) -> bool:
    """Tell whether a file's name is text; on Linux it may be any bytes, which nothing of ours could keep."""
    return name.isascii() or not any("\ud800" <= each <= "\udfff" for each in name)


def read(path: str) -> str:
    """Return what a file says; whatever is no file, such as a pipe, is not there."""
    with open(path, encoding="utf-8", errors="replace", newline="", opener=_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise FileNotFoundError(path)
        return file.read()


def _at_once(path: str, flags: int) -> int:
    """Open a file without waiting for somebody to write into it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def clear_drafts(vault: Vault) -> None:
    """Remove what writers that died left half written, anywhere in the vault."""
    for place, _, names in os.walk(vault.root):
        for name in names:
            found = _DRAFT.fullmatch(name)
            if found and int(found[1]) != os.getpid() and not _lives(int(found[1])):
                with suppress(OSError):
                    os.remove(os.path.join(place, name))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # somebody else's
    return True


def of(hub: Hub) -> Vault:
    """Return the wiki of a home, or the directory its user chose."""
    chosen = hub.settings.wiki
    return Vault(os.path.expanduser(chosen) if chosen else os.path.join(hub.settings.home, "wiki"))


def replace(path: str, content: str) -> None:
    """Write a file whole and durably, or leave it as it was."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    draft = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}-{os.urandom(3).hex()}")
    try:
        with open(draft, "w", encoding="utf-8", newline="") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(path):
            os.chmod(draft, os.stat(path).st_mode & 0o777)
        os.replace(draft, path)
    except BaseException:
        if os.path.exists(draft):
            os.remove(draft)
        raise
