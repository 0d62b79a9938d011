"""The vault: a directory of markdown files that people open with any editor.

Every path is checked to be inside it; every write is atomic and never overwrites a concurrent edit.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from engram.capture.sweep_lock import hold_file_lock
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.platform.text import build_slug

FOLDERS = ("daily", "concepts", "connections", "qa")
_DRAFT = re.compile(r"\..+\.(\d{1,10})-[0-9a-f]{6}", re.DOTALL)  # prefix of temporary files
_OWN_FOLDER = ".engram"  # files only we read: state, locks, reports


class Vault:
    """A wiki on disk."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)

    @property
    def own_dir(self) -> str:
        """The directory of our own files in the vault."""
        return os.path.join(self.root, _OWN_FOLDER)

    def resolve_path(self, target: str) -> str:
        """Return the file of a link target; raise an error if it is outside the vault."""
        name = target.strip().removesuffix(".md")
        parts = name.split("/")
        is_odd = any(not part or part.startswith(".") or part != part.strip() or "\\" in part for part in parts)
        if is_odd or os.path.isabs(name) or any(ord(c) < 32 for c in name) or len(name) > 200 or not is_text_name(name):
            raise InvalidInput(field="path", reason=f"{target!r} is not a wiki page.")
        full_path = os.path.realpath(os.path.join(self.root, f"{name}.md"))
        if os.path.commonpath([full_path, self.root]) != self.root:
            raise InvalidInput(field="path", reason=f"{target!r} is outside the wiki.")
        return full_path

    def make_target(self, folder: str, title: str) -> str:
        """Return the link target of a page with this title."""
        name = build_slug(title)
        if folder not in FOLDERS or not name:
            raise InvalidInput(field="title", reason=f"{title!r} cannot be used as a page name in {folder}.")
        return f"{folder}/{name}"

    def read(self, target: str) -> str | None:
        """Return the text of a page; None if there is none."""
        try:
            return read_text_file(self.resolve_path(target))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def is_text(self, target: str) -> bool:
        """Check whether a page is valid UTF-8; otherwise it could not be written back unchanged."""
        try:
            with open(self.resolve_path(target), encoding="utf-8", opener=_open_nonblocking) as file:
                return all(True for _ in file)
        except UnicodeDecodeError:
            return False

    def write(self, target: str, content: str, expected: str | None) -> bool:
        """Write a page if it is still as seen; return whether it was written."""
        path = self.resolve_path(target)
        if self.read(target) != expected:
            return False
        replace_file(path, content)
        return True

    def remove(self, target: str) -> None:
        """Delete a page."""
        try:
            os.remove(self.resolve_path(target))
        except FileNotFoundError:
            pass

    def iter_pages(self, *folders: str) -> Iterator[str]:
        """Yield the link targets of all pages, or of those in some folders, sorted."""
        for folder in folders or FOLDERS:
            for directory, subfolders, names in os.walk(os.path.join(self.root, folder)):
                subfolders[:] = sorted(
                    folder_name
                    for folder_name in subfolders
                    if not folder_name.startswith(".") and is_text_name(folder_name)
                )
                relative_folder = os.path.relpath(directory, self.root).replace(os.sep, "/")
                yield from (
                    f"{relative_folder}/{name[:-3]}"
                    for name in sorted(names)
                    if name.endswith(".md") and is_text_name(name)
                )

    @contextmanager
    def hold_lock(self, name: str = "vault") -> Iterator[None]:
        """Lock the vault against other writers, in this process and in others."""
        with hold_file_lock(os.path.join(self.own_dir, f"{name}.lock")):
            yield


def is_text_name(name: str) -> bool:
    """Check whether a file name is text; on Linux it may be any bytes, which we cannot store."""
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)


def read_text_file(path: str) -> str:
    """Return the text of a file; anything but a regular file counts as missing."""
    with open(path, encoding="utf-8", errors="replace", newline="", opener=_open_nonblocking) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise FileNotFoundError(path)
        return file.read()


def _open_nonblocking(path: str, flags: int) -> int:
    """Open a file without blocking on a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def clear_drafts(vault: Vault) -> None:
    """Remove temporary files of writers that died, anywhere in the vault."""
    for directory, _, names in os.walk(vault.root):
        for name in names:
            match = _DRAFT.fullmatch(name)
            if match and int(match[1]) != os.getpid() and not _is_process_alive(int(match[1])):
                with suppress(OSError):
                    os.remove(os.path.join(directory, name))


def _is_process_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # not ours
    return True


def open_vault(hub: Hub) -> Vault:
    """Return the wiki of the Engram home, or the directory the user configured."""
    chosen = hub.settings.wiki
    return Vault(os.path.expanduser(chosen) if chosen else os.path.join(hub.settings.home, "wiki"))


def replace_file(path: str, content: str) -> None:
    """Write a file atomically and durably."""
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
